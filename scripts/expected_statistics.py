#!/usr/bin/env python3
"""Computes with SciPy what Tests/HarnessTests checks the harness's statistics against, and writes the fixture. Needs NumPy and SciPy."""

import json
import pathlib

import numpy
from scipy import stats

SEED = 20240229
SIZES = [1, 2, 5, 6, 7, 10, 11, 20, 33, 100]
CONFIDENCE = 0.95


def ranks(count):
    """The ranks, from one, of the narrowest order-statistic interval of the median, by the binomial distribution."""
    best = None
    for rank in range(1, count // 2 + 1):
        coverage = 1 - 2 * stats.binom.cdf(rank - 1, count, 0.5)
        if coverage >= CONFIDENCE:
            best = {"lower": rank, "upper": count + 1 - rank, "coverage": coverage}
    return best


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
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "Tests/HarnessTests/Fixtures/expected_statistics.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(fixture, indent=1) + "\n")


if __name__ == "__main__":
    main()
