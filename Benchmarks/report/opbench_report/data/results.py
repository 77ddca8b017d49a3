"""From files to the numbers of every cell, as `opbench run` prints them: a process is the median of its values, a cell
the median of its processes, a ratio the median of paired ratios."""

import copy
import functools
import os
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pandas

from ..complaint import BAD_INPUT, USAGE, Complaint
from ..subjects import Subject, Subjects
from . import parameters
from .metrics import Facts, facts
from .source import Row, processes, read_source
from .statistics import Estimate, estimate, paired_logarithms, paired_ratio


class Arm(NamedTuple):
    """A subject at a worker count: a column of the comparison."""

    subject: Subject
    workers: int

    def __str__(self):
        return f"{self.subject}@{self.workers}"


def reference_arm(name, arm, among):
    """The arm of the reference that another is compared with: the one with as many workers, or else the widest."""
    candidates = [one for one in among if name in (one.subject.name, str(one))]
    same = [one for one in candidates if one.workers == arm.workers]
    return same[0] if same else max(candidates, key=lambda one: one.workers, default=None)


def widest(arms):
    """Of each subject the arm with the most workers: what pictures show unless they are about workers."""
    most = {}
    for arm in arms:
        most[arm.subject] = max(most.get(arm.subject, arm), arm)
    return sorted(most.values())


# The most changes of strategies that stand among the subjects in pictures of all subjects: a legend of thirty is none.
MOST_VARIANTS = 6


@dataclass(frozen=True)
class Cell:
    """What one arm has on a line."""

    estimate: Estimate
    # To the reference, from the blocks in which both were measured.
    ratio: Estimate | None
    against: Arm | None
    # The median of each process, by (run, host, block).
    processes: dict


@dataclass
class Line:
    """A metric of a scenario over all arms."""

    benchmark: str
    params: str
    metric: str
    unit: str
    facts: Facts
    cells: dict = field(default_factory=dict)

    @property
    def family(self):
        return self.benchmark.split("/", 1)[0]

    @property
    def short(self):
        return self.benchmark.split("/", 1)[1]

    @property
    def parameters(self):
        return parameters.parse(self.params)

    @property
    def main_arms(self):
        """Of each subject that has a number here the widest arm: results of several runs need not have the same
        workers."""
        return widest(self.cells)


class Results:
    """All rows that count, and what follows from them."""

    def __init__(self, sources, rows, reference=None):
        self.sources = sources
        # The rows as a table.
        self.rows = pandas.DataFrame(rows, columns=Row._fields)
        records = [source.record for source in sources if source.record is not None]
        self.subjects = Subjects(records, {row.backend for row in rows}, reference)
        self.primary = _primary_times(sources, self.rows)
        self._take(_lines(rows, self.subjects, records))

    def _take(self, lines):
        """These lines, and what follows from them."""
        self.lines = lines
        self.arms = sorted({arm for line in self.lines for arm in line.cells})
        main = {arm for line in self.lines for arm in line.main_arms}
        # Those that stand for their subject on some line.
        self.main_arms = [arm for arm in self.arms if arm in main]
        self._by_key = {(line.benchmark, line.params, line.metric): line for line in self.lines}

    @property
    def cpus(self):
        """What the programs were allowed, of several machines the fewest; None where no result says it."""
        counts = [(source.record or {}).get("cpus_allowed") for source in self.sources]
        return min(filter(None, counts), default=None)

    @property
    def variants(self):
        """The subjects with a strategy of their own."""
        return sorted({arm.subject for arm in self.arms if arm.subject.variant})

    @functools.cached_property
    def general(self):
        """What the pictures of all subjects show: without the changes of strategies, where there are too many of them."""
        return self if len(self.variants) <= MOST_VARIANTS else self.defaults

    @functools.cached_property
    def defaults(self):
        """What the sentences about subjects are about: without the changes of strategies whose default was measured, which
        are judged among themselves, and without the workers beyond the CPUs that only such changes are measured with."""
        measured = {arm.subject.name for arm in self.arms}
        names = {one.name for one in self.variants if one.variant.base in measured}
        if not names:
            return self
        # A result of nothing but such workers keeps them.
        most = max(self.cpus or 0, min(arm.workers for arm in self.arms))
        defaults = copy.copy(self)
        defaults.rows = self.rows[~self.rows.backend.isin(names) & (self.rows.workers <= most)]
        is_kept = lambda arm: arm.subject.name not in names and arm.workers <= most
        cells = [{arm: cell for arm, cell in line.cells.items() if is_kept(arm)} for line in self.lines]
        defaults._take([replace(line, cells=own) for line, own in zip(self.lines, cells) if own])
        return defaults

    @property
    def reference(self):
        """The name of the subject that the others are compared with; None where the results name none."""
        return self.subjects.reference

    def line(self, benchmark, params, metric):
        """A line, or None."""
        return self._by_key.get((benchmark, params, metric))

    def is_main(self, compared):
        """Whether a compared line is of an arm that stands for its subject there."""
        return compared.arm in self.line(compared.benchmark, compared.params, compared.metric).main_arms

    def select(self, benchmark=None, metric=None, family=None):
        """Lines by exact benchmark, metric and family, in the order of their parameters."""
        return [
            line
            for line in self.lines
            if (benchmark is None or line.benchmark == benchmark)
            and (metric is None or line.metric == metric)
            and (family is None or line.family == family)
        ]

    def primary_lines(self, family=None):
        """The lines of the one time that stands for each benchmark."""
        return [line for line in self.select(family=family) if self.primary.get(line.benchmark) == line.metric]

    @property
    def failures(self):
        return [(source, cell) for source in self.sources for cell in source.outcome.get("failures", [])]


def read(paths, reference=None):
    """Reads result files and what lies beside them; throws one line when one of them is no result. `reference` is the
    subject to compare with, by default the one that the results name."""
    names = [os.path.realpath(path) for path in paths]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise Complaint(USAGE, f"{paths[place]} is given twice")
    sources = [read_source(path) for path in paths]
    _check(sources)
    rows = [row for source in sources for row in source.counted]
    if not rows:
        raise Complaint(BAD_INPUT, f"{', '.join(paths)}: no row counts: all blocks are excluded or all cells failed")
    measured = sorted({row.backend for row in rows})
    if reference and reference not in measured:
        raise Complaint(USAGE, f"--reference: {reference} was not measured; there are {', '.join(measured)}")
    return Results(sources, rows, reference)


def _check(sources):
    """Times on different allocators are not the same measure, and no run counts twice."""
    seen = {}
    for source in sources:
        for run in source.runs:
            if run in seen:
                raise Complaint(
                    BAD_INPUT, f"{source.path} holds the run {run} that {seen[run]} holds as well; give one of them"
                )
            seen[run] = source.path
    known = [source for source in sources if source.allocator]
    for source in known[1:]:
        if source.allocator != known[0].allocator:
            raise Complaint(
                BAD_INPUT,
                f"{known[0].path} was timed on {known[0].allocator}, {source.path} on {source.allocator}: "
                "times are not comparable across allocators; make a report of each",
            )


def _primary_times(sources, rows):
    """The metric that stands for each benchmark, as the results say it; in those that do not, the time that the rows of
    the benchmark name first."""
    silent = {run for one in sources if "primary_times" not in (one.record or {}) for run in one.runs}
    times = rows[rows.run_id.isin(silent) & (rows.unit == "ns")].drop_duplicates("name")
    primary = dict(zip(times.name, times.metric))
    for source in sources:
        primary |= (source.record or {}).get("primary_times", {})
    return primary


def _lines(rows, subjects, records):
    numbers = {}
    for (name, params, metric, unit, backend, workers), medians in processes(rows).items():
        numbers.setdefault((name, params, metric, unit), {})[Arm(subjects[backend], workers)] = medians
    lines = []
    for (name, params, metric, unit), arms in numbers.items():
        line = Line(name, params, metric, unit, facts(records, metric, unit))
        for arm in sorted(arms):
            line.cells[arm] = _cell(arm, arms, subjects.reference)
        lines.append(line)
    return sorted(lines, key=lambda line: (line.benchmark, _sort_key(line.params)))


def _cell(arm, arms, reference):
    base = reference_arm(reference, arm, arms)
    ratio = None
    if base is not None and base != arm:
        ratio = paired_ratio(paired_logarithms(arms[arm], arms[base]).values())
    return Cell(estimate(arms[arm].values()), ratio, base if ratio else None, arms[arm])


def _sort_key(params):
    """Numbers by size, everything else by its letters."""
    key = []
    for name, value in sorted(parameters.parse(params).items()):
        try:
            key.append((name, 0, float(value), ""))
        except ValueError:
            key.append((name, 1, 0.0, value))
    return key
