"""Writes a result of `opbench ablate` with invented numbers, for the tests only: the default strategy, single
changes of it whose worth is known, and what else such a result may hold."""

import math
import random

import synthetic

BASE = "stealing"
# (family/benchmark, params) with the time that stands for it.
SCENARIOS = (
    ("overhead/external-add", "ops=10000"),
    ("overhead/local-add", "ops=10000"),
    ("dependencies/chain", "length=1000"),
    ("dependencies/fan-out", "width=400"),
    ("dependencies/graph", "pattern=fft"),
    ("dependencies/graph", "pattern=stencil_1d"),
    ("forkjoin/fib", "n=15"),
    ("forkjoin/skynet", "leaves=1000"),
    ("latency/wake-idle", "samples=1000"),
)
DECISIONS = {
    "own": (
        "which of its own jobs a worker runs next",
        "fifo",
        {"fifo": "the oldest", "lifo": "the newest", "lifo:N": "the newest, and the oldest at every Nth turn"},
        (20,),
    ),
    "steal": (
        "how many jobs a worker takes from another one at once",
        "one",
        {"one": "one", "half": "half of what the other one has", "upto:N": "at most N"},
        (),
    ),
    "waking": (
        "how many threads are to search when jobs come in",
        "one",
        {"one": "one", "all": "as many as there are workers"},
        (),
    ),
    "priorities": ("whether the jobs of urgent operations go first", "perworker", {"ignored": "no"}, (20,)),
    "outside": ("after how many jobs that it added itself a worker looks outside", "4", {"N": "after N jobs"}, ()),
    "order": ("which of the queued jobs goes first", "priority", {"fifo": "the oldest"}, (20,)),
}
# What each change is worth in which families; elsewhere 1. The noise of a process is that of the default but where
# named.
WORTH = {
    "own=lifo": {"forkjoin": 0.8},
    "own=lifo:8": {},
    "steal=half": {"overhead": 1.2, "dependencies": 1.2, "forkjoin": 1.2, "latency": 1.2},
    "steal=upto:4": {},
    "waking=all": {"latency": 0.85, "overhead": 1.3},
    "priorities=ignored": {},
}
NOISY = ("priorities=ignored",)


def name(strategy, base=BASE):
    return f"{base}({strategy})" if strategy else base


def summary(strategy):
    rows = sorted(
        {
            row
            for pair in strategy.split(";")
            if pair.split("=")[0] in DECISIONS and pair.split("=")[1] != "half"
            for row in DECISIONS[pair.split("=")[0]][3]
        }
    )
    return {"role": "ours", "summary": f"our operation queue, with {strategy}", "gives_up": rows[:1]}


def write(
    path,
    worth=WORTH,
    scenarios=SCENARIOS,
    blocks=30,
    noise=0.02,
    seed=1,
    run="20260101T000000Z-9",
    extra=(),
    cpus=2,
    **facts,
):
    """Writes `path` and its environment; `extra` is (subject, workers, factor) of more arms, on the first two
    scenarios. `blocks` is a number, or a function of scenario and change."""
    own = random.Random(seed)
    rows, process = [], 0
    count = blocks if callable(blocks) else lambda scenario, strategy: blocks
    for place, (benchmark, params) in enumerate(scenarios):
        family, short = benchmark.split("/")
        arms = [("", BASE, 2, 1.0), *((one, name(one), 2, worth[one].get(family, 1.0)) for one in worth)]
        arms += [("", subject, workers, factor) for subject, workers, factor in extra if place < 2]
        most = max(count((benchmark, params), one[0]) for one in arms)
        metric = "latency_p50_ns" if family == "latency" else "ns_per_op"
        for block in range(1, most + 1):
            disturbance = math.exp(own.gauss(0, 0.05))
            for strategy, subject, workers, factor in arms:
                if strategy and block > count((benchmark, params), strategy):
                    continue
                process += 1
                spread = 0.4 if strategy in NOISY else noise
                value = 200 * (place + 1) * factor * disturbance * math.exp(own.gauss(0, spread))
                rows.append(
                    [2, run, block, process, 1, family, short, params, subject, workers, metric, "ns", repr(value), 1, ""]
                )
    subjects = {row[8] for row in rows}
    plain = {"role": "ours", "summary": "our operation queue", "gives_up": []}
    listed = [{"name": one, **plain} for one in ("stealing", "threadpool")]
    listed += [{"name": name(one), **summary(one)} for one in worth]
    listed += [
        {"name": one, **(summary(one.split("(")[1][:-1]) if "(" in one else plain)}
        for one in sorted(subjects - {one["name"] for one in listed})
    ]
    strategies = {
        base: [
            {
                "name": decision,
                "summary": words,
                "usual": usual,
                "choices": [
                    {"text": text, "summary": said, "gives_up": []} | ({"range": [2, 1000]} if text[-1] == "N" else {})
                    for text, said in choices.items()
                ],
            }
            for decision, (words, usual, choices, _) in DECISIONS.items()
            if (decision == "order") == (base == "threadpool")
        ]
        for base in ("stealing", "threadpool")
    }
    record = synthetic.environment(run, blocks=6, values=4) | {
        "machines": [synthetic.machine("Invented CPU", cpus)],
        "arguments": ["/somewhere/opbench", "ablate", "--output", "/somewhere/x.csv"],
        "subjects": listed,
        "reference": BASE,
        "metrics": {"ns_per_op": {"words": "time per operation", "better": "less"}},
        "primary_times": {row[5] + "/" + row[6]: row[10] for row in rows},
        "strategies": strategies,
    }
    return synthetic.save(path, rows, record | facts)
