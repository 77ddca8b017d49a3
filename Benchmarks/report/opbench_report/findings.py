"""Which subject for which work: sentences that rules make from the numbers, each with its evidence and how sure it
is."""

from dataclasses import dataclass

from .data.comparison import compare
from .data.geometric_mean import geometric_mean
from .data.metrics import quantity_with_interval, ratio
from .data.ratio_words import RatioWords
from .data.results import widest
from .data.statistics import paired_logarithms

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
    # The subject for such work, or those between which there is nothing to choose.
    choice: str
    sentence: str
    evidence: str
    certainty: str
    # The ratio that says most of it, in one sentence.
    short: str
    # How many there were to choose from; how sure a choice is says nothing where there was one.
    count: int
    # Of what is no choice here but surely ahead, a sentence each, the farthest ahead first.
    ahead: tuple = ()

    @property
    def is_choice(self):
        return self.count > 1

    @property
    def meaning(self):
        """What its certainty means."""
        return MEANING[self.certainty]

    @property
    def among(self):
        """What the choice was made from, in words."""
        return among(self.count)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def among(count):
    """Such as "of the three backends you can choose"."""
    return f"of the {_NUMBERS[count] if count < len(_NUMBERS) else count} backends you can choose"


# What the work is, and the lines that judge it.
_TIMES = (
    ("overhead", "Many small operations", "time"),
    ("dependencies", "Graphs of dependencies", "time"),
    ("forkjoin", "Fork and join", "time"),
    ("latency", "Starting soon", "median latency"),
    ("cancellation", "Cancelling", "time"),
    ("blocking", "Operations that block", "makespan"),
    ("strategy", "Where strategies differ", "time"),
)
_MEASURES = (
    ("priority/rank-error", "rank_error_mean", "Strict priority", "mean rank error"),
    ("idle/cpu", "idle_cpu_percent", "An idle queue", "CPU time"),
    ("strategy/tree-peak", "peak_pending", "Memory of a tree", "peak of pending operations"),
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
    return [one for topic, what, lines in kinds if lines and (one := _judge(topic, what, lines)) is not None]


def only_one(results):
    """What is to be said when there was nothing to choose between; None otherwise."""
    ours = [arm.subject for arm in widest(results.arms) if arm.subject.is_ours]
    if len(ours) != 1:
        return None
    return (
        f"Only one subject to choose, {ours[0]}, is among these results: they say how it stands to what was measured"
        " beside it, not which is best."
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


def _judge(topic, what, lines):
    arms = widest(arm for line in lines for arm in line.cells)
    ours = [arm for arm in arms if arm.subject.is_ours]
    if not ours:
        return None
    others = [arm for arm in arms if arm not in ours]
    counted = all(line.unit == "allocations" for line in lines)
    judged = [arm for arm in arms if arm.subject.is_choice]
    # Zeros have no ratio, and without them a mean would hold of a subject only where it is worst.
    if len(judged) > 1 and any(_has_zero(line, judged) for line in lines):
        return _without_ratio(topic, what, lines, ours, counted)
    best, rivals = _rank(lines, ours)
    means = {other: mean for other in rivals + others if (mean := relative(lines, best, other)) is not None}
    if not means:
        return _without_ratio(topic, what, [next(line for line in lines if best in line.cells)], [best], counted)
    nearest = rivals[0] if rivals else next(iter(means))
    parts, choice, sure = [], [best], None
    if rivals:
        sure = certainty(means[rivals[0]])
        choice += [arm for arm in rivals if certainty(means[arm]) == SAME] if sure == SAME else []
        parts.append(_among_ours(choice, rivals[0], means[rivals[0]], len(ours), what, counted))
    against = next((arm for arm in others if arm in means and arm.subject.is_reference), None)
    if against:
        parts.append(_beside(best, against, means[against], what))
        sure = sure or certainty(means[against])
    quicker = [arm for arm in others if arm in means and _is_better(arm, means[arm])]
    quicker.sort(key=lambda arm: -means[arm].ratio)
    ahead = tuple(_ahead(best, arm, means[arm], what) for arm in quicker)
    parts += ahead[:1]
    if counted:
        sure = COUNTED
    sentence = "; ".join(parts or [_beside(best, other, mean, what) for other, mean in list(means.items())[:1]])
    evidence = "; ".join(f"{best} to {other}: {_basis(mean)}" for other, mean in means.items())
    return Finding(
        topic,
        " or ".join(arm.subject.name for arm in choice),
        _capital(sentence) + ".",
        evidence + ".",
        sure or certainty(next(iter(means.values()))),
        _capital(RatioWords(means[against or nearest], what).sentence(best.subject.name, (against or nearest).subject)) + ".",
        len(rivals) + 1,
        ahead,
    )


def _ahead(best, other, mean, what):
    """A mean holds of the benchmarks that both have, which may be few."""
    both = f"over the {mean.benchmarks} benchmarks" if mean.benchmarks > 1 else "in the one benchmark"
    return f"{RatioWords(mean, what).sentence(best.subject.name, other.subject)} {both} that both have"


def _among_ours(choice, rival, mean, count, what, counted):
    best, verdict = choice[0], certainty(mean)
    if verdict == SAME:
        names = f"{', '.join(arm.subject.name for arm in choice[:-1])} and {choice[-1].subject}"
        return (
            f"{names} cannot be told apart by their {what} ({best.subject} has {ratio(mean)} that of {rival.subject})"
        )
    words = RatioWords(mean, what).sentence(best.subject.name, rival.subject)
    first = f"{best.subject} has the least {what} {among(count)}: {words}"
    return first if verdict == SURE or counted else f"{first}, the next, but on too few blocks to be sure"


def _is_better(other, mean):
    """Whether something beside is surely ahead of our best."""
    return mean.low is not None and mean.low > 1 and other.subject.is_choice


def _has_zero(line, arms):
    """Whether a process of these gave a number that has no ratio."""
    return any(value <= 0 for arm in arms if arm in line.cells for value in line.cells[arm].processes.values())


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
        return f"{best.subject} and {against.subject} cannot be told apart by their {what} ({ratio(mean)} of the other's)"
    return RatioWords(mean, what).sentence(best.subject.name, against.subject)


def _capital(text):
    return text[:1].upper() + text[1:]


def _basis(mean):
    benchmarks = f"{mean.benchmarks} benchmark{'s' if mean.benchmarks > 1 else ''}"
    blocks = f"{mean.blocks} block{'s' if mean.blocks > 1 else ''}"
    return f"{ratio(mean)} ({benchmarks}, {blocks})"


def _without_ratio(topic, what, lines, ours, counted):
    """Numbers that have no ratio, such as a rank error of zero, or a run without anything beside: whichever of ours has
    the least on most lines, told apart by intervals."""
    lines = [line for line in lines if any(arm in line.cells for arm in ours)]
    least = [_least(line, ours) for line in lines]
    ahead = {arm: sum(arm in one for one in least) for arm in ours}
    best = [arm for arm in ours if ahead[arm] == max(ahead.values())]
    line, even = next((line, one) for line, one in zip(lines, least) if best[0] in one)
    shown = line.cells[best[0]].estimate
    numbers = [
        f"{arm.subject} {quantity_with_interval(line.unit, line.cells[arm].estimate)}"
        for arm in line.main_arms
        if arm not in even
    ]
    names, verb = " and ".join(arm.subject.name for arm in best), "has" if len(best) == 1 else "have"
    sentence = f"{names} {verb} a {what} of "
    if len(lines) > 1 and len(ours) > 1:
        most = f"{ahead[best[0]]} of {len(lines)} scenarios"
        sentence = f"{names} {verb} the least {what} {among(len(ours))} in {most}, such as "
    sentence += f"{quantity_with_interval(line.unit, shown)} ({line.benchmark}), "
    sentence += f"beside {', '.join(numbers)}." if numbers else "and nothing else was measured beside it."
    apart = all(one == best and _are_apart(line, one) for line, one in zip(lines, least))
    evidence = (
        f"n = {shown.count}, without a paired ratio; the intervals"
        f" {'are apart' if apart else 'are not shown to be apart'}."
    )
    certainty = COUNTED if counted else SURE if apart else HINT
    choice = " or ".join(arm.subject.name for arm in best)
    return Finding(topic, choice, _capital(sentence), evidence, certainty, _capital(sentence), len(ours))


def _least(line, arms):
    """Those that have the least number on a line."""
    medians = {arm: line.cells[arm].estimate.median for arm in arms if arm in line.cells}
    return [arm for arm, median in medians.items() if median == min(medians.values())]


def _are_apart(line, least):
    """Whether the intervals of these end before those of everything else on the line begin."""
    ends = [line.cells[arm].estimate.high for arm in least]
    rest = [line.cells[arm].estimate for arm in line.main_arms if arm not in least]
    return bool(rest) and None not in ends and all(own.has_interval and max(ends) < own.low for own in rest)


def losses(results):
    """Where one of ours is surely slower than something beside it: (arm, against, the compared lines from worst to
    least)."""
    found = []
    for against in [arm for arm in results.main_arms if not arm.subject.is_ours]:
        if against.subject.role == "baseline":
            continue
        comparison = compare(results, str(against))
        for arm in [arm for arm in results.main_arms if arm.subject.is_ours]:
            pairs = [one for one in comparison.lines if one.arm == arm and one.against == against]
            own = [one for one in pairs if results.is_main(one)]
            slower = sorted((one for one in own if one.verdict == "slower"), key=lambda one: -one.ratio.median)
            if slower:
                found.append((arm, against, slower, len(own)))
    return found
