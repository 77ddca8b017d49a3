#!/usr/bin/env python3
"""What the library is to reach, and what runs say: scripts/results/targets.py [X.csv or X.csv.gz ...], default targets.csv.gz and the cost curves in
results/. scripts/results/measure-targets makes the first, scripts/results/cost-curves the second. scripts/results/targets.py --pattern prints which benchmarks the targets need.

What the first result does not hold is looked for in the next. Blocks that the run excluded do not count. A line for each target: the
ratio of two subjects or two benchmarks (paired by block, 95 % interval by order statistics), or a number of its own; the number of blocks; and
whether the limit is met (the whole interval on the right side), missed (the whole interval on the wrong one), or within the interval. Fewer than
six blocks have no interval and decide nothing; allocations are counted exactly, in one block.
"""

import collections
import csv
import gzip
import json
import math
import re
import statistics
import sys

GRAPH = "imbalance=0;pattern={};{}steps=32;width=16;work_ns=0"
STENCIL = ("dependencies/graph", GRAPH.format("stencil_1d", ""))
SHAPES = [
    ("chain", ("dependencies/chain", "length=1000")),
    ("fan-in", ("dependencies/fan-in", "width=1000")),
    ("fan-out", ("dependencies/fan-out", "width=400")),
    ("diamond", ("dependencies/diamond", "diamonds=45;width=8")),
    ("tree", ("dependencies/tree", "leaves=256")),
    ("stencil_1d", STENCIL),
    ("fft", ("dependencies/graph", GRAPH.format("fft", ""))),
    ("nearest", ("dependencies/graph", GRAPH.format("nearest", "radix=5;"))),
]
DENSE = [
    ("random-dag 0.1", ("dependencies/random-dag", "layers=16;probability=0.1;tasks=512"), 1.2),
    ("random-dag 0.5", ("dependencies/random-dag", "layers=16;probability=0.5;tasks=512"), 2.5),
    ("all_to_all 16 x 32", ("dependencies/graph", GRAPH.format("all_to_all", "")), 2.0),
]
EXTERNAL = ("overhead/external-add", "ops=10000")


def ratios(ours):
    """Label, what, metric, subject, compared with (subject, what, metric), limit; `ours` are our queues, the default first."""
    default, *others = ours
    for name, what in SHAPES:
        yield f"{name} / raw Dispatch", what, "ns_per_op", default, ("raw-dispatch", what), 0.8
        yield f"{name} / tbb-flow", what, "ns_per_op", default, ("tbb-flow", what), 0.7
    for name, what, limit in DENSE:
        yield f"{name} / raw Dispatch", what, "ns_per_op", default, ("raw-dispatch", what), limit
    for name, what in SHAPES:
        for pool in others:
            yield f"{name}: {pool} / {default}", what, "ns_per_op", pool, (default, what), 1.3
        yield f"{name}: contract's price, {default} / {default}-bare", what, "ns_per_op", default, (f"{default}-bare", what), 2.0
    metg = ("dependencies/metg", "imbalance=0;pattern=stencil_1d;steps=16;width=8")
    yield "METG(50 %) stencil_1d / raw Dispatch", metg, "metg50_ns", default, ("raw-dispatch", metg), 1.0
    batch = ("overhead/external-batch", "batch=1000;ops=10000")
    yield "external-batch / external-add", batch, "ns_per_op", default, (default, EXTERNAL), 0.8
    yield "external-add / rayon", EXTERNAL, "ns_per_op", default, ("rayon", EXTERNAL), 0.8
    yield "local-add / rayon", ("overhead/local-add", "ops=10000"), "ns_per_op", default, (
        "rayon", ("overhead/local-add", "ops=10000")), 0.8
    contended = ("overhead/contended-add", "ops=10000;producers=2")
    yield "contended-add / rayon", contended, "ns_per_op", default, ("rayon", contended), 0.8
    yield "with-completion / external-add", ("overhead/with-completion", "ops=10000"), "ns_per_op", default, (
        default, EXTERNAL), 2.0
    yield "limited to 1 / external-add", ("overhead/limited", "max=1;ops=10000"), "ns_per_op", default, (
        default, EXTERNAL), 2.0
    for name, parameters in (("fib", "join=counter;n=15"), ("skynet", "join=counter;leaves=1000")):
        what = (f"forkjoin/{name}", parameters)
        yield f"{name} / Go", what, "ns_per_op", default, ("go", what), 0.9
    for load in (30, 60, 90):
        what = ("latency/open-loop", f"arrivals=exponential;load={load};samples=100000;work_ns=1000")
        for metric in ("latency_p99_ns", "latency_p999_ns"):
            yield f"open-loop {load} % {metric[8:-3]} / raw Dispatch", what, metric, default, ("raw-dispatch", what), 1.0
    ping = ("latency/ping-pong", "queues=2")
    for metric in ("latency_p50_ns", "latency_p90_ns"):
        yield f"ping-pong {metric[8:-3]} / raw Dispatch", ping, metric, default, ("raw-dispatch", ping), 1.5
    for what in (("latency/wake-busy", "interval_us=300;samples=1000;work_ns=5000"), ("latency/wake-idle", "samples=1000")):
        yield f"{what[0][8:]} p90 / raw Dispatch", what, "latency_p90_ns", default, ("raw-dispatch", what), 1.1
    for name, size in (("chain", "length"), ("fan-in", "width")):
        small = (f"dependencies/{name}", f"{size}=1000")
        for count in (10_000, 100_000, 1_000_000):
            what = (f"dependencies/{name}", f"{size}={count}")
            yield f"{name} of {count:,} / of 1,000, per operation", what, "ns_per_op", default, (default, small), 1.5
    stream = "level=veryLow;lowest=10;ops=2000;work_ns=2000"
    for subject in ours:
        yield f"starvation p50, fairness interval 16: {subject} / Foundation", (
            "priority/starvation", f"backlog=16;fairness_interval=16;{stream}"), "wait_p50_ns", subject, (
            "foundation", ("priority/starvation", f"backlog=16;{stream}")), 3.0


def numbers(ours):
    """Label, what, metric, subject, limit."""
    default = ours[0]
    yield "METG(50 %) stencil_1d, ns", (
        "dependencies/metg", "imbalance=0;pattern=stencil_1d;steps=16;width=8"), "metg50_ns", default, 1500
    for name, what, limit in (
        ("stencil_1d", STENCIL, 3), ("tree", dict(SHAPES)["tree"], 3), ("chain", dict(SHAPES)["chain"], 2)):
        yield f"{name}, allocations per operation", what, "allocations_per_op", default, limit
    for held in ("dependency", "suspension"):
        yield f"cancel-all-pending ({held}), ns per operation", (
            "cancellation/cancel-all-pending", f"held={held};pending=1000"), "ns_per_cancel", default, 150
    for subject in ours:
        yield f"sleepers 16 x 50 ms on {subject}, ns", (
            "blocking/sleepers", "bodies=16;sleep_ms=50"), "makespan_ns", subject, 60e6
    for subject in ours:
        yield f"rank error, fairness interval 0: mean on {subject}", (
            "priority/rank-error", "fairness_interval=0;ops=2000;work_ns=2000"), "rank_error_mean", subject, (
            1 if subject == default else 0)


def edge_more(cells, subject):
    """What an edge more costs, ns, for each block: the slope of the cost curve from some 4 dependencies per operation to some 64."""
    few, many = (("dependencies/graph", f"imbalance=0;pattern=nearest;radix={radix};steps=8;width=64;work_ns=0") for radix in (4, 64))
    operation = [find(cells, what, "ns_per_op", subject) for what in (few, many)]
    edge = [find(cells, what, "ns_per_edge", subject) for what in (few, many)]
    slopes = []
    for block in set.intersection(*(set(cell) for cell in operation + edge)):
        edges = [one[block] / other[block] for one, other in zip(operation, edge)]
        slopes.append((operation[1][block] - operation[0][block]) / (edges[1] - edges[0]))
    return slopes


def fail(code, text):
    print(f"targets: {text}", file=sys.stderr)
    sys.exit(code)


def read(path, excluded):
    """Medians of processes: (benchmark, parameters, metric, subject) -> block -> number, for the widest number of workers."""
    values = collections.defaultdict(list)
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            key = (f"{row['family']}/{row['benchmark']}", row["params"], row["metric"], row["backend"])
            # Other guests of the host take time, not allocations.
            if (key[0], listed(key[1]), int(row["block"])) in excluded and "allocations" not in key[2]:
                continue
            values[key, int(row["workers"] or 0), int(row["block"])].append(float(row["value"]))
    widest = {}
    for key, workers, _ in values:
        widest[key] = max(widest.get(key, 0), workers)
    cells = collections.defaultdict(dict)
    for (key, workers, block), found in values.items():
        if workers == widest[key]:
            cells[key][block] = statistics.median(found)
    return cells


def environment(path):
    """What the run wrote beside its result."""
    beside = path.removesuffix(".gz").removesuffix(".csv") + ".env.json"
    try:
        with open(beside, encoding="utf-8") as file:
            found = json.load(file)
        ours = [one["name"] for one in found["subjects"] if one["role"] == "ours"]
        excluded = {(one["benchmark"], one["params"], one["block"]) for one in found["outcome"].get("excluded_blocks", [])}
    except OSError as error:
        fail(66, f"{beside}, which names the subjects and the excluded blocks of {path}: {error.strerror}")
    except (AttributeError, KeyError, TypeError, ValueError):
        fail(65, f"{beside} is no environment of opbench run")
    said = f"{found.get('started_at', '')[:10]}, commit {found.get('commit', '')[:7]}, {found.get('cpu_model', 'unknown processor')}"
    scenarios = {re.sub(" on [^ ]+", "", cell) for cell in found.get("cells", [])}
    blocks = len(scenarios) * found.get("effort", {}).get("blocks", 0)
    said += f"; {len(excluded)} of {blocks} blocks lost CPU time to other guests of the host and do not count"
    return ours or fail(65, f"{beside} names no subject of role ours"), excluded, said


def interval(numbers):
    """The median, and its 95 % interval by order statistics (None for fewer than six)."""
    ordered = sorted(numbers)
    count = len(ordered)
    for rank in range(count // 2, 0, -1):
        tail = sum(math.comb(count, k) for k in range(rank)) / 2**count
        if tail <= 0.025:
            return statistics.median(ordered), (ordered[rank - 1], ordered[count - rank])
    return statistics.median(ordered), None


def find(cells, what, metric, subject):
    return cells.get((*what, metric, subject), {})


def listed(parameters):
    """The parameters as opbench list prints them: without those that tell the numbers of one measurement apart."""
    return re.sub("level=[a-zA-Z]+;", "", parameters)


def pattern():
    """The benchmarks that one run needs; the cost curves hold the larger sizes."""
    ours = ["stealing", "threadpool", "dispatch"]
    needed = {what for _, one, _, _, (_, other), _ in ratios(ours) for what in (one, other)}
    needed |= {what for _, what, *_ in numbers(ours)}
    names = {f"{name} {listed(parameters)}" for name, parameters in needed}
    large = re.compile("dependencies/(chain|fan-in) .*[0-9]{5}")
    return "|".join(f"^{name.replace('.', '[.]')}$" for name in sorted(names) if not large.match(name))


def verdict(value, bounds, limit, is_exact):
    if not bounds and not is_exact:
        return "too few blocks"
    low, high = bounds or (value, value)
    return "met" if high <= limit else "missed" if low > limit else "within the interval"


def main():
    if sys.argv[1:] == ["--pattern"]:
        return print(pattern())
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        fail(64, "takes results, such as results/targets.csv.gz, or --pattern alone")
    paths = sys.argv[1:] or [f"results/{name}.csv.gz" for name in ("targets", "cost-curves/sizes")]
    environments = [environment(path) for path in paths]
    ours = environments[0][0]
    runs = []
    for path, (_, excluded, said) in zip(paths, environments):
        try:
            runs.append(read(path, excluded))
            print(f"{path}: {said}")
        except OSError as error:
            fail(66, f"{path}: {error.strerror}")
        except (KeyError, ValueError, EOFError, gzip.BadGzipFile):
            fail(65, f"{path} is no result of opbench run")
    lines, tally = [], collections.Counter()
    for label, what, metric, subject, (other, base), limit in ratios(ours):
        logs = []
        # Two numbers of one ratio come from one run.
        for cells in runs:
            mine, theirs = find(cells, what, metric, subject), find(cells, base, metric, other)
            logs = logs or [mine[block] / theirs[block] for block in mine if theirs.get(block, 0) > 0]
        lines.append((label, logs, limit, "x"))
    for label, what, metric, subject, limit in numbers(ours):
        found = (list(find(cells, what, metric, subject).values()) for cells in runs)
        lines.append((label, next(filter(None, found), []), limit, ""))
    slopes = (edge_more(cells, ours[0]) for cells in runs)
    lines.append(("an edge more, ns", next(filter(None, slopes), []), 30, ""))
    print(f"\n{'target':<66} {'number':>10}  {'95 % interval':<22} {'blocks':>6} {'limit':>8}  ")
    for label, found, limit, sign in lines:
        if not found:
            tally["not measured"] += 1
            print(f"{label:<66} {'-':>10}  {'':<22} {0:>6} {sign + format(limit, 'g'):>8}  not measured")
            continue
        value, bounds = interval(found)
        word = verdict(value, bounds, limit, "allocations" in label)
        tally[word] += 1
        between = f"[{bounds[0]:.4g}, {bounds[1]:.4g}]" if bounds else ""
        print(f"{label:<66} {sign + format(value, '.4g'):>10}  {between:<22} {len(found):>6} {sign + format(limit, 'g'):>8}  {word}")
    print("\n" + ", ".join(f"{word}: {count}" for word, count in tally.items()))


if __name__ == "__main__":
    main()
