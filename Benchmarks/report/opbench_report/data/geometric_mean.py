"""The geometric mean of ratios across benchmarks, with the very bootstrap of `Benchmarks/Harness/Statistics/GeometricMean.swift`.

The generator is the harness's (SplitMix64) and draws as Swift's `Int.random(in:)` does, so the interval is the one that
`opbench compare` prints, not one like it.
"""

import functools
import math
from dataclasses import dataclass

import numpy

from .statistics import median, paired_ratio

RESAMPLES = 2_000
_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class GeometricMean:
    ratio: float
    low: float | None
    high: float | None
    benchmarks: int
    blocks: int

    @property
    def has_interval(self):
        return self.low is not None


def geometric_mean(series, seed=1):
    """From (benchmark, {place: logarithm}) pairs; a benchmark has one vote however many series it has. None without
    any."""
    used = [(name, logs) for name, logs in series if logs]
    if not used:
        return None
    groups = {}
    for name, _ in used:
        groups[name] = groups.get(name, 0) + 1
    weights = numpy.array([1 / (groups[name] * len(groups)) for name, _ in used])
    places = sorted({place for _, logs in used for place in logs})
    if len(used) == 1:
        # The mean of a single line is that line.
        own = paired_ratio(used[0][1].values())
        return GeometricMean(own.median, own.low, own.high, 1, len(places))
    medians = numpy.array([median(logs.values()) for _, logs in used])
    ratio = math.exp(float(numpy.dot(weights, medians)))
    if len(places) < 6:
        return GeometricMean(ratio, None, None, len(groups), len(places))

    table = numpy.array([[logs.get(place, math.nan) for place in places] for _, logs in used])
    drawn = _draws(RESAMPLES * len(places), len(places), _start(seed, "bootstrap")).reshape(RESAMPLES, len(places))
    means = numpy.zeros(RESAMPLES)
    for weight, own_median, row in zip(weights, medians, table):
        means += weight * _medians(row[drawn], own_median)
    tail = _tail(len(places))
    low, high = numpy.quantile(means, [tail, 1 - tail])
    return GeometricMean(ratio, math.exp(low), math.exp(high), len(groups), len(places))


def _medians(samples, otherwise):
    """The median of each sample without what is not a number, and `otherwise` where nothing is left."""
    ordered = numpy.sort(samples, axis=1)
    counts = ordered.shape[1] - numpy.isnan(ordered).sum(axis=1)
    places, counts_or_one = numpy.arange(len(ordered)), numpy.maximum(counts, 1)
    middle = (ordered[places, (counts_or_one - 1) // 2] + ordered[places, counts_or_one // 2]) / 2
    return numpy.where(counts > 0, middle, otherwise)


def widened(mean, confidence, freedom):
    """The logarithms of the ends of a mean's interval at another confidence. The bootstrap has no tails as thin as many
    comparisons need, so each side of its 95 % interval is as much wider as Student's t has it."""
    wider = _student_quantile(confidence, freedom) / _student_quantile(0.95, freedom)
    middle = math.log(mean.ratio)
    return tuple(middle + (math.log(end) - middle) * wider for end in (mean.low, mean.high))


def _tail(blocks):
    """The share of resamples to leave out at either end (Hesterberg 2015, section 5)."""
    t = _student_quantile(0.95, blocks - 1)
    return math.erfc(math.sqrt(blocks / (blocks - 1)) * t / math.sqrt(2)) / 2


def _student_central(t, freedom):
    """P(|T| <= t) in closed form (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    total = 0.0
    if freedom % 2 == 0:
        term = 1.0
        for index in range(0, freedom, 2):
            if index:
                term *= cosine * cosine * (index - 1) / index
            total += term
        return math.sin(angle) * total
    term = cosine
    for index in range(1, freedom, 2):
        if index > 1:
            term *= cosine * cosine * (index - 1) / index
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total)


def _student_quantile(probability, freedom):
    low, high = 0.0, 1.0
    while _student_central(high, freedom) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _student_central(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _start(seed, purpose):
    digest = 0xCBF29CE484222325
    for byte in purpose.encode():
        digest = ((digest ^ byte) * 0x100000001B3) & _MASK
    return _mix(seed ^ digest)


@functools.cache
def _draws(count, bound, state):
    """Numbers in 0..<bound by Lemire's method, as Swift's RandomNumberGenerator.next(upperBound:) draws them."""
    threshold = ((1 << 64) - bound) % bound
    numbers = []
    while len(numbers) < count:
        state = (state + _GAMMA) & _MASK
        product = _mix(state) * bound
        if (product & _MASK) >= threshold:
            numbers.append(product >> 64)
    return numpy.array(numbers)
