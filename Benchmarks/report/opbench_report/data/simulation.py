"""Rows of `opbench simulate`, read as strictly as other results, and the ratios of each strategy to its default."""

import csv
import io
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass

from ..complaint import BAD_INPUT, Complaint
from .csvfile import read_bytes, unpacked

SCHEMA = "1"
HEADER = (
    "kind,schema,graph,sizes,work_ns,backend,workers,seed,model,tasks,edges,makespan_ns,efficiency,utilisation,"
    "total_work_ns,critical_path_ns,limit_work_ns,limit_critical_path_ns,limit_scheduler_ns,steals,failed_searches,"
    "looks_in_vain,lost_races,from_outside,wakes,sleeps,idle_ns,rank_error_mean,rank_error_worst"
).split(",")
_TEXTS = {"kind", "schema", "graph", "sizes", "backend", "model"}


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

    def __init__(self, paths):
        self.models, self.backends = [], []
        self.values = defaultdict(lambda: defaultdict(dict))
        for path in paths:
            for row in read(path):
                self._add(path, row)
        if not self.values:
            raise Complaint(BAD_INPUT, "there are no simulated rows")

    def _add(self, path, row):
        for known, value in ((self.models, row["model"]), (self.backends, row["backend"])):
            if value not in known:
                known.append(value)
        place = Place(row["graph"], row["sizes"], row["work_ns"], int(row["workers"]))
        runs = self.values[place][row["backend"]]
        if runs.setdefault(row["seed"], row) is not row:
            raise Complaint(BAD_INPUT, f"{path}: a second row for {row['backend']} with seed {int(row['seed'])}")

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


def granularity(simulation, level):
    """METG at a level, as `opbench` finds it: {(graph, sizes, backend, workers): nanoseconds, or None}. The largest granularity
    below which the curve falls under the level, between two points of (log granularity, utilisation)."""
    curves = defaultdict(list)
    for place, runs in simulation.values.items():
        for backend, rows in runs.items():
            tasks = next(iter(rows.values()))["tasks"]
            coarse = simulation.median(place, backend, "makespan_ns") * place.workers / tasks
            curves[(place.graph, place.sizes, backend, place.workers)].append(
                (coarse, simulation.median(place, backend, "utilisation"))
            )
    return {key: _crossing(sorted(points, reverse=True), level) for key, points in curves.items()}


def _crossing(points, level):
    for (coarse, high), (fine, low) in zip(points, points[1:]):
        if high >= level > low:
            share = (level - low) / (high - low)
            return math.exp(math.log(fine) + share * (math.log(coarse) - math.log(fine)))
    return None


def read(path):
    """The rows of one file, with numbers as numbers."""
    text = unpacked(read_bytes(path), path).decode("utf-8", errors="replace")
    lines = list(csv.reader(io.StringIO(text)))
    if not lines or lines[0] != HEADER:
        raise Complaint(BAD_INPUT, f"{path}: these are no rows of opbench simulate of schema {SCHEMA}")
    if not text.endswith("\n"):
        raise Complaint(BAD_INPUT, f"{path}: the last line is cut off")
    for number, line in enumerate(lines[1:], 2):
        row = dict(zip(HEADER, line))
        if len(line) != len(HEADER) or row["kind"] != "simulated" or row["schema"] != SCHEMA:
            raise Complaint(BAD_INPUT, f"{path}, line {number}: this is no simulated row of schema {SCHEMA}")
        try:
            yield {key: value if key in _TEXTS else float(value) for key, value in row.items()}
        except ValueError:
            raise Complaint(BAD_INPUT, f"{path}, line {number}: a number is none") from None
