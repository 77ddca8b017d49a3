"""Writes a small result with invented numbers, for the tests only: everything a report can show, from a
seed."""

import csv
import json
import math
import random

HEADER = (
    "schema,run_id,block,process,value_index,family,benchmark,params,backend,workers,metric,unit,value,n,host"
).split(",")

# How dear each subject is, times some base; what it can do.
SUBJECTS = {
    "stealing": (1.0, "operations"),
    "threadpool": (2.0, "operations"),
    "stealing-bare": (0.6, "closures"),
    "foundation": (12.0, "operations"),
    "raw-dispatch": (2.5, "closures"),
    "rayon": (0.8, "closures"),
}
# What a program says of them, in its order.
ROLES = {
    "stealing": "ours",
    "threadpool": "ours",
    "stealing-bare": "bare",
    "foundation": "standingReference",
    "raw-dispatch": "standingReference",
    "serial": "baseline",
    "rayon": "peer",
}
# The metrics of which a test needs more than a name and a unit; of all of these a program says so.
METRICS = {
    "ns_per_op": ("time per operation", "less"),
    "cpu_ns_per_op": ("CPU time per operation", "less"),
    "metg50_ns": ("METG(50 %)", "less"),
    "efficiency": ("efficiency", "more"),
    "rank_error_mean": ("rank error, mean", "less"),
    "executed": ("executed", None),
}
PRIMARY = ("ns_per_op", "ns_per_cancel", "makespan_ns", "metg50_ns", "latency_p50_ns", "wait_p50_ns")
# Text that a page must show and never obey.
HOSTILE = "</script><img src=x onerror=alert(1)>"


def cell(benchmark, params, subject, workers):
    """A cell as the environment names it."""
    return {"benchmark": benchmark, "params": params, "backend": subject, "workers": workers}


def machine(cpu_model, cpus=2, host=""):
    """A machine as the environment names it."""
    return {
        "host": host,
        "cpu_model": cpu_model,
        "cpus_online": cpus,
        "cpus_allowed": cpus,
        "kernel": "6.1",
        "governor": "not visible",
        "spin": {"rounds_per_microsecond": 500.5},
        "started_at": "2026-01-01T00:00:00Z",
        "ended_at": "2026-01-01T01:00:00Z",
    }


class Writer:
    """Collects rows; a cell is measured once in every block."""

    def __init__(self, blocks, values, seed, run="20260101T000000Z-1"):
        self.rows, self.blocks, self.values, self.run = [], blocks, values, run
        self.random = random.Random(seed)
        self.cells, self.process = [], 0

    def cell(self, benchmark, params, arms, metrics, detail="", once=False):
        """`metrics` is (name, unit, value of the subject's dearness) triples."""
        for block in range(0 if once else 1, 1 if once else self.blocks + 1):
            disturbance = math.exp(self.random.gauss(0, 0.03))
            for subject, workers in arms:
                self.process += 1
                for index in range(1, self.values + 1):
                    for name, unit, value in metrics:
                        noise = 1 if once else disturbance * math.exp(self.random.gauss(0, 0.02))
                        number = value(SUBJECTS[subject][0], workers) * noise
                        self.add(benchmark, detail or params, (subject, workers), (name, unit, number), block, index)
        self.cells += [cell(benchmark, params, *arm) for arm in arms]

    def add(self, benchmark, params, arm, reading, block, index, count=1000):
        name, unit, number = reading
        cell = [*benchmark.split("/"), params, *arm]
        self.rows.append([2, self.run, block, self.process, index, *cell, name, unit, repr(float(number)), count, ""])

    def sweep(self, params, arms):
        """The rows of METG: efficiency = g / (g + overhead) at each granularity g."""
        for block in range(1, self.blocks + 1):
            for arm in arms:
                self.process += 1
                overhead = 2000 * SUBJECTS[arm[0]][0] * math.exp(self.random.gauss(0, 0.05))
                for index in range(1, self.values + 1):
                    for step in range(14):
                        work = 64_000 / math.sqrt(2) ** step * SUBJECTS[arm[0]][0]
                        # Different rounding in the last digit, as the repeated division of a real sweep has.
                        self.add(
                            "dependencies/metg",
                            f"{params};work_ns={work * (1 + 1e-15 * block)!r}",
                            arm,
                            ("efficiency", "ratio", work / (work + overhead)),
                            block,
                            index,
                        )
                    self.add("dependencies/metg", params, arm, ("metg50_ns", "ns", 2 * overhead), block, index)
        self.cells += [cell("dependencies/metg", params, *arm) for arm in arms]


def arms_of(capability, workers=(2,), subjects=SUBJECTS):
    wanted = ("operations",) if capability == "operations" else ("operations", "closures")
    return [
        (name, count)
        for name in subjects
        if SUBJECTS[name][1] in wanted
        for count in (workers if name in ("stealing", "threadpool") else (2,))
    ]


def time(base):
    return lambda dearness, workers: base * dearness


def fill(writer):
    """All families."""
    everyone, queues = arms_of("closures"), arms_of("operations")
    cost = lambda base: [("ns_per_op", "ns", time(base)), ("cpu_ns_per_op", "ns", time(1.6 * base))]
    writer.cell("overhead/external-add", "ops=10000", arms_of("closures", (1, 2)), cost(500))
    for producers in (1, 2, 4):
        writer.cell("overhead/contended-add", f"ops=10000;producers={producers}", everyone, cost(400 + 60 * producers))
    writer.cell("overhead/with-priority", "ops=10000", queues, cost(600))
    for benchmark in ("external-add", "with-priority"):
        writer.cell(
            f"overhead/{benchmark}",
            "ops=10000",
            queues,
            [
                ("allocations_per_op", "allocations", lambda d, w: 1 + d),
                ("bytes_per_op", "bytes", lambda d, w: 200 * d),
            ],
            once=True,
        )
    for length in (100, 1000):
        writer.cell("dependencies/chain", f"length={length}", everyone, cost(800 + length / 10))
    writer.cell("dependencies/graph", "imbalance=0;pattern=stencil_1d;steps=32;width=16;work_ns=0", everyone, cost(900))
    writer.cell("dependencies/graph", "imbalance=0;pattern=tree;steps=32;width=16;work_ns=0", everyone, cost(700))
    writer.sweep("imbalance=0;pattern=stencil_1d;steps=16;width=8", arms_of("closures"))
    efficiency = [
        ("efficiency", "ratio", lambda d, w: 1 / (1 + 0.03 * d)),
        ("makespan_ns", "ns", lambda d, w: 1e8 * (1 + 0.03 * d)),
        ("graham_efficiency", "ratio", lambda d, w: 0.55),
    ]
    writer.cell("dependencies/replay", f"graph={HOSTILE.replace('=', '_')};scale=4e-05", everyone, efficiency)
    ranks = [
        (f"rank_error_{name}", "operations", lambda d, w, factor=factor: (d - 1) * factor)
        for name, factor in (("mean", 3), ("p99", 20), ("max", 50))
    ]
    writer.cell("priority/rank-error", "ops=2000;work_ns=2000", queues, ranks)
    for place, level in enumerate(("veryLow", "low", "normal", "high", "veryHigh")):
        waits = [
            (f"wait_{name}_ns", "ns", lambda d, w, factor=factor: 1e6 * (5 - place) * factor + 1e5 * d)
            for name, factor in (("p50", 1), ("p99", 3), ("max", 5))
        ]
        writer.cell(
            "priority/wait-by-level",
            "ops=2000;work_ns=2000",
            queues,
            waits,
            detail=f"level={level};ops=2000;work_ns=2000",
        )
    writer.cell(
        "cancellation/cancel-all-pending", "held=suspension;pending=1000", queues, [("ns_per_cancel", "ns", time(300))]
    )
    writer.cell(
        "cancellation/late-starts",
        "links=none;ops=256;work_ns=1000",
        queues,
        [("late_starts", "operations", lambda d, w: 0)],
    )
    percentiles = [
        (f"latency_{name}_ns", "ns", lambda d, w, factor=factor: 4000 * factor * math.sqrt(d))
        for name, factor in (("p50", 1), ("p90", 2), ("p99", 9), ("max", 60))
    ]
    for load in (30, 60):
        writer.cell(
            "latency/open-loop", f"arrivals=exponential;load={load};samples=10000;work_ns=1000", everyone, percentiles
        )
    writer.cell("forkjoin/fib", "join=counter;n=15", everyone, cost(300))
    writer.cell(
        "blocking/sleepers",
        "bodies=16;sleep_ms=50",
        queues,
        [
            ("efficiency", "ratio", lambda d, w: 0.9 / math.sqrt(d)),
            ("makespan_ns", "ns", time(6e7)),
            ("threads_created", "threads", lambda d, w: 16),
        ],
    )
    writer.cell("idle/cpu", "ops=50;period_ms=10", queues, [("idle_cpu_percent", "percent", lambda d, w: 1.2 + d / 20)])


def environment(run, blocks, values, **outcome):
    """What a run says of itself, but for what it says of its subjects and metrics."""
    effort = {"blocks": blocks, "values": values, "lead_in": 30000000, "target": 5000000, "budget": (1 << 64) - 1}
    return {
        "schema": 3,
        "run_id": run,
        "started_at": "2026-01-01T00:00:00Z",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "toolchain": "Swift version 6.3",
        "optimisation": "release",
        "allocator": "system (glibc 2.36)",
        "machines": [machine("Invented CPU <b>")],
        "aslr": "2",
        "seed": 1,
        "effort": {**effort, "long_blocks": 8, "samples": 0.2},
        "arguments": ["/somewhere/opbench", "run", "--backend", "all"],
        "cells": [],
        "peers": {},
        "strategies": {},
        "performance_events": {"hardware": "not available", "software": "available"},
        "outcome": {
            "seconds": 12.5,
            "steal_share": 0.013,
            "cpu_pressure_seconds": 1.5,
            "swapped_pages": 0,
            "repeats": [],
            "was_interrupted": False,
            "spent": [],
            "excluded_blocks": [],
            "disturbed_blocks": outcome.get("excluded_blocks", []),
            "failures": [],
            **outcome,
        },
    }


def facts(writer):
    """What the program says of its subjects and of the metrics in its rows."""
    times = {}
    for row in writer.rows:
        times.setdefault(f"{row[5]}/{row[6]}", set()).add(row[10])
    primary = {name: next((one for one in PRIMARY if one in metrics), None) for name, metrics in times.items()}
    return {
        "subjects": [{"name": name, "role": role, "summary": f"the {name} <i>", "gives_up": []} for name, role in ROLES.items()],
        "reference": "foundation",
        "metrics": {
            name: {"words": words} | ({"better": better} if better else {}) for name, (words, better) in METRICS.items()
        },
        "primary_times": {name: metric for name, metric in primary.items() if metric},
    }


def write(
    path, blocks=10, values=2, seed=7, run="20260101T000000Z-1", filling=fill, outcome=None, with_environment=True
):
    """Writes `path` and its environment; returns the path."""
    writer = Writer(blocks, values, seed, run)
    filling(writer)
    random.Random(seed).shuffle(writer.rows)
    record = environment(run, blocks, values, **(OUTCOME if outcome is None else outcome))
    record |= {"cells": writer.cells, "peers": {"rayon": "rayon 1.10"}, **facts(writer)}
    return save(path, writer.rows, record if with_environment else None)


def save(path, rows, record):
    """Writes rows, and their environment beside them."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    if record:
        with open(str(path).removesuffix(".csv") + ".env.json", "w", encoding="utf-8") as file:
            json.dump(record, file)
    return path


OUTCOME = {
    "excluded_blocks": [
        {"benchmark": "overhead/external-add", "block": 3, "params": "ops=10000"},
        {"benchmark": "priority/wait-by-level", "block": 2, "params": "ops=2000;work_ns=2000"},
    ],
    "failures": [
        {
            "backend": "foundation",
            "benchmark": "cancellation/late-starts",
            "params": "links=none;ops=256;work_ns=1000",
            "reason": f"the process was killed by signal 11 {HOSTILE}",
            "workers": 2,
        }
    ],
}
