"""A ratio of times in round words, for readers who see no interval: "20 times as fast", "level", "4 to 5 times as long".

The rules, which `results/SUMMARY.md` shows beside the exact numbers:

* A round number has one significant digit. It has two, or three, where it would otherwise differ from the exact number by more
  than a tenth, or lie outside of the 95 % interval.
* What differs by at most 15 % is level: the whole interval lies between 1/1.15 and 1.15.
* Where the interval holds 1 and is not that narrow, no difference is shown.
* Beside several others, the words go from the least end of their intervals to the greatest.
"""

from ..data.geometric_mean import GeometricMean

LEVEL = 1.15
_TOLERANCE = 0.1
_FASTER, _SLOWER = "as fast", "as long"


def rounded(value, low=None, high=None):
    """A number from 1 on with as few digits as the rules allow; `low` and `high` are the ends of its interval."""
    for digits in (1, 2, 3):
        text = f"{value:.{digits}g}"
        number = float(text)
        inside = low is None or low <= number <= high
        if abs(number - value) <= _TOLERANCE * value and inside:
            break
    return f"{number:g}"


def in_round_words(ratios):
    """`ratios` are estimates or geometric means with intervals: the time of one subject over that of each of the others."""
    words = [_direction(ratio) for ratio in ratios]
    if len(set(words)) > 1:
        return "; ".join(dict.fromkeys(in_round_words([ratio]) for ratio in ratios))
    if words[0] not in (_FASTER, _SLOWER):
        return words[0]
    if len(ratios) == 1:
        return f"{_of(ratios[0])} times {words[0]}"
    ends = [end for ratio in ratios for end in _ends(ratio)]
    least, greatest = rounded(min(ends)), rounded(max(ends))
    return f"{least} times {words[0]}" if least == greatest else f"{least} to {greatest} times {words[0]}"


def middle(ratio):
    """The ratio itself, of either kind."""
    return ratio.ratio if isinstance(ratio, GeometricMean) else ratio.median


def _direction(ratio):
    if 1 / LEVEL <= ratio.low and ratio.high <= LEVEL:
        return "level"
    if ratio.low <= 1 <= ratio.high:
        return "no difference shown"
    return _FASTER if ratio.high < 1 else _SLOWER


def _ends(ratio):
    """Of the interval, both as numbers from 1 on."""
    return (1 / ratio.high, 1 / ratio.low) if ratio.high < 1 else (ratio.low, ratio.high)


def _of(ratio):
    value = middle(ratio)
    return rounded(1 / value if value < 1 else value, *_ends(ratio))
