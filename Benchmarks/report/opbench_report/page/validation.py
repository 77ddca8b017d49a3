"""What `opbench validate` found, from its report."""

import os
import re
from dataclasses import dataclass

from ..complaint import BAD_INPUT, NO_INPUT, Complaint

_OPENING = "validation of the laboratory"


@dataclass(frozen=True)
class Validation:
    name: str
    text: str
    # Of the comparisons of equals; None where the report has no such line.
    flagged: int | None
    comparisons: int | None
    passed: bool | None

    @property
    def sentence(self):
        if self.flagged is None:
            return "Its report has no comparison of equals."
        verdict = {True: "passed", False: "failed", None: "has no verdict on"}[self.passed]
        return (
            f"A/A: the same subject under two names was called different in {self.flagged} of {self.comparisons}"
            f" comparisons; the laboratory {verdict} its own test of that."
        )


def find(given, csv):
    """Returns the report that was named, or `validate.txt` beside the result; None where there is none."""
    if given:
        path = given.removesuffix(".csv") + ".txt" if given.endswith(".csv") else given
        return _read(path)
    beside = os.path.join(os.path.dirname(csv), "validate.txt")
    try:
        return _read(beside)
    except Complaint:
        # Something else of that name is no concern of this report.
        return None


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise Complaint(
            NO_INPUT, f"{path}: there is no such file; opbench validate --output DIR writes validate.txt"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise Complaint(BAD_INPUT, f"{path}: cannot be read as the report of opbench validate") from None
    if not text.startswith(_OPENING):
        raise Complaint(BAD_INPUT, f"{path}: not the report of opbench validate, which begins '{_OPENING}'")
    equals = re.search(
        r"^\(a\).*?, (\d+) comparisons.*?flagged different: (\d+)(.*?)^\(b\)", text, re.MULTILINE | re.DOTALL
    )
    if not equals:
        return Validation(os.path.basename(path), text, None, None, None)
    verdict = re.search(r"stated level:.*?: (passed|FAILED)", equals.group(3))
    passed = verdict.group(1) == "passed" if verdict else None
    return Validation(os.path.basename(path), text, int(equals.group(2)), int(equals.group(1)), passed)
