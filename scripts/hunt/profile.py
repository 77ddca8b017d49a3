#!/usr/bin/env python3
"""Where the instructions of an operation go.

scripts/hunt/profile.py FAMILY/BENCHMARK [PARAMETERS] [--backend NAME ...]

Runs the release build of opbench under callgrind, at one worker, with 2 values and with 22, and prints the difference
per operation for each function: starting the process and its first repeats do not count. With several backends a column
for each. Counts of instructions hardly vary; what they do not show is time spent waiting for memory that another CPU
has written. `opbench list BENCHMARK` names the parameters.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY = 2, 22
LINE = re.compile(r"\s*([\d,]+) (?:\([^)]*\)\s+)?(\S.*)")
# What a function does, by its name; the first match counts.
STEPS = [
    ("allocator", re.compile(r"^(_int_|malloc|free|calloc|realloc|operator new|unlink_chunk|swift_slow|\$?swift_(alloc|dealloc)|tcache)")),
    ("reference counting", re.compile(r"swift_(retain|release|bridge)|RefCount|swift_.*[rR]elease")),
    ("making", re.compile(r"BlockOperation\.(_make|scheduled|init)|Operation\.init|Spares|SpareOperations")),
    ("dependencies", re.compile(r"insertDependency|DependencyList|linkDependencies|releaseDependencies|Edge|SpareChunks|hasDependenc")),
    ("adding", re.compile(r"OperationQueue\.|Registry|Segment|Arrivals|Controller|Admission|claimForQueue|becomeStartable")),
    ("releasing dependents", re.compile(r"releaseDependents|Operation\.\(release |ReadyBatch|Handover")),
    ("running and finishing", re.compile(r"Operation(Core|Jobs|TraceEvents)\.")),
    ("pool", re.compile(r"StealingBackend|ThreadPoolBackend|DispatchBackend|Primitives\.|dispatch_|libdispatch")),
]
OTHER = "benchmark and the rest"


def stop(message, code):
    print(f"profile: {message}", file=sys.stderr)
    sys.exit(code)


def counted(program, folder, request, values):
    """Counts the instructions of each function, and how many operations a value has."""
    request = dict(request, mode={"time": {"repeats": 1, "values": values, "leadIn": 0, "budget": 2**63, "more": 0, "countsEvents": False, "takesTurns": False}})
    out = os.path.join(folder, "callgrind.out")
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--fair-sched=yes", program, "measure", json.dumps(request)],
        capture_output=True, text=True, env=dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1"))
    readings = [line.split("\t") for line in run.stdout.splitlines() if line.startswith("reading\t")]
    sizes = [int(fields[5]) for fields in readings if fields[2].startswith(("ns_per_op", "ns_per_cancel", "latency"))]
    if run.returncode or not sizes:
        said = [line for line in (run.stdout + run.stderr).splitlines() if line.strip() and not line.startswith(("==", "reading"))]
        stop(f"{request['family']}/{request['benchmark']} ({request['parameters']}) on {request['subject']} did not run: "
             f"{'there is no such benchmark or backend' if said[-1:] in ([], ['absent']) else said[-1]}; `opbench list {request['benchmark']}` names parameters and backends", 64)
    listing = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", out], capture_output=True, text=True, check=True).stdout
    functions = collections.Counter()
    for line in listing.split("file:function", 1)[-1].splitlines():
        match = LINE.match(line)
        if match:
            name = re.sub(r" \[\S*\]$", "", match[2]).split(":", 1)[-1]
            functions[re.sub(r"'\d+$", "", name)] += int(match[1].replace(",", ""))
    return functions, sizes[0]


def demangled(names):
    tool = shutil.which("swift-demangle")
    command = [tool] if tool else ["swift", "demangle"]
    given = "\n".join(name if name.startswith("$s") else name.replace("$", "", 1) for name in names)
    out = subprocess.run(command + ["-compact"], input=given, capture_output=True, text=True).stdout.splitlines()
    return dict(zip(names, out)) if len(out) == len(names) else {name: name for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", metavar="FAMILY/BENCHMARK")
    parser.add_argument("parameters", nargs="?", default="", metavar="PARAMETERS", help="as in a result, such as 'steps=32;width=16'")
    parser.add_argument("--backend", action="append", metavar="NAME", help="a subject of opbench; may be repeated (default: stealing)")
    parser.add_argument("--functions", type=int, default=20, metavar="N", help="how many functions to print (default: 20)")
    parser.add_argument("--program", default=".build/release/opbench", metavar="FILE", help="the opbench to run (default: %(default)s)")
    try:
        options = parser.parse_args()
    except SystemExit as end:
        sys.exit(64 if end.code else 0)
    if options.benchmark.count("/") != 1:
        stop(f"'{options.benchmark}' is not FAMILY/BENCHMARK, such as dependencies/tree", 64)
    if not os.access(options.program, os.X_OK):
        stop(f"there is no program {options.program}: run `swift build -c release`, or name one with --program", 66)
    for tool in ["valgrind", "callgrind_annotate", "strip", "swift"]:
        if not shutil.which(tool):
            stop(f"{tool} is missing: scripts/setup installs it", 69)

    family, benchmark = options.benchmark.split("/")
    backends = options.backend or ["stealing"]
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        # valgrind may fail to read the debug information of a newer compiler.
        copy = os.path.join(folder, "opbench")
        subprocess.run(["strip", "-g", "-o", copy, options.program], check=True)
        for backend in backends:
            request = {
                "family": family, "benchmark": benchmark, "parameters": options.parameters, "subject": backend, "workers": 1,
                "seed": 1, "spin": {"roundsPerMicrosecond": 100}, "context": "", "allocator": "system"}
            many, size = counted(copy, folder, request, MANY)
            few, _ = counted(copy, folder, request, FEW)
            columns.append({name: (many[name] - few[name]) / (MANY - FEW) / size for name in many})

    names = sorted(set().union(*columns), key=lambda name: -max(column.get(name, 0) for column in columns))
    names = [name for name in names if name != "PROGRAM TOTALS"]
    readable = demangled(names)
    steps = {name: next((step for step, pattern in STEPS if pattern.search(readable[name])), OTHER) for name in names}
    print(f"{options.benchmark} {options.parameters}: instructions per operation, one worker\n")
    print("".join(f"{backend:>16}" for backend in backends))
    for step in [step for step, _ in STEPS] + [OTHER]:
        sums = [sum(value for name, value in column.items() if steps.get(name) == step) for column in columns]
        print("".join(f"{value:16.0f}" for value in sums) + f"  {step}")
    print("".join(f"{sum(value for name, value in column.items() if name in steps):16.0f}" for column in columns) + "  all\n")
    for name in names[:options.functions]:
        print("".join(f"{column.get(name, 0):16.0f}" for column in columns) + f"  {readable[name][:110]}")


main()
