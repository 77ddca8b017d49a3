#!/usr/bin/env python3
"""Computes what Tests/HarnessTests and Tests/ReportTests check the statistics of the harness and of the report against, and
writes the fixture. Needs NumPy and SciPy.

Independent on purpose: it shares no code with what is tested, and takes every distribution, quantile and draw from NumPy and
SciPy. With shared code a mistake would be in both, and no test would see it. What it has of its own are the definitions: which ranks an interval has,
what Bonferroni divides, and how far the bootstrap's quantiles are moved outwards.
"""

import json
import pathlib

import numpy
from scipy import stats

SEED = 20240229
SIZES = [1, 2, 5, 6, 7, 10, 11, 20, 33, 100]
CONFIDENCE = 0.95


def ranks(count, confidence=CONFIDENCE):
    """The ranks, from one, of the narrowest order-statistic interval of the median, by the binomial distribution."""
    best = None
    for rank in range(1, count // 2 + 1):
        coverage = 1 - 2 * stats.binom.cdf(rank - 1, count, 0.5)
        if coverage >= confidence:
            best = {"lower": rank, "upper": count + 1 - rank, "coverage": coverage}
    return best


def widened(count, comparisons):
    """The ranks for one of n comparisons (Bonferroni), the extremes where they do not reach that, and what all promise
    together. None where the extremes do not reach 95 %."""
    if ranks(count) is None:
        return None
    extremes = {"lower": 1, "upper": count, "coverage": 1 - 2 * 0.5**count}
    where = ranks(count, 1 - (1 - CONFIDENCE) / comparisons) or extremes
    return {
        "count": count,
        "comparisons": comparisons,
        "lower": where["lower"],
        "upper": where["upper"],
        "together": max(0, 1 - comparisons * (1 - where["coverage"])),
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


def pairs(random, count):
    a = random.lognormal(3, 0.3, count)
    b = random.lognormal(4, 0.3, count)
    logs = numpy.sort(numpy.log(a / b))
    where = ranks(count)
    return {
        "numerators": a.tolist(),
        "denominators": b.tolist(),
        "ratio": float(numpy.exp(numpy.median(logs))),
        "lower": float(numpy.exp(logs[where["lower"] - 1])) if where else None,
        "upper": float(numpy.exp(logs[where["upper"] - 1])) if where else None,
    }


def main():
    random = numpy.random.default_rng(SEED)
    fixture = {
        "samples": [sample(random, count) for count in SIZES],
        "pairs": [pairs(random, count) for count in SIZES],
        "widened": [
            one for count in SIZES for comparisons in (1, 3, 25, 26, 135) if (one := widened(count, comparisons))
        ],
        "needed": {str(comparisons): needed(comparisons) for comparisons in (1, 2, 25, 26, 135, 1000)},
        "student": [
            {"freedom": freedom, "probability": p, "quantile": float(stats.t.ppf((1 + p) / 2, freedom))}
            for freedom in (1, 2, 3, 5, 9, 10, 19, 50)
            for p in (0.5, 0.9, 0.95, 0.99)
        ],
        "bootstrap": [bootstrap(random, blocks, benchmarks) for blocks, benchmarks in ((6, 3), (10, 20), (20, 1))],
    }
    path = pathlib.Path(__file__).resolve().parents[2] / "Tests/HarnessTests/Fixtures/expected_statistics.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(fixture, indent=1) + "\n")


if __name__ == "__main__":
    main()
