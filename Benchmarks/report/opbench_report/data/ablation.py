"""What each decision of a strategy is worth: the time of every change over the time of the default strategy, for each
scenario and for each family, with verdicts that hold together for all cells of a table."""

import functools
import math
from dataclasses import dataclass, field

from .geometric_mean import geometric_mean, widened
from .results import Arm
from .statistics import FAMILY_CONFIDENCE, Widening, median_ranks, paired_logarithms, paired_ratio
from .strategies import words

BETTER, WORSE, SAME, OPEN = "better", "worse", "same", "open"
# Within this share of the default's time a change makes no difference that matters.
MARGIN = 0.03
# The whole of a table, in the place of a family.
WHOLE = None


@dataclass(frozen=True)
class Worth:
    """The time of a change over that of the default, with an interval widened for the comparisons of its table."""

    ratio: float
    low: float | None
    high: float | None
    benchmarks: int
    # The fewest that a scenario has.
    blocks: int
    # Whether there are blocks enough for the widened interval; where not, it is narrower than it had to be.
    is_wide_enough: bool
    # Half the width of the 95 % interval of this cell alone, in logarithms; None without one.
    half: float | None

    @property
    def verdict(self):
        if self.low is None or not self.is_wide_enough:
            return OPEN
        # What is the same needs no direction.
        if 1 / (1 + MARGIN) <= self.low and self.high <= 1 + MARGIN:
            return SAME
        return BETTER if self.high < 1 else WORSE if self.low > 1 else OPEN

    @property
    def is_sure(self):
        return self.verdict in (BETTER, WORSE)


@dataclass(frozen=True)
class Change:
    """A strategy that differs from the default, at a number of workers."""

    arm: Arm

    @property
    def variant(self):
        return self.arm.subject.variant

    @property
    def text(self):
        """Such as `own=lifo`."""
        return self.variant.text

    @property
    def decision(self):
        """What it decides; empty where it changes several decisions."""
        return self.variant.choices[0][0] if self.variant.is_single else ""

    @property
    def gives_up(self):
        return self.arm.subject.gives_up


@dataclass
class Table:
    """The changes of one subject at one number of workers."""

    base: Arm
    # More workers than CPUs.
    is_extra: bool
    changes: list
    lines: list
    # (change, family) and (change, line's key) -> Worth. A family of None is the whole.
    families: dict = field(default_factory=dict)
    scenarios: dict = field(default_factory=dict)

    @property
    def family_names(self):
        return list(dict.fromkeys(line.family for line in self.lines))

    @property
    def columns(self):
        """The families, with the whole in front where there are several."""
        names = self.family_names
        return [WHOLE, *names] if len(names) > 1 else names

    @property
    def decisions(self):
        """[(decision, its changes)] in their order; the changes of several decisions last, with an empty name."""
        groups = {}
        for change in sorted(self.changes, key=lambda one: not one.decision):
            groups.setdefault(change.decision, []).append(change)
        return list(groups.items())

    def verdicts(self, change):
        """family -> verdict, of those that the change was measured in."""
        return {
            name: self.families[change, name].verdict for name in self.family_names if (change, name) in self.families
        }

    def verdict(self, change):
        """Over all families: `better` is surely better in one at least, and surely worse in none."""
        found = set(self.verdicts(change).values())
        if {BETTER, WORSE} <= found:
            return "mixed"
        for one in (BETTER, WORSE):
            if one in found:
                return one
        return SAME if found == {SAME} else OPEN

    def blocks(self):
        """(the fewest, the most) that a cell of a scenario has."""
        counts = [worth.blocks for worth in self.scenarios.values()]
        return min(counts), max(counts)


@dataclass
class Ablation:
    tables: list
    # The comparisons with families and wholes, and those with scenarios.
    of_families: Widening
    of_scenarios: Widening
    # (subject, decision) -> Words.
    words: dict
    cpus: int | None

    def meaning(self, table, change):
        """What a change does, in words; empty where the results do not say it."""
        base = table.base.subject.name
        said = [
            self.words[base, name].of(choice) for name, choice in change.variant.choices if (base, name) in self.words
        ]
        return "; ".join(filter(None, said))


def key_of(line):
    return line.benchmark, line.params


@functools.lru_cache(maxsize=4)
def ablation(results):
    """What the results say of changes; None where they have none beside its default."""
    records = [source.record for source in results.sources if source.record is not None]
    cpus = results.cpus
    tables, pairs = [], {}
    lines = results.primary_lines()
    for base, changes in _bases(results):
        # Of each line the logarithms of every change.
        own = {
            (change, key_of(line)): logs
            for change in changes
            for line in lines
            if (logs := _logarithms(line, change, base))
        }
        if not own:
            continue
        table = Table(base, cpus is not None and base.workers > cpus, [], [])
        table.changes = [change for change in changes if any(change == one for one, _ in own)]
        table.lines = [line for line in lines if any(key == key_of(line) for _, key in own)]
        tables.append(table)
        pairs[base] = own
    if not tables:
        return None
    # What is an extra stands last.
    tables.sort(key=lambda table: table.is_extra)
    series = {table.base: _series(table, pairs[table.base]) for table in tables}
    of_families = Widening(sum(_has_interval(one) for own in series.values() for one in own.values()))
    of_scenarios = Widening(sum(median_ranks(len(logs)) is not None for own in pairs.values() for logs in own.values()))
    for table in tables:
        for key, own in series[table.base].items():
            table.families[key] = worth(own, of_families)
        for (change, (benchmark, params)), logs in pairs[table.base].items():
            table.scenarios[change, (benchmark, params)] = worth([(benchmark, logs)], of_scenarios)
    return Ablation(tables, of_families, of_scenarios, words(records), cpus)


def _bases(results):
    """[(the default's arm, its changes)]; each number of workers stands for itself."""
    found = {}
    for arm in results.arms:
        if arm.subject.variant is not None:
            found.setdefault((arm.subject.variant.base, arm.workers), []).append(Change(arm))
    arms = [arm for arm in results.arms if (arm.subject.name, arm.workers) in found]
    # The most workers stand first.
    arms.sort(key=lambda arm: (arm.subject, -arm.workers))
    return [(arm, found[arm.subject.name, arm.workers]) for arm in arms]


def _logarithms(line, change, base):
    if change.arm not in line.cells or base not in line.cells:
        return {}
    return paired_logarithms(line.cells[change.arm].processes, line.cells[base].processes)


def _series(table, pairs):
    """(change, family) -> [(benchmark, logarithms)], and the whole where there are several families."""
    series = {}
    for change in table.changes:
        for line in table.lines:
            if logs := pairs.get((change, key_of(line))):
                for name in (line.family, WHOLE):
                    if name in table.columns:
                        series.setdefault((change, name), []).append((line.benchmark, logs))
    return {key: _enough(own) for key, own in series.items()}


def _enough(series):
    """Those with the six blocks that an interval needs, where there are such; fewer decide nothing."""
    return [pair for pair in series if median_ranks(len(pair[1])) is not None] or series


def _has_interval(series):
    return all(median_ranks(len(logs)) is not None for _, logs in series)


def worth(series, widening):
    """Of (benchmark, logarithms) pairs; a benchmark has one vote."""
    fewest = min(len(logs) for _, logs in series)
    count = len({name for name, _ in series})
    if len(series) == 1:
        logs = list(series[0][1].values())
        # Below six blocks there is no interval.
        reached = widening.confidence_of(fewest)
        ratio = paired_ratio(logs, reached or FAMILY_CONFIDENCE)
        half = _half(paired_ratio(logs))
        return Worth(ratio.median, ratio.low, ratio.high, count, fewest, reached == widening.confidence, half)
    mean = geometric_mean(series)
    if not _has_interval(series):
        return Worth(mean.ratio, None, None, count, fewest, False, None)
    # Simulated noise is held by the freedom of the fewest blocks, and not always by that of all.
    low, high = (math.exp(end) for end in widened(mean, widening.confidence, fewest - 1))
    return Worth(mean.ratio, low, high, count, fewest, True, _half(mean))


def _half(ratio):
    """Half the width of an interval, in logarithms."""
    return math.log(ratio.high / ratio.low) / 2 if ratio.low is not None else None


def size(worths):
    """How large the effects of some cells are, as a share: the root of the mean of their squared logarithms, less
    what their own uncertainty adds to it. None without an interval."""
    squares = [math.log(one.ratio) ** 2 - (one.half / 2) ** 2 for one in worths if one.half is not None]
    return math.exp(math.sqrt(max(0.0, sum(squares) / len(squares)))) - 1 if squares else None
