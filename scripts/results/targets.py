#!/usr/bin/env python3
"""What the library is to reach, and what runs say.

scripts/results/targets.py [X.csv or X.csv.gz ...] reads results; the default is targets.csv.gz and the cost curves in results/.
scripts/results/measure-targets makes the first, scripts/results/cost-curves the second. scripts/results/targets.py --pattern
prints which benchmarks the targets need.

What the first result does not hold is looked for in the next. Blocks that the run excluded do not count. Each target has a
line: the ratio of two subjects or two benchmarks (paired by block, with its 95 % interval), or a number of its own;
the number of blocks; and whether the limit is met (the whole interval on the right side), missed (the whole interval on the
wrong one), or within the interval. Fewer than six blocks have no interval and decide nothing. Allocations are counted exactly,
in one block.

Needs Python 3.11 alone. How results are read and intervals are made stands in Benchmarks/report/opbench_report.
"""

import pathlib
import re
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks/report"))

from opbench_report.complaint import USAGE, Complaint, exit_code  # noqa: E402  (found through the path above)
from opbench_report.data.statistics import estimate, paired_quotients  # noqa: E402
from opbench_report.targets import Cell, Run, Target, table  # noqa: E402

DEFAULT = ["results/targets.csv.gz", "results/cost-curves/sizes.csv.gz"]
GRAPH = "imbalance=0;pattern={};{}steps=32;width=16;work_ns=0"
SHAPES = [
    ("chain", ("dependencies/chain", "length=1000")),
    ("fan-in", ("dependencies/fan-in", "width=1000")),
    ("fan-out", ("dependencies/fan-out", "width=400")),
    ("diamond", ("dependencies/diamond", "diamonds=45;width=8")),
    ("tree", ("dependencies/tree", "leaves=256")),
    ("stencil_1d", ("dependencies/graph", GRAPH.format("stencil_1d", ""))),
    ("fft", ("dependencies/graph", GRAPH.format("fft", ""))),
    ("nearest", ("dependencies/graph", GRAPH.format("nearest", "radix=5;"))),
]
DENSE = [
    ("random-dag 0.1", ("dependencies/random-dag", "layers=16;probability=0.1;tasks=512"), 1.2),
    ("random-dag 0.5", ("dependencies/random-dag", "layers=16;probability=0.5;tasks=512"), 2.5),
    ("all_to_all 16 x 32", ("dependencies/graph", GRAPH.format("all_to_all", "")), 2.0),
]
METG = ("dependencies/metg", "imbalance=0;pattern=stencil_1d;steps=16;width=8")


class EdgeMore(NamedTuple):
    """What an edge more costs, for each block: the slope of the cost curve between few dependencies for each operation and many."""

    label: str
    limit: float
    subject: str
    sign = ""
    is_exact = False

    def estimate(self, run):
        few, few_edges = self._cost(run, 4)
        many, many_edges = self._cost(run, 64)
        slopes = [
            (many[place] - few[place]) / (many_edges[place] - few_edges[place])
            for place in few_edges.keys() & many_edges.keys()
            if many_edges[place] > few_edges[place]
        ]
        return estimate(slopes) if slopes else None

    def _cost(self, run, radix):
        """The time of an operation, and how many edges it has: its time over that of an edge."""
        params = f"imbalance=0;pattern=nearest;radix={radix};steps=8;width=64;work_ns=0"
        operation = time(("dependencies/graph", params), self.subject)
        medians = run.medians(operation)
        return medians, paired_quotients(medians, run.medians(operation._replace(metric="ns_per_edge")))


def time(what, subject):
    return Cell(*what, "ns_per_op", subject)


def ratios(ours):
    """Targets of ratios; of our queues the default stands first."""
    default, *others = ours
    for name, what in SHAPES:
        cell = time(what, default)
        yield Target(f"{name} / raw Dispatch", cell, 0.8, cell.on("raw-dispatch"))
        yield Target(f"{name} / tbb-flow", cell, 0.7, cell.on("tbb-flow"))
    for name, what, limit in DENSE:
        cell = time(what, default)
        yield Target(f"{name} / raw Dispatch", cell, limit, cell.on("raw-dispatch"))
    for name, what in SHAPES:
        cell, bare = time(what, default), f"{default}-bare"
        for pool in others:
            yield Target(f"{name}: {pool} / {default}", cell.on(pool), 1.3, cell)
        yield Target(f"{name}: contract's price, {default} / {bare}", cell, 2.0, cell.on(bare))
    metg = Cell(*METG, "metg50_ns", default)
    yield Target("METG(50 %) stencil_1d / raw Dispatch", metg, 1.0, metg.on("raw-dispatch"))
    yield from adding(default)
    for name, params in (("fib", "join=counter;n=15"), ("skynet", "join=counter;leaves=1000")):
        cell = time((f"forkjoin/{name}", params), default)
        yield Target(f"{name} / Go", cell, 0.9, cell.on("go"))
    yield from latencies(default)
    for name, size in (("chain", "length"), ("fan-in", "width")):
        small = time((f"dependencies/{name}", f"{size}=1000"), default)
        for count in (10_000, 100_000, 1_000_000):
            large = small._replace(params=f"{size}={count}")
            yield Target(f"{name} of {count:,} / of 1,000, per operation", large, 1.5, small)
    stream = "level=veryLow;lowest=10;ops=2000;work_ns=2000"
    for subject in ours:
        fair = Cell("priority/starvation", f"backlog=16;fairness_interval=16;{stream}", "wait_p50_ns", subject)
        plain = fair.on("foundation")._replace(params=f"backlog=16;{stream}")
        yield Target(f"starvation p50, fairness interval 16: {subject} / Foundation", fair, 3.0, plain)


def adding(default):
    external = time(("overhead/external-add", "ops=10000"), default)
    batch = time(("overhead/external-batch", "batch=1000;ops=10000"), default)
    local = time(("overhead/local-add", "ops=10000"), default)
    contended = time(("overhead/contended-add", "ops=10000;producers=2"), default)
    completion = time(("overhead/with-completion", "ops=10000"), default)
    limited = time(("overhead/limited", "max=1;ops=10000"), default)
    yield Target("external-batch / external-add", batch, 0.8, external)
    yield Target("external-add / rayon", external, 0.8, external.on("rayon"))
    yield Target("local-add / rayon", local, 0.8, local.on("rayon"))
    yield Target("contended-add / rayon", contended, 0.8, contended.on("rayon"))
    yield Target("with-completion / external-add", completion, 2.0, external)
    yield Target("limited to 1 / external-add", limited, 2.0, external)


def latencies(default):
    for load in (30, 60, 90):
        params = f"arrivals=exponential;load={load};samples=100000;work_ns=1000"
        for tail in ("p99", "p999"):
            cell = Cell("latency/open-loop", params, f"latency_{tail}_ns", default)
            yield Target(f"open-loop {load} % {tail} / raw Dispatch", cell, 1.0, cell.on("raw-dispatch"))
    for tail in ("p50", "p90"):
        cell = Cell("latency/ping-pong", "queues=2", f"latency_{tail}_ns", default)
        yield Target(f"ping-pong {tail} / raw Dispatch", cell, 1.5, cell.on("raw-dispatch"))
    for name, params in (("wake-busy", "interval_us=300;samples=1000;work_ns=5000"), ("wake-idle", "samples=1000")):
        cell = Cell(f"latency/{name}", params, "latency_p90_ns", default)
        yield Target(f"{name} p90 / raw Dispatch", cell, 1.1, cell.on("raw-dispatch"))


def numbers(ours):
    """Targets of numbers."""
    default, shapes = ours[0], dict(SHAPES)
    yield Target("METG(50 %) stencil_1d, ns", Cell(*METG, "metg50_ns", default), 1500)
    for name, limit in (("stencil_1d", 3), ("tree", 3), ("chain", 2)):
        cell = Cell(*shapes[name], "allocations_per_op", default)
        yield Target(f"{name}, allocations per operation", cell, limit, is_exact=True)
    for held in ("dependency", "suspension"):
        cell = Cell("cancellation/cancel-all-pending", f"held={held};pending=1000", "ns_per_cancel", default)
        yield Target(f"cancel-all-pending ({held}), ns per operation", cell, 150)
    for subject in ours:
        cell = Cell("blocking/sleepers", "bodies=16;sleep_ms=50", "makespan_ns", subject)
        yield Target(f"sleepers 16 x 50 ms on {subject}, ns", cell, 60e6)
    for subject in ours:
        params = "fairness_interval=0;ops=2000;work_ns=2000"
        cell = Cell("priority/rank-error", params, "rank_error_mean", subject)
        yield Target(f"rank error, fairness interval 0: mean on {subject}", cell, 1 if subject == default else 0)


def pattern():
    """The benchmarks that one run needs, for `opbench run --benchmark`; the cost curves hold the larger sizes."""
    ours = ["stealing", "threadpool", "dispatch"]
    cells = [cell for one in (*ratios(ours), *numbers(ours)) for cell in (one.cell, one.base) if cell]
    names = {f"{cell.benchmark} {listed(cell.params)}" for cell in cells}
    large = re.compile("dependencies/(chain|fan-in) .*[0-9]{5}")
    return "|".join(f"^{name.replace('.', '[.]')}$" for name in sorted(names) if not large.match(name))


def listed(params):
    """The parameters as opbench list prints them: without those that tell the numbers of one measurement apart."""
    return re.sub("level=[a-zA-Z]+;", "", params)


def run(arguments):
    if arguments == ["--pattern"]:
        return print(pattern())
    if any(argument.startswith("-") for argument in arguments):
        raise Complaint(USAGE, "takes results, such as results/targets.csv.gz, or --pattern alone")
    runs = [Run(path) for path in arguments or DEFAULT]
    ours = runs[0].ours
    targets = [*ratios(ours), *numbers(ours), EdgeMore("an edge more, ns", 30, ours[0])]
    print("\n".join(table(runs, targets)), flush=True)


if __name__ == "__main__":
    sys.exit(exit_code("targets", lambda: run(sys.argv[1:])))
