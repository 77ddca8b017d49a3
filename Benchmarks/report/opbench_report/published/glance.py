"""The four rows that README.md begins with: two beside the reference, one beside the scheduler of another language that is
nearest over all benchmarks, and one beside all such schedulers that lead in fork and join. The words are round.
`results/SUMMARY.md` has the same rows with the ratios and intervals that the words come from."""

import math
from dataclasses import dataclass

from ..data.metrics import percent
from ..data.ratio_words import RatioWords
from ..data.results import paired_logarithms, widest
from ..data.statistics import paired_ratio
from ..findings import relative
from .headline import line_of
from .round_words import LEVEL, in_round_words, middle

# The parts of a row over several families, in words.
_FAMILIES = {"overhead": "adding", "dependencies": "graphs", "forkjoin": "fork and join"}
RULE = (
    "The words are round. A number has one digit, or as many more as keep it inside of its interval and within a tenth of the"
    f" exact number. *Level* is an interval between 1/{LEVEL} and {LEVEL}; any other interval that holds 1 shows no difference."
    " Beside several others, the words go from the least end of the intervals to the greatest. Parentheses in the third column"
    " hold the least and the greatest ratio of a part, those in the last column the number of benchmarks. Among schedulers of"
    " other languages, the third row has the nearest one, and the fourth row all that surely take less time."
)


@dataclass(frozen=True)
class Row:
    # What the time goes to, what it is compared with, and how the default does.
    work: str
    beside: str
    words: str
    # The ratios that the words come from, with their intervals.
    evidence: str


def rows(results):
    """Those that the results have every number for, with an interval."""
    # The default stands first among ours.
    ours = next((arm for arm in widest(results.arms) if arm.subject.is_ours), None)
    if ours is None:
        return []
    arms = widest(results.arms)
    reference = [arm for arm in arms if arm.subject.is_reference]
    peers = [arm for arm in arms if arm.subject.role == "peer"]
    adding = line_of(results, "overhead/external-add", {}, "ns_per_op")
    chain = line_of(results, "dependencies/chain", {"length": "1000"}, "ns_per_op")
    every, forkjoin = results.primary_lines(), results.primary_lines("forkjoin")
    wanted = (
        ("add and run a small operation", [adding] if adding else [], reference),
        ("a chain of dependencies, for each operation", [chain] if chain else [], reference),
        ("all {count} benchmarks that both run", every, _nearest(every, ours, peers)),
        ("fork and join", forkjoin, _ahead(forkjoin, ours, peers)),
    )
    return [row for one in wanted if (row := _row(ours, *one)) is not None]


def table(results, has_evidence=False):
    """Markdown; an empty text where there is no row."""
    found = rows(results)
    if not found:
        return ""
    ours = next(arm for arm in widest(results.arms) if arm.subject.is_ours)
    head = ["work", "compared with", f"`{ours.subject}`, the default backend"] + ["exact ratios with 95 % intervals"] * has_evidence
    cells = [[one.work, one.beside, one.words] + [one.evidence] * has_evidence for one in found]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *cells])


def source(results, folder):
    """Sentences below the rows: what was measured where, and where the intervals are."""
    return (
        f"{_measured(results)}.\n"
        f"[`{folder}/SUMMARY.md`]({folder}/SUMMARY.md) has the intervals, every number, the command and the machine."
    )


def _nearest(lines, ours, peers):
    """The one whose time is nearest to ours, in a list that is empty where none has an interval."""
    means = {peer: mean for peer in peers if (mean := _mean(lines, ours, peer)) is not None}
    return sorted(means, key=lambda peer: abs(math.log(middle(means[peer]))))[:1]


def _ahead(lines, ours, peers):
    """Those that surely take less time."""
    means = [(peer, _mean(lines, ours, peer)) for peer in peers]
    return [peer for peer, mean in means if mean is not None and mean.low > 1]


def _row(ours, work, lines, others):
    means = [mean for other in others if (mean := _mean(lines, ours, other)) is not None]
    if not means or len(means) < len(others):
        return None
    parts = _parts(lines, ours, others)
    count = len({line.benchmark for line in lines if {ours, *others} <= line.cells.keys()})
    words = in_round_words(means)
    if len(parts) > 1:
        ends = [min(parts, key=lambda part: middle(part[2])), max(parts, key=lambda part: middle(part[2]))]
        words += f" on average ({'; '.join(f'{name}: {in_round_words([mean])}' for name, _, mean in ends)})"
    evidence = [_compared(other, mean, count) for other, mean in zip(others, means)]
    evidence += [f"{name}: {_compared(other, mean)}" for name, other, mean in parts if len(parts) > 1]
    return Row(
        work.format(count=count), "; ".join(arm.subject.summary or arm.subject.name for arm in others), words, "; ".join(evidence)
    )


def _parts(lines, ours, others):
    """[(name, the other, mean)]: of each family, or where there is one only, of each benchmark."""
    groups, is_one = {}, len({line.family for line in lines}) == 1
    for line in lines:
        groups.setdefault(f"`{line.short}`" if is_one else _FAMILIES.get(line.family, line.family), []).append(line)
    found = [(name, other, _mean(own, ours, other)) for name, own in groups.items() for other in others]
    return [part for part in found if part[2] is not None] if len(groups) > 1 else []


def _mean(lines, ours, other):
    """Of one line its ratio, of several the geometric mean; None without an interval."""
    both = [line for line in lines if ours in line.cells and other in line.cells]
    if len(both) == 1:
        mean = paired_ratio(paired_logarithms(both[0].cells[ours].processes, both[0].cells[other].processes).values())
    else:
        mean = relative(both, ours, other)
    return mean if mean is not None and mean.has_interval else None


def _compared(other, mean, count=0):
    words = RatioWords(mean).compared(f"`{other.subject}`")
    return f"{words} ({count})" if count > 1 else words


def _measured(results):
    record = results.sources[0].record or {}
    when, model, cpus = str(record.get("started_at", ""))[:10], record.get("cpu_model"), record.get("cpus_allowed")
    words = [f"Ratios of times in round words (*level*: within {percent(LEVEL - 1)}), measured"]
    words += [f"on {when}"] if when else []
    words += [f"with {cpus} CPUs" + (f" of an {model}" if model else "")] if cpus else []
    return " ".join(words)
