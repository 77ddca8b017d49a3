"""The statistics of `Benchmarks/Harness/Statistics` (`Statistics`, `SignedRank` and `Widening`): medians,
ranks and signs."""

import bisect
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
    """The centre of differences between two arms, one per block, with its interval: both invert a signed-rank test whose
    ranks are capped."""
    upwards = _Side(differences)
    downwards = _Side([-difference for difference in differences])
    total = sum(_scores(len(differences)))
    centre = (upwards.first(lambda ranks: 2 * ranks >= total) - downwards.first(lambda ranks: 2 * ranks >= total)) / 2
    critical = _critical(len(differences), confidence)
    if critical is None:
        return Estimate(centre, None, None, len(differences))
    low = upwards.first(lambda ranks: ranks > critical)
    return Estimate(centre, low, -downwards.first(lambda ranks: ranks > critical), len(differences))


def _cap(count):
    """The most that a rank counts."""
    return max(4, min(count // 2, max(10, count // 4)))


def _scores(count):
    """What the ranks 1...count count for."""
    return [min(rank, _cap(count)) for rank in range(1, count + 1)]


class _Side:
    """The ranks of the differences below a value, as the value grows: their sum changes where the value is the mean of two
    differences (a Walsh average)."""

    def __init__(self, differences):
        self.ordered = sorted(differences)
        self.pair_sums = sorted(
            one + other for place, one in enumerate(self.ordered) for other in self.ordered[place:]
        )
        self.scores = _scores(len(differences))

    def first(self, is_enough):
        """The lowest Walsh average just above which the sum of ranks is enough."""
        places = range(len(self.pair_sums) - 1)
        return self.pair_sums[bisect.bisect_left(places, True, key=lambda at: is_enough(self._rank_sum(at)))] / 2

    def _rank_sum(self, place):
        doubled = self.pair_sums[place]
        above = bisect.bisect_right(self.ordered, doubled, key=lambda value: 2 * value)
        below = above - 1
        total = 0
        for score in self.scores:
            if below < 0:
                break
            # Of two at the same distance the one above is nearer to a value a little above.
            if above < len(self.ordered) and self.ordered[below] + self.ordered[above] <= doubled:
                above += 1
            else:
                total += score
                below -= 1
        return total


@functools.cache
def _critical(count, confidence):
    """The largest sum of ranks that is outside of the interval; None when the extremes do not reach the confidence."""
    if count > MOST_EXACT:
        return _normal_critical(count, confidence)
    tail = 0.0
    best = None
    for ranks, probability in enumerate(_rank_sums(count)):
        tail += probability
        if not 1 - 2 * tail >= confidence:
            break
        best = ranks
    return best


def _normal_critical(count, confidence):
    scores = _scores(count)
    mean = sum(scores) / 2
    deviation = math.sqrt(sum(score * score for score in scores) / 4)

    def coverage(ranks):
        return 1 - math.erfc((mean - (ranks + 0.5)) / deviation / math.sqrt(2))

    low, high = 0, int(mean) - 1
    if coverage(low) < confidence:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if coverage(middle) >= confidence else (low, middle - 1)
    return low


@functools.cache
def _rank_sums(count):
    """The probability of each sum of ranks when each is in the sum or not by a fair coin."""
    sums = [1.0]
    for score in _scores(count):
        following = [probability / 2 for probability in sums] + [0.0] * score
        for total, probability in enumerate(sums):
            following[total + score] += probability / 2
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
