"""The four rows that README.md begins with: two beside the reference, one beside the scheduler of another language that
is nearest over all benchmarks, and one in fork and join beside all such schedulers that lead there, or the nearest one
where none leads. The words are round. `results/SUMMARY.md` has the same rows with the ratios and intervals that the
words come from."""

from dataclasses import dataclass

from ..ratio_words import compared
from .round_words import LEVEL_TEXT, in_round_words

# The parts of a row over several families, in words.
_FAMILIES = {"overhead": "adding", "dependencies": "graphs", "forkjoin": "fork and join"}
RULE = (
    "The words are round. A number has one digit, or as many more as keep it inside of its interval and within a tenth of the"
    f" exact number. *Level* is an interval between 1/{LEVEL_TEXT} and {LEVEL_TEXT}; any other interval that holds 1 shows no"
    " difference."
    " Beside several others, the words go from the least end of the intervals to the greatest. Parentheses in the third column"
    " hold the least and the greatest ratio of a part, those in the last column the number of benchmarks. Among schedulers of"
    " other languages, the third row has the nearest one, and the fourth row all that surely take less time, or the nearest one where none does."
)


@dataclass(frozen=True)
class Row:
    # What the time goes to, what it is compared with, and how the default does.
    work: str
    beside: str
    words: str
    # The ratios that the words come from, with their intervals.
    evidence: str


_WORK = {
    "add": "add and run a small operation",
    "chain": "a chain of dependencies, for each operation",
    "all": "all {count} benchmarks that both run",
    "forkjoin": "fork and join",
}


def rows(results):
    """Returns those that the results have every number for, with an interval."""
    return [_row(row) for row in results.glance.rows] if results.glance else []


def table(results, has_evidence=False):
    """Markdown; an empty text where there is no row."""
    lines = rows(results)
    if not lines:
        return ""
    ours = results.glance.ours.subject
    head = ["work", "compared with", f"`{ours}`, the default backend"] + ["exact ratios with 95 % intervals"] * has_evidence
    cells = [[row.work, row.beside, row.words] + [row.evidence] * has_evidence for row in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *cells])


def source(results, folder):
    """Returns sentences below the rows: what was measured where, and where the intervals are."""
    return (
        f"{_measured(results)}.\n"
        f"[`{folder}/SUMMARY.md`]({folder}/SUMMARY.md) has the intervals, every number, the command and the machine."
    )


def _row(row):
    parts = [(_name(part), part) for part in row.parts or []]
    words = in_round_words(row.means)
    if len(parts) > 1:
        by_ratio = sorted(parts, key=lambda part: part[1].value)
        ends = [f"{name}: {in_round_words([part])}" for name, part in (by_ratio[0], by_ratio[-1])]
        words += f" on average ({'; '.join(ends)})"
    evidence = [_compared(other, mean, row.count) for other, mean in zip(row.others, row.means)]
    evidence += [f"{name}: {_compared(part.other, part)}" for name, part in parts if len(parts) > 1]
    beside = "; ".join(arm.subject.summary or arm.subject.name for arm in row.others)
    return Row(_WORK[row.key].format(count=row.count), beside, words, "; ".join(evidence))


def _name(part):
    return f"`{part.name}`" if part.of == "benchmark" else _FAMILIES.get(part.name, part.name)


def _compared(other, mean, count=0):
    words = compared(mean, f"`{other.subject}`")
    return f"{words} ({count})" if count > 1 else words


def _measured(results):
    record = results.sources[0].record or {}
    when, model, cpus = str(record.get("started_at", ""))[:10], record.get("cpu_model"), record.get("cpus_allowed")
    words = ["Ratios of times in round words (*level*: within 15 %), measured"]
    words += [f"on {when}"] if when else []
    words += [f"with {cpus} CPUs" + (f" of an {model}" if model else "")] if cpus else []
    return " ".join(words)
