"""Names of subjects with a strategy, such as `pool(own=lifo;steal=half)`: the subject `pool`, with the decisions in the
parentheses and otherwise the default strategy. Needs Python alone."""

import functools
import re
from typing import NamedTuple


class Variant(NamedTuple):
    """A subject with a strategy of its own."""

    base: str
    # (decision, choice) pairs, in the order of the name.
    choices: tuple

    @property
    def text(self):
        """Such as `own=lifo;steal=half`."""
        return ";".join("=".join(pair) for pair in self.choices)

    @property
    def is_single(self):
        """Whether it differs from the default in one decision."""
        return len(self.choices) == 1


@functools.cache
def variant(name):
    """What a name says of a strategy; None where it names none."""
    match = re.fullmatch(r"([^()]+)\((.+)\)", name, re.DOTALL)
    if match is None:
        return None
    choices = tuple(part.partition("=")[::2] for part in match[2].split(";"))
    return Variant(match[1], choices) if all(map(all, choices)) else None


def given_up(summary):
    """The rows of the contract that a subject gives up, as its summary says it."""
    match = re.search(r"gives up rows? ([0-9]+(?:(?:, | and )[0-9]+)*)", summary)
    return tuple(map(int, re.findall("[0-9]+", match[1]))) if match else ()


class Words(NamedTuple):
    """A decision in words: what is decided, the default's choice, and what each choice does."""

    summary: str
    usual: str
    choices: tuple

    def of(self, choice):
        """What a choice does; empty where nothing says it. A choice such as `upto:N` stands for every number."""
        for text, summary in self.choices:
            if text == choice:
                return summary
            number = choice.removeprefix(text[:-1])
            if text.endswith("N") and choice.startswith(text[:-1]) and number.isdigit():
                return re.sub(r"\bN(th)?\b", lambda match: _ordinal(number) if match[1] else number, summary)
        return ""


def words(records):
    """(subject, decision) -> Words, as the results say it under `strategies`."""
    found = {}
    for record in records:
        for subject, decisions in record.get("strategies", {}).items():
            for one in decisions:
                choices = tuple((choice["text"], _plain(choice["summary"])) for choice in one["choices"])
                found.setdefault((subject, one["name"]), Words(one["summary"], one["usual"], choices))
    return found


def _plain(summary):
    """Without the range of a number, and without what is given up, which stands elsewhere."""
    return re.sub(r" \(N from [0-9]+ to [0-9]+\)", "", summary).partition("; gives up ")[0]


def _ordinal(number):
    last = "th" if number[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return number + last
