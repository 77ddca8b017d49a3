"""Which subject for which work: sentences that rules make from the facts, each with its evidence and how sure it is."""

from dataclasses import dataclass

from .facts import widest
from .ratio_words import sentence

# What the interval of the ratio that decides leaves open: its name, and what it means.
_CERTAINTIES = {
    "sure": ("sure", "the 95 % interval of the ratio leaves out 1, or the intervals of the numbers are apart"),
    "same": ("no difference shown", "the 95 % interval of the ratio holds 1"),
    "hint": ("a hint only", "without intervals that tell the numbers apart; they need six blocks"),
    "counted": ("counted", "not a time but a count, made once per cell"),
}
# What the work is, and what judges it.
_WORK = {
    "everything": ("Everything measured", "time"),
    "overhead": ("Many small operations", "time"),
    "dependencies": ("Graphs of dependencies", "time"),
    "forkjoin": ("Fork and join", "time"),
    "async": ("Tasks of Swift", "time"),
    "latency": ("Starting soon", "median latency"),
    "cancellation": ("Cancelling", "time"),
    "blocking": ("Operations that block", "makespan"),
    "strategy": ("Where strategies differ", "time"),
    "rank-error": ("Strict priority", "mean rank error"),
    "idle-cpu": ("An idle queue", "CPU time"),
    "tree-peak": ("Memory of a tree", "peak of pending operations"),
    "cpu-time": ("CPU time of small operations", "CPU time"),
    "allocations": ("Memory of small operations", "number of allocations"),
}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Finding:
    topic: str
    # The subject for such work, or those between which there is nothing to choose.
    choice: str
    sentence: str
    evidence: str
    # How sure it is, and what that means.
    certainty: str
    meaning: str
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
    def among(self):
        """Returns what the choice was made from, in words."""
        return _among(self.count)


def findings(measured):
    """Returns one for each kind of work that was measured, the whole first."""
    return [(_with_ratio if work.has_ratio else _without_ratio)(work, *_WORK[work.key]) for work in measured.kinds_of_work]


def only_one(measured):
    """Returns what is to be said when there was nothing to choose between; None otherwise."""
    ours = [arm.subject for arm in widest(measured.arms) if arm.subject.is_ours]
    if len(ours) != 1:
        return None
    return (
        f"Only one subject to choose, {ours[0]}, is among these results: they say how it stands to what was measured"
        " beside it, not which is best."
    )


def _among(count):
    """Returns words such as "of the three backends you can choose"."""
    return f"of the {_NUMBERS[count] if count < len(_NUMBERS) else count} backends you can choose"


def _with_ratio(work, topic, what):
    means, best = {mean.arm: mean for mean in work.means}, work.best
    against = work.against
    parts = [_among_ours(work, means[work.rivals[0]], what)] if work.rivals else []
    parts += [_beside(best, against, means[against], what)] if against else []
    ahead = tuple(_ahead(best, arm, means[arm], what) for arm in work.ahead)
    parts += ahead[:1]
    nearest = against or work.nearest
    return Finding(
        topic,
        " or ".join(arm.subject.name for arm in work.choice),
        _capital("; ".join(parts or [_beside(best, *next(iter(means.items())), what)])) + ".",
        "; ".join(f"{best} to {other}: {mean.text} ({mean.basis})" for other, mean in means.items()) + ".",
        *_CERTAINTIES[work.certainty],
        _capital(sentence(means[nearest], best.subject, nearest.subject, what)) + ".",
        len(work.rivals) + 1,
        ahead,
    )


def _ahead(best, other, mean, what):
    """A mean holds of the benchmarks that both have, which may be few."""
    both = f"over the {mean.benchmarks} benchmarks" if mean.benchmarks > 1 else "in the one benchmark"
    return f"{sentence(mean, best.subject, other.subject, what)} {both} that both have"


def _among_ours(work, mean, what):
    choice, rival, count = work.choice, work.rivals[0], len(work.ours)
    best = choice[0]
    if mean.verdict == "same":
        names = f"{', '.join(arm.subject.name for arm in choice[:-1])} and {choice[-1].subject}"
        return f"{names} cannot be told apart by their {what} ({best.subject} has {mean.text} that of {rival.subject})"
    words = sentence(mean, best.subject, rival.subject, what)
    first = f"{best.subject} has the least {what} {_among(count)}: {words}"
    is_sure = mean.verdict != "open" or work.is_counted
    return first if is_sure else f"{first}, the next, but on too few blocks to be sure"


def _beside(best, other, mean, what):
    if mean.verdict == "same":
        return f"{best.subject} and {other.subject} cannot be told apart by their {what} ({mean.text} of the other's)"
    return sentence(mean, best.subject, other.subject, what)


def _capital(text):
    return text[:1].upper() + text[1:]


def _without_ratio(work, topic, what):
    """Returns numbers that have no ratio, such as a rank error of zero, or a run without anything beside: whichever of
    ours has the least on most lines, told apart by intervals."""
    judged, line = work.without_ratio, work.without_ratio.line
    shown = line.cells[judged.best[0]]
    beside = [f"{arm.subject} {line.cells[arm].interval_text}" for arm in widest(judged.beside)]
    names, verb = " and ".join(arm.subject.name for arm in judged.best), "has" if len(judged.best) == 1 else "have"
    said = f"{names} {verb} a {what} of "
    if judged.line_count > 1 and len(judged.ours) > 1:
        most = f"{judged.ahead_on} of {judged.line_count} scenarios"
        said = f"{names} {verb} the least {what} {_among(len(judged.ours))} in {most}, such as "
    said += f"{shown.interval_text} ({line.benchmark}), "
    said += f"beside {', '.join(beside)}." if beside else "and nothing else was measured beside it."
    apart = "are apart" if judged.are_apart else "are not shown to be apart"
    return Finding(
        topic,
        " or ".join(arm.subject.name for arm in judged.best),
        _capital(said),
        f"n = {shown.n}, without a paired ratio; the intervals {apart}.",
        *_CERTAINTIES[work.certainty],
        _capital(said),
        len(judged.ours),
    )


def loss_words(loss):
    """Returns where one of ours is surely slower than something beside it: a sentence, and all lines."""
    worst = loss.lines[0]
    name = f"{worst.line.benchmark} {worst.line.params}".strip()
    return {
        "sentence": f"{loss.arm} is slower than {loss.against} in {len(loss.lines)} of {loss.count} comparisons. Most in {name}:"
        f" {sentence(worst, loss.arm.subject, loss.against.subject)}.",
        "lines": [f"{ratio.line.benchmark} {ratio.line.params}: {ratio.text}" for ratio in loss.lines],
    }
