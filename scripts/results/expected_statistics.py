#!/usr/bin/env python3
"""Computes what Tests/HarnessTests and Tests/ReportTests check the statistics of the harness and of the report against, and
writes the fixture. Needs NumPy and SciPy.

Independent on purpose: it shares no code with what is tested, and takes every distribution, quantile and draw from NumPy and
SciPy. With shared code a mistake would be in both, and no test would see it. What it has of its own are the definitions: which ranks an interval has,
what Bonferroni divides, and how far the bootstrap's quantiles are moved outwards.
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
    """The ranks, from one, of the narrowest order-statistic interval of the median, by the binomial distribution."""
    best = None
    for rank in range(1, count // 2 + 1):
        coverage = 1 - 2 * stats.binom.cdf(rank - 1, count, 0.5)
        if coverage >= confidence:
            best = {"lower": rank, "upper": count + 1 - rank, "coverage": coverage}
    return best


def signed_rank_coverage(count, confidence=CONFIDENCE):
    """The exact coverage of the narrowest signed-rank interval that reaches a confidence: the sums of ranks counted as the
    coefficients of (1 + x)(1 + x^2)...(1 + x^n)."""
    ways = [1.0]
    for rank in range(1, count + 1):
        ways = numpy.polymul(ways, [1.0] + [0.0] * (rank - 1) + [1.0])
    coverages = 1 - 2 * numpy.cumsum(ways) / 2.0**count
    reached = coverages[coverages >= confidence]
    return float(reached[-1]) if len(reached) else None


def widened(count, comparisons):
    """The ranks for one of n comparisons (Bonferroni), the extremes where they do not reach that, and what the intervals of
    all ratios promise together. None where the extremes do not reach 95 %."""
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
    """The fewest processes whose extremes reach 95 % for n comparisons together."""
    return next(n for n in range(6, 100) if 1 - 2 * 0.5**n >= 1 - (1 - CONFIDENCE) / comparisons)


def bootstrap(random, blocks, benchmarks):
    """The geometric mean of the medians of log ratios, its expanded percentile interval, and the noise of the latter."""
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
    """The centre of differences and its interval: the median of the Walsh averages, and between which of them SciPy's Wilcoxon
    test does not tell a shift from 0."""
    first, second = numpy.triu_indices(len(logs))
    averages = numpy.sort((logs[first] + logs[second]) / 2)
    if ranks(len(logs)) is None:
        return numpy.median(averages), None
    method = "exact" if len(logs) <= MOST_EXACT else "approx"

    def is_held(gap):
        """The answer of the test changes at the averages alone, so one shift in each gap tells."""
        shift = (averages[gap] + averages[gap + 1]) / 2
        return stats.wilcoxon(logs - shift, method=method, correction=True).pvalue > 1 - CONFIDENCE

    middle = len(averages) // 2
    lowest = bisect.bisect_left(range(middle), True, key=is_held)
    highest = bisect.bisect_left(range(middle, len(averages) - 1), True, key=lambda gap: not is_held(gap)) + middle
    return numpy.median(averages), (averages[lowest], averages[highest])


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


def main():
    random = numpy.random.default_rng(SEED)
    fixture = {
        "samples": [sample(random, count) for count in SIZES],
        "pairs": [pairs(random, count) for count in [*SIZES, 150]],
        "widened": [
            one for count in SIZES for comparisons in (1, 3, 25, 26, 135) if (one := widened(count, comparisons))
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
    path.write_text(json.dumps(fixture, indent=1) + "\n")


if __name__ == "__main__":
    main()
