"""A table of targets: what results say of limits. Which targets there are stands in scripts/results/targets.py. Needs
Python alone."""

import collections
from typing import NamedTuple

from .complaint import BAD_INPUT, Complaint
from .data.environment import blocks_run, path_beside
from .data.source import processes, read_source
from .data.statistics import estimate, paired_logarithms, paired_ratio
from .data.strategies import variant


class Cell(NamedTuple):
    """A number of a result, on the most workers with which it was measured."""

    benchmark: str
    params: str
    metric: str
    subject: str

    def on(self, subject):
        """The same of another subject."""
        return self._replace(subject=subject)


class Target(NamedTuple):
    """A limit for a number, or for the ratio of two."""

    label: str
    cell: Cell
    limit: float
    # The cell that the ratio is to; None where the number itself has the limit.
    base: Cell | None = None
    # Counted, not measured: one block decides.
    is_exact: bool = False

    @property
    def sign(self):
        return "x" if self.base else ""

    def estimate(self, run):
        """The number with its interval; None where the run does not have the cells. Both numbers of a ratio come from one
        block of one run."""
        medians = run.medians(self.cell)
        if self.base:
            return paired_ratio(paired_logarithms(medians, run.medians(self.base)).values())
        return estimate(medians.values()) if medians else None


class Run:
    """A result: the median of each process in each cell that it holds."""

    def __init__(self, path):
        source = read_source(path)
        record = source.required_record()
        self.path = path
        # Our queues, the default first.
        named = [one["name"] for one in record.get("subjects", []) if one["role"] == "ours"]
        self.ours = [name for name in named if variant(name) is None]
        if not self.ours:
            raise Complaint(BAD_INPUT, f"{path_beside(path)} names no subject of role ours")
        self.said = _said(record)
        self._cells = _widest(processes(source.counted))

    def medians(self, cell):
        """(run, block) -> number."""
        return self._cells.get(cell, {})


def table(runs, targets):
    """The lines of the table. What the first run does not hold is looked for in the next."""
    tally = collections.Counter()
    lines = [f"{run.path}: {run.said}" for run in runs]
    lines += ["", f"{'target':<66} {'number':>10}  {'95 % interval':<22} {'blocks':>6} {'limit':>8}  "]
    for target in targets:
        number = next(filter(None, (target.estimate(run) for run in runs)), None)
        shown, between, word = "-", "", "not measured"
        if number:
            shown = f"{target.sign}{number.median:.4g}"
            between = f"[{number.low:.4g}, {number.high:.4g}]" if number.has_interval else ""
            word = _verdict(number, target)
        tally[word] += 1
        limit = f"{target.sign}{target.limit:g}"
        lines.append(f"{target.label:<66} {shown:>10}  {between:<22} {number.count if number else 0:>6} {limit:>8}  {word}")
    return [*lines, "", ", ".join(f"{word}: {count}" for word, count in tally.items())]


def _verdict(number, target):
    if not number.has_interval and not target.is_exact:
        return "too few blocks"
    low, high = (number.low, number.high) if number.has_interval else (number.median, number.median)
    return "met" if high <= target.limit else "missed" if low > target.limit else "within the interval"


def _widest(measured):
    """Of each cell the medians with the most workers."""
    widest = {}
    for (name, params, metric, _, backend, workers), medians in measured.items():
        cell = Cell(name, params, metric, backend)
        if workers >= widest.get(cell, (0, None))[0]:
            widest[cell] = (workers, medians)
    return {cell: medians for cell, (_, medians) in widest.items()}


def _said(record):
    """When and where a run was made, and how much of it counts."""
    excluded = record["outcome"].get("excluded_blocks", [])
    blocks = blocks_run(record) or 0
    when, commit = str(record.get("started_at", ""))[:10], str(record.get("commit", ""))[:7]
    return (
        f"{when}, commit {commit}, {record.get('cpu_model', 'unknown processor')}; {len(excluded)} of {blocks} blocks lost"
        " CPU time to other guests of the host and do not count"
    )
