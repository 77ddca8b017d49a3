#!/usr/bin/env python3
"""Python's threads as a peer of opbench: opbench run --peer python=Examples/PythonPeer/peer.py. The page
YourRuntime.md of the laboratory walks through this file, and PeerProtocol.md has the protocol."""
import collections, os, platform, queue, resource, sys, threading, time
from functools import partial

# -- The scheduler: threads that take tasks from one list. A thread that waits runs tasks meanwhile, the main one too.
class Pool:
    def __init__(self, workers):
        # To append to a list or a deque, and to take from it, is atomic; so is a queue of wake-ups.
        self.tasks, self.ready = collections.deque(), queue.SimpleQueue()
        for _ in range(workers - 1):
            threading.Thread(target=self.work, daemon=True).start()
    def spawn(self, task):
        self.tasks.append(task)
        self.ready.put(True)
    def work(self):
        while self.ready.get():
            self.run_one()
    def run_one(self):
        try:
            task = self.tasks.pop()
        except IndexError:  # Another thread has it.
            return False
        task()
        return True
    def run_until(self, done, count):
        while len(done) < count:
            self.run_one() or time.sleep(0)

# -- What is asked: key=value
class Failure(Exception): pass  # What cannot be carried out, or went wrong, in one line.

def check(holds, otherwise):
    if not holds:
        raise Failure(otherwise)

class Request(dict):
    def __missing__(self, key):
        raise Failure(f"the request has no {key}")
    def count(self, key, least=0):
        check(self[key].isascii() and self[key].isdigit() and least <= int(self[key]) < 1 << 64,
              f"{key} is no number from {int(least)} on in the request")
        return int(self[key])

# -- What is timed
METRICS = (("ns_per_op", "ns"), ("cpu_ns_per_op", "ns"),
           ("voluntary_switches_per_op", "switches"), ("involuntary_switches_per_op", "switches"))

def now():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic_ns(), time.process_time_ns(), usage.ru_nvcsw, usage.ru_nivcsw

def rounds(operations, once, verify, edges=0, more=lambda wall, repeats: []):
    """Gives a function that makes a value of some repeats: `once` is timed, `verify` raises when it did not."""
    def measure(repeats):
        passed, count = [0, 0, 0, 0], operations * repeats
        for _ in range(repeats):
            start = now()
            once()
            passed = [sum + end - begin for sum, begin, end in zip(passed, start, now())]
            verify()
        readings = [(name, unit, value / count, count) for (name, unit), value in zip(METRICS, passed)]
        per_edge = [("ns_per_edge", "ns", passed[0] / (edges * repeats), edges * repeats)] if edges else []
        return readings + per_edge + more(passed[0], repeats)
    return measure

# -- Benchmarks: each prepares what is not timed
def external_add(request, pool):
    """Empty operations, added by a thread that then waits."""
    count = request.count("param.ops", 1)
    ran, done = [0] * count, []
    def body(index):
        ran[index] += 1
        done.append(index)
    def once():
        for index in range(count):
            pool.spawn(partial(body, index))
        pool.run_until(done, count)
    def verify():
        check(ran == [1] * count, "an operation did not run once")
        ran[:] = [0] * count
        done.clear()
    return rounds(count, once, verify)

def graph(request, pool):
    """A count of unfinished inputs for each task: who brings one to zero adds the task."""
    try:
        with open(request["graph"], encoding="ascii") as lines:
            tasks = [(float(line.split()[0]), [int(text) for text in line.split()[1:]]) for line in lines]
    except (OSError, ValueError, IndexError) as error:
        raise Failure(f"the graph cannot be read: {error}") from None
    count, lock, inputs = len(tasks), threading.Lock(), [some for _, some in tasks]
    dependents = [[] for _ in tasks]
    for task, one in ((task, one) for task, some in enumerate(inputs) for one in some):
        check(0 <= one < task, f"task {task} depends on a later one")
        dependents[one].append(task)
    words, run, waiting, wrong, done = [0] * count, [0], [], [], []
    def body(task):
        # Each task reads the words of its inputs, which they have written in this run, and writes its own.
        if words[task] == run[0] or any(words[one] != run[0] for one in inputs[task]):
            wrong.append(task)
        words[task] = run[0]
        for one in dependents[task]:
            with lock:
                waiting[one] -= 1
                is_ready = waiting[one] == 0
            if is_ready:
                pool.spawn(partial(body, one))
        done.append(task)
    def once():
        run[0] += 1
        waiting[:] = map(len, inputs)
        for task in range(count):
            if not inputs[task]:
                pool.spawn(partial(body, task))
        pool.run_until(done, count)
    def verify():
        check(not wrong and words == [run[0]] * count, "a task did not run once, or before an input")
        done.clear()
    return rounds(count, once, verify, sum(map(len, inputs)))

def fib(request, pool):
    """A task for each call but the last of a call, with which its parent goes on; beside it the plain recursion."""
    root, tasks, expected, results = request.count("param.n"), request.count("tasks", 1), request.count("expected"), []
    def forked(n):
        if n < 2:
            return n
        first = []
        pool.spawn(lambda: first.append(forked(n - 1)))
        second = forked(n - 2)
        pool.run_until(first, 1)
        return first[0] + second
    def plain(n):
        return n if n < 2 else plain(n - 1) + plain(n - 2)
    def count(n):
        return 1 if n < 2 else 1 + count(n - 1) + count(n - 2)
    began, found = time.monotonic_ns(), plain(root)
    alone = time.monotonic_ns() - began
    check((found, count(root)) == (expected, tasks), f"the plain recursion gives {found} with {count(root)} tasks")
    def verify():
        check(results.pop() == expected, f"the result is not {expected}")
    return rounds(tasks, lambda: results.append(forked(root)), verify,
                  more=lambda wall, repeats: [("speedup", "ratio", alone * repeats / wall, repeats)])

BENCHMARKS = {
    "overhead/external-add": external_add, "forkjoin/fib": fib,
    "dependencies/fan-out": graph, "dependencies/diamond": graph, "dependencies/tree": graph,
}

# -- The two modes
def calibrate(measure, target, limit, lead_in):
    born, repeats, answers = time.monotonic_ns(), 1, []
    while measure(1) and time.monotonic_ns() - born < lead_in:
        pass
    while len(answers) < 3:
        _, _, value, count = measure(repeats)[0]
        needed = min(limit, max(1, -int(-target * repeats // (value * count))))
        if value * count >= target or repeats >= limit:
            answers.append(needed)
        repeats = min(needed, repeats * 10)
    print("repeats", sorted(answers)[1], sep="\t")

def take(measure, repeats, more, values, lead_in, budget):
    born, taken = time.monotonic_ns(), []
    while lead_in and measure(repeats) and time.monotonic_ns() - born < lead_in:
        pass
    start = time.monotonic_ns()
    while len(taken) < values and (not taken or time.monotonic_ns() - start < budget):
        taken.append(measure(repeats + more * (len(taken) % 2)))
    for place, readings in enumerate(taken, 1):
        for name, unit, value, count in readings:
            print("reading", place, name, unit, value, count, "", sep="\t")

MODES = {"calibrate": (calibrate, ("target", "limit", "lead_in")),
         "time": (take, ("repeats", "more", "values", "lead_in", "budget"))}

def answer(request):
    if "place" in request:
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpus[request.count("place") % len(cpus)]})
        os.sched_setaffinity(0, cpus)
    benchmark, mode, pool = request["benchmark"], request["mode"], Pool(request.count("workers", 1))
    check(benchmark in BENCHMARKS and mode in MODES, f"there is no {benchmark}, or no mode {mode}")
    act, keys = MODES[mode]
    numbers = {key: request.count(key, key in ("repeats", "values", "limit")) for key in keys}
    act(BENCHMARKS[benchmark](request, pool), **numbers)
    print("end")

threading.stack_size(64 << 20)
sys.setrecursionlimit(1_000_000)
if sys.argv[1:] == ["version"]:
    print("opbench-peer\t1", f"version\tPython {platform.python_version()}, threads", sep="\n")
    print(*(f"benchmark\t{name}" for name in BENCHMARKS), "end", sep="\n")
    sys.exit()
try:
    check(all("=" in argument for argument in sys.argv[1:]), f"{sys.argv[1:]} is not key=value")
    answer(Request(argument.split("=", 1) for argument in sys.argv[1:]))
except Failure as failure:
    print("failure", " ".join(str(failure).split()), sep="\t")
