#!/usr/bin/env python3
"""What narrows the intervals of a run: an experiment for each lever. docs/decisions says what was decided.

scripts/results/levers.py estimators            coverage and width of the intervals of a ratio, on simulated noise
scripts/results/levers.py widths X.csv          the width of the same intervals in a result
scripts/results/levers.py stopping              how often an interval holds the truth when the run stops where it is narrow
scripts/results/levers.py values X.csv          the scatter and level of a process's first values, beside all of its values
scripts/results/levers.py allocation X.csv      which rule gives the time of a run away best, from the scatter and costs of a run
scripts/results/levers.py patterns X.csv        which graph patterns tell most of the others, over the subjects of a result

Needs NumPy. A result may be X.csv or X.csv.gz, with its environment beside it.
"""

import collections
import itertools
import math
import pathlib
import statistics
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks/report"))

from opbench_report.complaint import USAGE, Complaint, exit_code  # noqa: E402  (found through the path above)
from opbench_report.data.source import read_source  # noqa: E402
from opbench_report.data.statistics import estimate, paired_estimate  # noqa: E402

RANDOM = numpy.random.default_rng(20261124)
SCATTER = 0.1


def _two_states(share, noise=0.03, distance=0.3):
    return lambda count: noise * RANDOM.standard_normal(count) + distance * (RANDOM.random(count) < share)


def _drift(count):
    """Each process remembers half of the one before it, of its own arm alone."""
    values = RANDOM.standard_normal(count)
    for place in range(1, count):
        values[place] = 0.5 * values[place - 1] + math.sqrt(0.75) * values[place]
    return SCATTER * values


def _quiet(count):
    return 0.3 * SCATTER * RANDOM.standard_normal(count)


NORMAL = lambda count: SCATTER * RANDOM.standard_normal(count)  # noqa: E731
SKEWED = lambda count: SCATTER * RANDOM.lognormal(0, 1, count)  # noqa: E731
# The noise of the two arms.
NOISES = {
    "normal": (NORMAL, NORMAL),
    "heavy tails (t, 3)": (lambda count: SCATTER * RANDOM.standard_t(3, count),) * 2,
    "heavier tails (t, 1.5)": (lambda count: SCATTER * RANDOM.standard_t(1.5, count),) * 2,
    "skewed": (SKEWED, SKEWED),
    "one skewed": (SKEWED, _quiet),
    "two states, 30 %": (_two_states(0.3),) * 2,
    "two states, 50 %": (_two_states(0.5),) * 2,
    "one in two states": (_two_states(0.3), _quiet),
    "drift of each arm": (_drift, _drift),
}


def estimators(trials=400):
    """The level is what an estimate comes to with many blocks: of both arms alike it is 0."""
    sizes = [6, 8, 10, 15, 20, 22, 24, 26, 30, 44, 60]
    print("coverage of the sign test / of signed ranks, and the width of signed ranks over that of the sign test")
    print(f"{'noise':<24}" + "".join(f"{size:>18}" for size in sizes))
    for name, (ours, theirs) in NOISES.items():
        many = ours(40_000) - theirs(40_000)
        # The centre that signed ranks estimate is the median of the means of two.
        truths = (float(numpy.median(many)), float(numpy.median((many[::2] + many[1::2]) / 2)))
        cells = []
        for size in sizes:
            held, widths = [0, 0], [[], []]
            for _ in range(trials):
                differences = list(ours(size) - theirs(size))
                for place, found in enumerate((estimate(differences), paired_estimate(differences))):
                    held[place] += found.low <= truths[place] <= found.high
                    widths[place].append(found.high - found.low)
            ratio = statistics.median(widths[1]) / statistics.median(widths[0])
            cells.append(f"{held[0] / trials:6.2f}/{held[1] / trials:.2f} x{ratio:.2f}")
        print(f"{name:<24}" + "".join(f"{cell:>18}" for cell in cells) + f"   levels {truths[0]:.3f} {truths[1]:.3f}")


def stopping(trials=400, most=90):
    print("share of intervals that hold the truth, and the blocks they took, when the run stops at a half-width of that share of")
    print("the scatter: where it is narrow once / where it is narrow twice running; up to 90 blocks")
    goals = [0.35, 0.6, 1.0]
    print(f"{'noise':<24}" + "".join(f"{goal:>34}" for goal in goals))
    for name, (ours, theirs) in NOISES.items():
        many = ours(40_000) - theirs(40_000)
        truth = float(numpy.median((many[::2] + many[1::2]) / 2))
        scatter = float(numpy.subtract(*numpy.percentile(many, [75, 25]))) / 1.349
        cells = []
        for goal in goals:
            held, blocks = [0, 0], [0, 0]
            for _ in range(trials):
                differences = list(ours(most) - theirs(most))
                for place, times in enumerate((1, 2)):
                    narrow = 0
                    for size in range(6, most + 1):
                        found = paired_estimate(differences[:size])
                        narrow = narrow + 1 if (found.high - found.low) / 2 <= goal * scatter else 0
                        # The first interval of all has no choice of when to stop.
                        if narrow == times or (size == 6 and narrow):
                            break
                    held[place] += found.low <= truth <= found.high
                    blocks[place] += size
            cells.append(" / ".join(f"{held[p] / trials:.3f} ({blocks[p] / trials:.0f} blocks)" for p in (0, 1)))
        print(f"{name:<24}" + "".join(f"{cell:>34}" for cell in cells))


class Result:
    """The one time of each benchmark in a result: (benchmark, params) -> subject -> block -> the values in their order."""

    def __init__(self, path):
        source = read_source(path)
        self.spent = source.outcome.get("spent", {})
        primary = source.required_record()["primary_times"]
        self.times = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
        for row in source.counted:
            if row.block and row.metric == primary.get(row.name):
                self.times[row.name, row.params][row.backend][row.block].append(row.value)

    def seconds(self, benchmark):
        """What a timed process of a benchmark takes, on average over its arms."""
        spent = self.spent[f"time {benchmark}"]
        return spent["seconds"] / spent["processes"]


def _spread(values):
    """The scatter of logarithms: the median distance from the median, as a standard deviation."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def values(path):
    print("median over cells of ten values or so: the scatter between processes when only the first values count, over that of")
    print("all values; the level of the first values; and variance times cost, with 21 ms before the first value of 2 ms")
    found = collections.defaultdict(list)
    for subjects in Result(path).times.values():
        for subject, blocks in subjects.items():
            series = [one for one in blocks.values() if len(one) >= 8 and min(one) > 0]
            if len(series) < 6:
                continue
            whole = [math.log(statistics.median(one)) for one in series]
            for first in (1, 2, 3, 4, 6, 8):
                part = [math.log(statistics.median(one[:first])) for one in series]
                level = statistics.median(mine - all_of_it for mine, all_of_it in zip(part, whole))
                found[subject, first].append((_spread(part) / max(_spread(whole), 1e-9), level))
    for (subject, first), pairs in sorted(found.items()):
        scatter = statistics.median(one for one, _ in pairs)
        cost = scatter**2 * (21 + 2 * first) / (21 + 2 * 10)
        level = math.exp(statistics.median(one for _, one in pairs))
        print(f"{subject:<14} first {first}: scatter x{scatter:.2f}, level x{level:.3f}, cost x{cost:.2f}, {len(pairs)} cells")


def widths(path):
    """Of the first subject against every other, by the first blocks of each pair."""
    print("width of signed ranks over that of the sign test, of the first n blocks: median, quartiles, number of ratios")
    found = collections.defaultdict(list)
    for subjects in Result(path).times.values():
        ours, *others = subjects.values()
        for theirs in others:
            logs = [
                math.log(statistics.median(ours[block]) / statistics.median(theirs[block]))
                for block in sorted(ours.keys() & theirs.keys())
            ]
            for size in (6, 8, 10, 15, 22, 30, 44, 60, 80):
                if size <= len(logs):
                    signs, ranks = estimate(logs[:size]), paired_estimate(logs[:size])
                    found[size].append((ranks.high - ranks.low) / (signs.high - signs.low))
    for size, ratios in sorted(found.items()):
        low, middle, high = numpy.percentile(ratios, [25, 50, 75])
        print(f"{size:3} blocks: x{middle:.2f} [{low:.2f}, {high:.2f}], {len(ratios)} ratios")


def allocation(path, seconds=285, goal=0.05):
    """Half-widths by the square-root law, from the scatter of the first subject against raw Dispatch, or against the
    reference where raw Dispatch cannot run."""
    result = Result(path)
    candidates = []
    for (benchmark, params), subjects in result.times.items():
        names = list(subjects)
        base = next((name for name in ("raw-dispatch", "foundation") if name in subjects), None)
        ours = next((name for name in names if name not in ("raw-dispatch", "foundation")), None)
        if not base or not ours:
            continue
        common = subjects[ours].keys() & subjects[base].keys()
        logs = [
            math.log(statistics.median(subjects[ours][block]) / statistics.median(subjects[base][block]))
            for block in common
        ]
        if len(logs) >= 8:
            far = 3 if abs(statistics.median(logs)) > math.log(3) else 1
            scatter = max(_spread(logs), statistics.pstdev(logs) / 2) / far
            candidates.append((2.15 * scatter, 2 * result.seconds(benchmark), f"{benchmark} {params}"))
    first = 6 * sum(cost for _, cost, _ in candidates)
    print(f"{len(candidates)} scenarios, {seconds} s, a goal of {goal:.0%}; six blocks of everything take {first:.0f} s")

    def gain(width, blocks, cost):
        return -width / math.sqrt(blocks) * (1 - math.sqrt(blocks / (blocks + 1))) / cost

    def relative(width, blocks, cost):
        return -(1 - math.sqrt(blocks / (blocks + 1))) / cost

    def soonest(width, blocks, cost):
        return cost * ((width / goal) ** 2 - blocks)

    def equal(width, blocks, cost):
        return blocks

    rules = {
        "the fewest blocks": [equal],
        "narrows most per second": [gain],
        "narrows by the largest share per second": [relative],
        "is narrow soonest": [soonest],
        "soonest, one of four rounds most per second": [soonest, soonest, soonest, gain],
        "soonest, one of two rounds most per second": [soonest, gain],
    }
    for name, turns in rules.items():
        states = [[width, 6, cost] for width, cost, _ in candidates]
        left = seconds - first
        for place in itertools.count():
            wide = [state for state in states if state[0] / math.sqrt(state[1]) > goal]
            if not wide or left <= 0:
                break
            chosen = min(wide, key=lambda state: turns[place % len(turns)](*state))
            chosen[1] += 1
            left -= chosen[2]
        widths = sorted(width / math.sqrt(blocks) for width, blocks, _ in states)
        rough = sum(width > goal * 1.001 for width in widths) / len(widths)
        quarter = widths[len(widths) * 3 // 4]
        print(f"{name:<46} median {statistics.median(widths):6.1%}  three quarters {quarter:6.1%}  widest {widths[-1]:6.1%}  above {rough:4.0%}")


def patterns(path):
    times = {
        params: {name: statistics.median(map(statistics.median, blocks.values())) for name, blocks in subjects.items()}
        for (benchmark, params), subjects in Result(path).times.items()
        if benchmark == "dependencies/graph"
    }
    subjects = sorted(set.intersection(*(set(one) for one in times.values())) - {"raw-dispatch"})
    names = sorted(times)
    ratios = numpy.array([[math.log(times[name][one] / times[name]["raw-dispatch"]) for one in subjects] for name in names])
    correlations = numpy.corrcoef(ratios)
    print(f"{len(names)} scenarios, {len(subjects)} subjects against raw Dispatch")

    def lost(kept):
        """How far each scenario's ratios are from those of the nearest kept one."""
        nearest = [min(float(numpy.mean((one - ratios[place]) ** 2)) for place in kept) for one in ratios]
        return math.sqrt(statistics.mean(nearest))

    for count in (1, 2, 3, 4, 5, 6):
        kept = min(itertools.combinations(range(len(names)), count), key=lost)
        least = min(max(correlations[row][place] for place in kept) for row in range(len(names)))
        print(f"{count}: distance x{math.exp(lost(kept)):.2f}, least correlation {least:.3f}: " + "; ".join(names[k] for k in kept))


def main(arguments):
    jobs = {job.__name__: job for job in (estimators, stopping, widths, values, allocation, patterns)}
    match arguments:
        case ["estimators" | "stopping" as name]:
            jobs[name]()
        case ["widths" | "values" | "allocation" | "patterns" as name, path]:
            jobs[name](path)
        case _:
            raise Complaint(USAGE, "it takes estimators, stopping, or one of widths, values, allocation, patterns with a CSV")


if __name__ == "__main__":
    sys.exit(exit_code("levers", lambda: main(sys.argv[1:])))
