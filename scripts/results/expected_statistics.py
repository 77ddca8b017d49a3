#!/usr/bin/env python3
"""Computes what Tests/HarnessTests and Tests/ReportTests check the statistics of the harness and of the report against,
and writes the fixture. Needs NumPy and SciPy.

Independent on purpose: it shares no code with what is tested, and takes every distribution, quantile and draw from
NumPy and SciPy. With shared code a mistake would be in both, and no test would see it. What it has of its own are the
definitions: which ranks an interval has, what Bonferroni divides, and how far the bootstrap's quantiles are moved
outwards.
"""

import bisect
import json
import pathlib

import numpy
from scipy import stats

SEED = 20240229
SIZES = [1, 2, 5, 6, 7, 10, 11, 20, 33, 100]
# With more differences the normal approximation is used.
MOST_EXACT = 100
CONFIDENCE = 0.95


def ranks(count, confidence=CONFIDENCE):
    """Gives the ranks, from one, of the narrowest order-statistic interval of the median, by the binomial
    distribution."""
    best = None
    for rank in range(1, count // 2 + 1):
        coverage = 1 - 2 * stats.binom.cdf(rank - 1, count, 0.5)
        if coverage >= confidence:
            best = {"lower": rank, "upper": count + 1 - rank, "coverage": coverage}
    return best


def scores(count):
    """Says what the ranks of differences count for: half of their number is the most up to 20, then 10, a quarter from
    40 on."""
    cap = numpy.interp(count, [8, 20, 40, 400], [4, 10, 10, 100])
    return numpy.minimum(numpy.arange(1, count + 1), max(4, int(cap)))


def rank_sum_tails(count):
    """Gives the probability that the sum of the ranks of one sign is at most 0, 1, ...: counted as the coefficients of
    (1 + x^a)(1 + x^b)..., and by the normal distribution for many."""
    if count > MOST_EXACT:
        counted = scores(count)
        sums = numpy.arange(counted.sum() + 1)
        return stats.norm.cdf(sums + 0.5, counted.sum() / 2, numpy.sqrt((counted**2).sum()) / 2)
    ways = [1.0]
    for score in scores(count):
        ways = numpy.polymul(ways, [1.0] + [0.0] * (score - 1) + [1.0])
    return numpy.cumsum(ways) / 2.0**count


def signed_rank_coverage(count, confidence=CONFIDENCE):
    """Gives the exact coverage of the narrowest signed-rank interval that reaches a confidence."""
    coverages = 1 - 2 * rank_sum_tails(count)
    reached = coverages[coverages >= confidence]
    return float(reached[-1]) if len(reached) else None


def widened(count, comparisons):
    """Gives the ranks for one of n comparisons (Bonferroni), the extremes where they do not reach that, and what the
    intervals of all ratios promise together. None where the extremes do not reach 95 %."""
    if ranks(count) is None:
        return None
    extremes = {"lower": 1, "upper": count, "coverage": 1 - 2 * 0.5**count}
    asked = 1 - (1 - CONFIDENCE) / comparisons
    where = ranks(count, asked) or extremes
    coverage = signed_rank_coverage(count, asked) or extremes["coverage"]
    return {
        "count": count,
        "comparisons": comparisons,
        "lower": where["lower"],
        "upper": where["upper"],
        "together": max(0, 1 - comparisons * (1 - coverage)),
    }


def needed(comparisons):
    """Gives the fewest processes whose extremes reach 95 % for n comparisons together."""
    return next(n for n in range(6, 100) if 1 - 2 * 0.5**n >= 1 - (1 - CONFIDENCE) / comparisons)


def bootstrap(random, blocks, benchmarks):
    """Gives the geometric mean of the medians of log ratios, its expanded percentile interval, and the noise of the
    latter."""
    truth = random.normal(-0.2, 0.5, benchmarks)
    logs = truth[:, None] + random.normal(0, 0.1, (benchmarks, blocks)) + random.normal(0, 0.05, blocks)
    tail = stats.norm.cdf(-numpy.sqrt(blocks / (blocks - 1)) * stats.t.ppf(1 - (1 - CONFIDENCE) / 2, blocks - 1))
    quantiles = []
    for _ in range(20):
        drawn = random.integers(0, blocks, (2000, blocks))
        means = numpy.median(logs[:, drawn], axis=2).mean(axis=0)
        quantiles.append(numpy.quantile(means, [tail, 1 - tail]))
    return {
        "logarithms": logs.tolist(),
        "ratio": float(numpy.exp(numpy.median(logs, axis=1).mean())),
        "tail": float(tail),
        "lower": float(numpy.exp(numpy.mean(quantiles, axis=0)[0])),
        "upper": float(numpy.exp(numpy.mean(quantiles, axis=0)[1])),
        # Of one bootstrap of 2,000, in logarithms.
        "deviation": float(numpy.std(quantiles, axis=0, ddof=1).max()),
    }


def sample(random, count):
    values = random.lognormal(5, 0.8, count)
    return {
        "values": values.tolist(),
        "median": float(numpy.median(values)),
        "ranks": ranks(count),
        "percentiles": {
            str(q): float(numpy.percentile(values, q, method="inverted_cdf")) for q in (50, 90, 99, 99.9)
        },
    }


def centre(logs):
    """Gives the centre of differences and its interval: where both signs have the same sum of capped ranks, and between
    which Walsh averages the test does not tell a shift from 0."""
    first, second = numpy.triu_indices(len(logs))
    averages = numpy.sort((logs[first] + logs[second]) / 2)
    counted = scores(len(logs))
    tails = rank_sum_tails(len(logs))

    def sums(gap):
        """Gives the sums of ranks below and above: they change at the averages alone, so one shift in each gap
        tells."""
        shifted = logs - (averages[gap] + averages[gap + 1]) / 2
        ranks_of = counted[stats.rankdata(abs(shifted), method="ordinal") - 1]
        return ranks_of[shifted < 0].sum(), ranks_of[shifted > 0].sum()

    gaps = range(len(averages) - 1)
    low = bisect.bisect_left(gaps, True, key=lambda gap: sums(gap)[0] >= sums(gap)[1])
    high = bisect.bisect_left(gaps, True, key=lambda gap: sums(gap)[0] > sums(gap)[1])
    middle = (averages[low] + averages[high]) / 2
    if ranks(len(logs)) is None:
        return middle, None

    def is_held(gap):
        return 2 * tails[min(sums(gap))] > 1 - CONFIDENCE

    lowest = bisect.bisect_left(range(low), True, key=is_held)
    highest = bisect.bisect_left(range(low, len(averages) - 1), True, key=lambda gap: not is_held(gap)) + low
    return middle, (averages[lowest], averages[highest])


def pairs(random, count):
    a = random.lognormal(3, 0.3, count)
    b = random.lognormal(4, 0.3, count)
    middle, interval = centre(numpy.log(a / b))
    return {
        "numerators": a.tolist(),
        "denominators": b.tolist(),
        "ratio": float(numpy.exp(middle)),
        "lower": float(numpy.exp(interval[0])) if interval else None,
        "upper": float(numpy.exp(interval[1])) if interval else None,
    }


def as_text(fixture):
    """Writes the fixture as JSON, with one case a line."""

    def lines(value):
        if isinstance(value, list):
            return "[\n" + ",\n".join(f"  {json.dumps(case)}" for case in value) + "\n ]"
        return json.dumps(value)

    return "{\n" + ",\n".join(f" {json.dumps(name)}: {lines(value)}" for name, value in fixture.items()) + "\n}\n"


def main():
    random = numpy.random.default_rng(SEED)
    fixture = {
        "samples": [sample(random, count) for count in SIZES],
        "pairs": [pairs(random, count) for count in [*SIZES, 150]],
        "widened": [
            case for count in SIZES for comparisons in (1, 3, 25, 26, 135) if (case := widened(count, comparisons))
        ],
        "needed": {str(comparisons): needed(comparisons) for comparisons in (1, 2, 25, 26, 135, 1000)},
        "student": [
            {"freedom": freedom, "probability": p, "quantile": float(stats.t.ppf((1 + p) / 2, freedom))}
            for freedom in (1, 2, 3, 5, 9, 10, 19, 50)
            for p in (0.5, 0.9, 0.95, 0.99)
        ],
        "bootstrap": [bootstrap(random, blocks, benchmarks) for blocks, benchmarks in ((6, 3), (10, 20), (20, 2))],
    }
    path = pathlib.Path(__file__).resolve().parents[2] / "Tests/HarnessTests/Fixtures/expected_statistics.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_text(fixture))


if __name__ == "__main__":
    main()
