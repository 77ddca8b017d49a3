"""Rows of `opbench simulate`, read as strictly as other results, and the ratios of each strategy to its default."""

import csv
import hashlib
import io
import math
import os
import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from ..complaint import BAD_INPUT, Complaint
from .csvfile import read_bytes, unpacked
from .environment import path_beside
from .metrics import quantity, significant

SCHEMA = "1"
HEADER = (
    "kind,schema,graph,sizes,work_ns,backend,workers,seed,model,tasks,edges,makespan_ns,efficiency,utilisation,"
    "total_work_ns,critical_path_ns,limit_work_ns,limit_critical_path_ns,limit_scheduler_ns,steals,failed_searches,"
    "looks_in_vain,lost_races,from_outside,wakes,sleeps,idle_ns,rank_error_mean,rank_error_worst"
).split(",")
_TEXTS = {"kind", "schema", "graph", "sizes", "backend", "model"}
# What nothing is divided by, and no logarithm is taken of, when it is 0.
_POSITIVE = ("workers", "tasks", "makespan_ns")
# The largest plausible efficiency: a larger one shows that the peak was measured too low.
_MOST_EFFICIENT = 1.5
# A graph with so many granularities was simulated to find METG.
_SWEEP = 5


@dataclass(frozen=True)
class SimulatedSource:
    """One file of simulated rows, as a report links to it."""

    path: str
    raw: bytes
    # The environment beside it, as the file has it; None where there is none.
    environment: bytes | None
    rows: int

    @property
    def name(self):
        return os.path.basename(self.path)

    @property
    def digest(self):
        return hashlib.sha256(self.raw).hexdigest()


def is_simulated(path):
    """Whether the file says of itself that its rows are simulated, whole or not."""
    first = unpacked(read_bytes(path), path)[:4096].splitlines()[:2]
    return any(line.split(b",")[0] in (b"kind", b"simulated") for line in first)


def read_source(path):
    """The file itself, with what lies beside it."""
    raw = read_bytes(path)
    beside = path_beside(path)
    environment = read_bytes(beside) if os.path.exists(beside) else None
    return SimulatedSource(path, raw, environment, max(unpacked(raw, path).count(b"\n") - 1, 0))


@dataclass(frozen=True)
class Place:
    """What all strategies run: a graph at a granularity, on a number of workers."""

    graph: str
    sizes: str
    work: float
    workers: int

    @property
    def case(self):
        """The same without the number of workers."""
        return (self.graph, self.sizes, self.work)


class Simulation:
    """All rows of some files. `values[place][backend][seed]` is a row."""

    def __init__(self, paths, allows_none=False):
        self.models, self.backends = [], []
        self.values = defaultdict(lambda: defaultdict(dict))
        for path in paths:
            for row in read(path):
                self._add(path, row)
        if not self.values and not allows_none:
            raise Complaint(BAD_INPUT, "there are no simulated rows")

    def _add(self, path, row):
        for known, value in ((self.models, row["model"]), (self.backends, row["backend"])):
            if value not in known:
                known.append(value)
        place = Place(row["graph"], row["sizes"], row["work_ns"], int(row["workers"]))
        runs = self.values[place][row["backend"]]
        if runs.setdefault(row["seed"], row) is not row:
            raise Complaint(BAD_INPUT, f"{path}: a second row for {row['backend']} with seed {int(row['seed'])}")

    def parts(self):
        """(the rows to compare strategies with, the sweeps of granularities); None for a part without rows."""
        grains = defaultdict(set)
        for place in self.values:
            grains[place.graph, place.sizes].add(place.work)
        sweeps = {key for key, own in grains.items() if len(own) >= _SWEEP}
        return self._only(lambda place: (place.graph, place.sizes) not in sweeps), self._only(
            lambda place: (place.graph, place.sizes) in sweeps
        )

    def _only(self, is_wanted):
        part = Simulation([], allows_none=True)
        part.values.update({place: runs for place, runs in self.values.items() if is_wanted(place)})
        part.models = self.models
        part.backends = [name for name in self.backends if any(name in runs for runs in part.values.values())]
        return part if part.values else None

    @property
    def cases(self):
        return list(dict.fromkeys(place.case for place in self.values))

    @property
    def workers(self):
        return sorted({place.workers for place in self.values})

    def median(self, place, backend, column):
        return statistics.median(row[column] for row in self.values[place][backend].values())

    def ratios(self, backend, default, workers):
        """The geometric means over all cases of the makespan by that of the default: one for each seed."""
        logs = defaultdict(list)
        for place, runs in self.values.items():
            if place.workers == workers and backend in runs and default in runs:
                for seed, row in runs[backend].items():
                    if seed in runs[default]:
                        logs[seed].append(math.log(row["makespan_ns"] / runs[default][seed]["makespan_ns"]))
        return sorted(math.exp(statistics.fmean(own)) for own in logs.values())


class Granularity(NamedTuple):
    """Where a curve falls below a level: METG, with the rule and the words of `Benchmarks/Harness/Statistics/METG.swift`."""

    # `crosses`, `never reached`, `never lost`, or `impossible` where an efficiency cannot be.
    outcome: str
    # In nanoseconds; None where the curve does not cross the level.
    at: float | None
    text: str


def granularity(simulation, level):
    """METG at a level, as `opbench` finds it: {(graph, sizes, backend, workers): Granularity}."""
    curves = defaultdict(list)
    for place, runs in simulation.values.items():
        for backend, rows in runs.items():
            tasks = next(iter(rows.values()))["tasks"]
            coarse = simulation.median(place, backend, "makespan_ns") * place.workers / tasks
            curves[(place.graph, place.sizes, backend, place.workers)].append(
                (coarse, simulation.median(place, backend, "utilisation"))
            )
    return {key: crossing(points, level) for key, points in curves.items()}


def crossing(points, level):
    """The largest granularity below which the curve falls under the level, between two points of (log granularity,
    efficiency)."""
    if any(not efficiency <= _MOST_EFFICIENT or coarse <= 0 for coarse, efficiency in points):
        return Granularity("impossible", None, "-")
    points = sorted(points, reverse=True)
    best = max((efficiency for _, efficiency in points), default=0)
    if best < level:
        return Granularity("never reached", None, f"never: {significant(100 * best)} % at best")
    for (coarse, high), (fine, low) in zip(points, points[1:]):
        if high >= level > low:
            share = (level - low) / (high - low)
            at = math.exp(math.log(fine) + share * (math.log(coarse) - math.log(fine)))
            return Granularity("crosses", at, quantity("ns", at))
    return Granularity("never lost", None, f"below {quantity('ns', points[-1][0])}")


def read(path):
    """The rows of one file, with numbers as numbers."""
    text = unpacked(read_bytes(path), path).decode("utf-8", errors="replace")
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise Complaint(BAD_INPUT, f"{path}: {error}") from None
    if not lines or lines[0] != HEADER:
        lacks = next((name for name in HEADER if lines and lines[0][:1] == HEADER[:1] and name not in lines[0]), None)
        reason = f": there is no column {lacks}" if lacks else ""
        raise Complaint(BAD_INPUT, f"{path}: these are no rows of opbench simulate of schema {SCHEMA}{reason}")
    if not text.endswith("\n"):
        raise Complaint(BAD_INPUT, f"{path}: the last line is cut off")
    if len(lines) == 1:
        raise Complaint(BAD_INPUT, f"{path} has a header and no simulated rows")
    for number, line in enumerate(lines[1:], 2):
        row = dict(zip(HEADER, line))
        if len(line) != len(HEADER) or row["kind"] != "simulated" or row["schema"] != SCHEMA:
            raise Complaint(BAD_INPUT, f"{path}, line {number}: this is no simulated row of schema {SCHEMA}")
        try:
            values = {key: value if key in _TEXTS else float(value) for key, value in row.items()}
        except ValueError:
            raise Complaint(BAD_INPUT, f"{path}, line {number}: a number is none") from None
        wrong = next((key for key, value in values.items() if key not in _TEXTS and not _is_possible(key, value)), None)
        if wrong:
            raise Complaint(BAD_INPUT, f"{path}, line {number}: {wrong} is {row[wrong][:40]}, which no simulation gives")
        yield values


def _is_possible(key, value):
    """Whether a number can be one of a simulation, so that no ratio, logarithm or axis overflows."""
    if not math.isfinite(value) or abs(value) > 1e30:
        return False
    return (key != "workers" or value.is_integer()) and (key not in _POSITIVE or value > 0)
