"""The statistics of `Benchmarks/Harness/Statistics` (`Statistics`, `SignedRank` and `Widening`): medians,
ranks and signs."""

import functools
import math
from dataclasses import dataclass

FAMILY_CONFIDENCE = 0.95

# The largest number of differences whose sums of ranks are counted.
MOST_EXACT = 100


@dataclass(frozen=True)
class Estimate:
    """A median, or the centre of differences, with its interval; there is none below six values."""

    median: float
    low: float | None
    high: float | None
    count: int

    @property
    def has_interval(self):
        return self.low is not None

    def holds(self, value):
        return self.has_interval and self.low <= value <= self.high


def median(values):
    """The middle value, or the mean of the two middle ones."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_ranks(count, confidence=0.95):
    """(k, n + 1 - k, coverage): the narrowest ranks, from one, that hold the median; None when the extremes do not
    reach."""
    tail = 0.0
    best = None
    for rank in range(1, max(1, count // 2 + 1)):
        tail += _binomial_half(count, rank - 1)
        coverage = 1 - 2 * tail
        if not coverage >= confidence:
            break
        best = (rank, count + 1 - rank, coverage)
    return best


def _binomial_half(n, k):
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))


def estimate(values, confidence=0.95):
    """The median of values that are independent of one another, one per process."""
    ordered = sorted(values)
    ranks = median_ranks(len(ordered), confidence)
    low, high = (ordered[ranks[0] - 1], ordered[ranks[1] - 1]) if ranks else (None, None)
    return Estimate(median(ordered), low, high, len(ordered))


def paired_quotients(ours, theirs):
    """ours / theirs in each place (a run and a block) in which both were measured. None at all where a number is not
    positive: the blocks that are left would be those that happen not to be zero."""
    pairs = {place: (value, theirs[place]) for place, value in ours.items() if place in theirs}
    if any(value <= 0 for pair in pairs.values() for value in pair):
        return {}
    return {place: mine / other for place, (mine, other) in pairs.items()}


def paired_logarithms(ours, theirs):
    """The logarithms of these quotients."""
    return {place: math.log(quotient) for place, quotient in paired_quotients(ours, theirs).items()}


def half_width(ratio):
    """Half the width of a ratio's interval, as a share: of the logarithms, so that x0.5 and x2 are as far apart. None
    without an interval."""
    return None if ratio is None or ratio.low is None else math.log(ratio.high / ratio.low) / 2


def counted_half_width(ratio):
    """The same as it counts for a decision: a third of it when the ratio is beyond 3 or below its inverse. Whether one takes
    20 or 21 times as long decides nothing."""
    half = half_width(ratio)
    return half / 3 if half is not None and abs(math.log(ratio.high * ratio.low) / 2) > math.log(3) else half


def is_rough(ratio):
    """Whether that exceeds 5 %, so that `~` marks the ratio."""
    return (counted_half_width(ratio) or 0) > 0.05


def paired_estimate(differences, confidence=0.95):
    """The centre of differences between two arms, one per block: Hodges and Lehmann's, with the interval of the signed-rank
    test."""
    averages = sorted(
        (one + other) / 2 for place, one in enumerate(differences) for other in differences[place:]
    )
    rank = signed_rank(len(differences), confidence)
    low, high = (averages[rank[0] - 1], averages[len(averages) - rank[0]]) if rank else (None, None)
    return Estimate(median(averages), low, high, len(differences))


@functools.cache
def signed_rank(count, confidence=0.95):
    """(rank, coverage): the Walsh average, from one, at which the interval begins; None when the extremes do not reach."""
    if count > MOST_EXACT:
        return _normal_rank(count, confidence)
    tail = 0.0
    best = None
    for below, probability in enumerate(_signed_rank_sums(count)):
        tail += probability
        coverage = 1 - 2 * tail
        if not coverage >= confidence:
            break
        best = (below + 1, coverage)
    return best


def _normal_rank(count, confidence):
    mean = count * (count + 1) / 4
    deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)

    def coverage(rank):
        return 1 - math.erfc((mean - (rank - 0.5)) / deviation / math.sqrt(2))

    low, high = 1, int(mean)
    if coverage(low) < confidence:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if coverage(middle) >= confidence else (low, middle - 1)
    return low, coverage(low)


@functools.cache
def _signed_rank_sums(count):
    """The probability of each sum of the ranks 1...count when each is in the sum or not by a fair coin."""
    sums = [1.0]
    for rank in range(1, count + 1):
        following = [probability / 2 for probability in sums] + [0.0] * rank
        for total, probability in enumerate(sums):
            following[total + rank] += probability / 2
        sums = following
    return sums


def paired_ratio(logarithms, confidence=0.95):
    """exp of the centre of the logarithms with its interval; None without any."""
    logarithms = list(logarithms)
    if not logarithms:
        return None
    of_logs = paired_estimate(logarithms, confidence)
    bounds = (math.exp(of_logs.low), math.exp(of_logs.high)) if of_logs.has_interval else (None, None)
    return Estimate(math.exp(of_logs.median), *bounds, of_logs.count)


@dataclass(frozen=True)
class Widening:
    """How much wider intervals must be when several are read together (Bonferroni)."""

    comparisons: int

    @property
    def confidence(self):
        """What one interval must reach."""
        return 1 - (1 - FAMILY_CONFIDENCE) / max(1, self.comparisons)

    def confidence_of(self, count):
        """The widened confidence, or the most that so many processes reach; None below six."""
        if median_ranks(count) is None:
            return None
        # One part in 10^12 less, so that rounding does not deny the extremes their own confidence.
        return min(self.confidence, (1 - 2 * 0.5**count) * (1 - 1e-12))
