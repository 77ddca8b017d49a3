"""Which backend for which work: sentences that rules make from the numbers, each with its evidence and how sure it
is."""

from dataclasses import dataclass

from .data.comparison import compare
from .data.geometric_mean import geometric_mean
from .data.metrics import quantity_with_interval, ratio
from .data.results import REFERENCE, paired_logarithms
from .subjects import is_ours

# What the interval of the ratio that decides leaves open.
SURE, SAME, HINT, COUNTED = "sure", "no difference shown", "a hint only", "counted"
MEANING = {
    SURE: "the 95 % interval of the ratio leaves out 1, or the intervals of the numbers are apart",
    SAME: "the 95 % interval of the ratio holds 1",
    HINT: "without intervals that tell the numbers apart; they need six blocks",
    COUNTED: "not a time but a count, made once per cell",
}


@dataclass(frozen=True)
class Finding:
    topic: str
    # The backend for such work, or those between which there is nothing to choose.
    choice: str
    sentence: str
    evidence: str
    certainty: str


# What the work is, and the lines that judge it.
_TIMES = (
    ("overhead", "Many small operations", "time"),
    ("dependencies", "Graphs of dependencies", "time"),
    ("forkjoin", "Fork and join", "time"),
    ("latency", "Starting soon", "median latency"),
    ("cancellation", "Cancelling", "time"),
    ("blocking", "Operations that block", "makespan"),
)
_MEASURES = (
    ("priority/rank-error", "rank_error_mean", "Strict priority", "mean rank error"),
    ("idle/cpu", "idle_cpu_percent", "An idle queue", "CPU time"),
    ("overhead/", "cpu_ns_per_op", "CPU time of small operations", "CPU time"),
    ("overhead/", "allocations_per_op", "Memory of small operations", "number of allocations"),
)


def findings(results):
    """One for each kind of work that the results have, the whole first."""
    kinds = [("Everything measured", "time", results.primary_lines())]
    kinds += [(topic, what, results.primary_lines(family)) for family, topic, what in _TIMES]
    kinds += [
        (topic, what, [line for line in results.select(metric=metric) if line.benchmark.startswith(prefix)])
        for prefix, metric, topic, what in _MEASURES
    ]
    return [one for topic, what, lines in kinds if lines and (one := _judge(results, topic, what, lines)) is not None]


def only_one(results):
    """What is to be said when there was nothing to choose between; None otherwise."""
    ours = [arm.subject for arm in results.main_arms if is_ours(arm.subject)]
    if len(ours) != 1:
        return None
    return (
        f"Only one backend, {ours[0]}, is among these results: they say how it stands to what was measured beside it,"
        " not which backend is best."
    )


def relative(lines, arm, base):
    """The geometric mean of one arm's numbers to another's, over the lines that have both; None without any."""
    series = []
    for line in lines:
        if arm in line.cells and base in line.cells:
            series.append((line.benchmark, paired_logarithms(line.cells[arm].processes, line.cells[base].processes)))
    return geometric_mean(series)


def certainty(mean):
    """What the interval says of a difference."""
    if mean.low is None:
        return HINT
    return SAME if mean.low <= 1 <= mean.high else SURE


def _judge(results, topic, what, lines):
    arms = [arm for arm in results.main_arms if any(arm in line.cells for line in lines)]
    ours = [arm for arm in arms if is_ours(arm.subject)]
    if not ours:
        return None
    others = [arm for arm in arms if arm not in ours]
    if len(lines) == 1 and any(cell.estimate.median == 0 for cell in lines[0].cells.values()):
        return _without_ratio(topic, what, lines[0], ours)
    best, rivals = _rank(lines, ours)
    means = {other: mean for other in rivals + others if (mean := relative(lines, best, other)) is not None}
    if not means:
        return _without_ratio(topic, what, next(line for line in lines if best in line.cells), [best])
    counted = all(line.metric.startswith("allocations") for line in lines)
    parts, choice, sure = [], [best], None
    if rivals:
        sure = certainty(means[rivals[0]])
        choice += [arm for arm in rivals if certainty(means[arm]) == SAME] if sure == SAME else []
        parts.append(_among_ours(choice, rivals[0], means[rivals[0]], len(ours), what, counted))
    against = next((arm for arm in others if arm in means and arm.subject == REFERENCE), None)
    if against:
        parts.append(_beside(best, against, means[against], what))
        sure = sure or certainty(means[against])
    quicker = [arm for arm in others if arm in means and _is_better(arm, means[arm])]
    if quicker:
        ahead = max(quicker, key=lambda arm: means[arm].ratio)
        parts.append(f"{ahead.subject} needs less still: {best.subject} has {_times(means[ahead])} its {what}")
    if counted:
        sure = COUNTED
    sentence = "; ".join(parts or [_beside(best, other, mean, what) for other, mean in list(means.items())[:1]])
    evidence = "; ".join(f"{best} to {other}: {_basis(mean)}" for other, mean in means.items())
    return Finding(
        topic,
        " or ".join(arm.subject for arm in choice),
        _capital(sentence) + ".",
        evidence + ".",
        sure or certainty(next(iter(means.values()))),
    )


def _among_ours(choice, rival, mean, count, what, counted):
    best, verdict = choice[0], certainty(mean)
    if verdict == SAME:
        names = f"{', '.join(arm.subject for arm in choice[:-1])} and {choice[-1].subject}"
        return (
            f"{names} cannot be told apart by their {what} ({best.subject} has {_times(mean)} that of {rival.subject})"
        )
    first = (
        f"{best.subject} has the least {what} of the {count} backends measured, {_times(mean)} that of {rival.subject}"
    )
    return first if verdict == SURE or counted else f"{first}, the next, but on too few blocks to be sure"


def _is_better(other, mean):
    """Whether something beside is surely ahead of our best; a loop without a scheduler and a backend without operations
    are no choice."""
    return mean.low is not None and mean.low > 1 and other.subject != "serial" and not other.subject.endswith("-bare")


def _rank(lines, ours):
    """The one with the least geometric mean to the others, and the rest from near to far; each pair on what both can
    do."""
    score = {}
    for arm in ours:
        means = [mean.ratio for other in ours if other != arm and (mean := relative(lines, arm, other)) is not None]
        score[arm] = max(means, default=1)
    best = min(ours, key=lambda arm: score[arm])
    rivals = [(mean.ratio, arm) for arm in ours if arm != best and (mean := relative(lines, best, arm)) is not None]
    return best, [arm for _, arm in sorted(rivals, reverse=True)]


def _beside(best, against, mean, what):
    if certainty(mean) == SAME:
        return f"{best.subject} and {against.subject} cannot be told apart by their {what} ({_times(mean)} the other's)"
    return f"{best.subject} has {_times(mean)} {against.subject}'s {what}"


def _times(mean):
    return ratio(mean).removeprefix("x") + " times"


def _capital(text):
    return text[:1].upper() + text[1:]


def _basis(mean):
    benchmarks = f"{mean.benchmarks} benchmark{'s' if mean.benchmarks > 1 else ''}"
    blocks = f"{mean.blocks} block{'s' if mean.blocks > 1 else ''}"
    return f"{ratio(mean)} ({benchmarks}, {blocks})"


def _without_ratio(topic, what, line, ours):
    """Numbers that have no ratio, such as a rank error of zero, or a run without anything beside: told apart by their
    intervals."""
    ours = sorted((arm for arm in ours if arm in line.cells), key=lambda arm: line.cells[arm].estimate.median)
    least = line.cells[ours[0]].estimate
    even = [arm for arm in ours if line.cells[arm].estimate.median == least.median]
    rest = [(arm, cell.estimate) for arm, cell in line.cells.items() if arm not in even]
    numbers = [f"{arm.subject} {quantity_with_interval(line.unit, own)}" for arm, own in rest]
    sentence = f"{' and '.join(arm.subject for arm in even)} {'has' if len(even) == 1 else 'have'} a {what} of "
    sentence += f"{quantity_with_interval(line.unit, least)} ({line.benchmark}), "
    sentence += f"beside {', '.join(numbers)}." if numbers else "and nothing else was measured beside it."
    apart = rest and least.has_interval and all(own.has_interval and least.high < own.low for _, own in rest)
    evidence = (
        f"n = {least.count}, without a paired ratio; the intervals"
        f" {'are apart' if apart else 'are not shown to be apart'}."
    )
    return Finding(
        topic, " or ".join(arm.subject for arm in even), _capital(sentence), evidence, SURE if apart else HINT
    )


def losses(results):
    """Where one of ours is surely slower than something beside it: (arm, against, the compared lines from worst to
    least)."""
    found = []
    for against in [arm for arm in results.main_arms if not is_ours(arm.subject)]:
        if against.subject == "serial":
            continue
        comparison = compare(results, str(against))
        for arm in [arm for arm in results.main_arms if is_ours(arm.subject)]:
            own = [one for one in comparison.lines if one.arm == arm and one.against == against]
            slower = sorted((one for one in own if one.verdict == "slower"), key=lambda one: -one.ratio.median)
            if slower:
                found.append((arm, against, slower, len(own)))
    return found
