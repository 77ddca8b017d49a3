"""A ratio of times in words: the only place on this side that decides how such a ratio reads, with the rule and the words of
`Benchmarks/Harness/Comparing/Report/RatioWords.swift`. `Tests/HarnessTests/Fixtures/ratio-words.json` has examples.

A ratio of 0.0258 reads "38.8 times as fast as foundation", and one of 3.75 "3.75 times as long". Between 1/1.5 and 1.5 the
ratio itself reads better: "x0.920 of foundation's time".
"""

from .metrics import ratio as plain
from .metrics import significant

# From this ratio on, and below its inverse, a ratio is a number of times.
LIMIT = 1.5
# What takes long. Of anything else one has more or less.
TIMES = ("time", "makespan")


class RatioWords:
    """`ratio` is an estimate or a geometric mean: the number of a subject over the number of another."""

    def __init__(self, ratio, what="time"):
        self._ratio, self._what = ratio, what
        self._middle = ratio.median if hasattr(ratio, "median") else ratio.ratio
        self._is_time = what in TIMES

    def compared(self, other):
        """Words such as "38.8 times as fast as foundation [36.1, 41.0]"."""
        if self._middle <= 1 / LIMIT:
            return f"{self._faster} times as fast as {other}{self._inverse_range}"
        if self._middle >= LIMIT:
            return f"{significant(self._middle)} times as long as {other}{self._range}"
        return f"{plain(self._ratio)} of {other}'s time"

    def sentence(self, name, other):
        """A sentence, such as "tbb is faster: stealing takes 3.75 times as long [3.50, 4.01]"."""
        if not self._is_time:
            return self._amount(name, other)
        if self._middle <= 1 / LIMIT:
            return f"{name} is {self.compared(other)}"
        if self._middle >= LIMIT:
            return f"{other} is faster: {name} takes {significant(self._middle)} times as long{self._range}"
        return f"{name} takes {self.compared(other)}"

    def _amount(self, name, other):
        if self._middle <= 1 / LIMIT:
            return f"{other} has {self._faster} times {name}'s {self._what}{self._inverse_range}"
        if self._middle >= LIMIT:
            return f"{other} has less: {name} has {significant(self._middle)} times {other}'s {self._what}{self._range}"
        return f"{name} has {plain(self._ratio)} of {other}'s {self._what}"

    @property
    def _faster(self):
        return significant(1 / self._middle)

    @property
    def _range(self):
        low, high = self._ratio.low, self._ratio.high
        return "" if low is None else f" [{significant(low)}, {significant(high)}]"

    @property
    def _inverse_range(self):
        low, high = self._ratio.low, self._ratio.high
        return "" if low is None else f" [{significant(1 / high)}, {significant(1 / low)}]"


def share(ratio, what="time"):
    """(what a change does to a time, its interval), such as ("12 % less time", " [8, 15]"); from LIMIT on in times."""
    middle = ratio.median if hasattr(ratio, "median") else ratio.ratio
    if not 1 / LIMIT < middle < LIMIT:
        is_less = middle < 1
        number = lambda end: significant(1 / end if is_less else end)
        # What is no time has no speed.
        fast, slow = "times as fast", "times as long"
        if what not in TIMES:
            fast, slow = f"times less {what}", f"times the {what}"
        return f"{number(middle)} {fast if is_less else slow}", _between(ratio, number)
    # Of less time, the share that is saved.
    sign = -1 if middle < 1 else 1
    percents = lambda end: f"{sign * (end - 1) * 100:.{0 if abs(middle - 1) >= 0.1 else 1}f}"
    return f"{percents(middle)} % {'less' if middle < 1 else 'more'} {what}", _between(ratio, percents)


def _between(ratio, words):
    """The interval in such words, the smaller number first."""
    if ratio.low is None:
        return ""
    return " [{}, {}]".format(*sorted((words(ratio.low), words(ratio.high)), key=float))
