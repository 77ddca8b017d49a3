"""Where an axis has its ticks and what they say: the same in print and on the screen."""

import math

from matplotlib.ticker import LogLocator, MaxNLocator

from ..data.metrics import scale

# More decades than an axis has.
_EVERY = 400


def limits(values, log, room=0.06):
    """The ends of an axis that holds all values with some room at either side."""
    low, high = min(values), max(values)
    if log:
        span = max(math.log10(high / low), 0.25)
        return low / 10 ** (span * room), high * 10 ** (span * room)
    low = min(low, 0)
    high = high if high > low else low + 1
    span = high - low
    return low - span * (room if low < 0 else 0.04), high + span * room


def is_crowded(guide, guides, ends):
    """Whether another horizontal guide lies so near above that there is no place for a label between them."""
    room = 0.1 * (ends[1] - ends[0])
    return guide.kind == "y" and any(one.kind == "y" and 0 < one.at - guide.at < room for one in guides)


def ticks(low, high, log, unit, most=5):
    """(place, text) pairs within the limits: `most` at most, or a few more where the axis has few decades."""
    places = _log_places(low, high, most) if log else MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [(place, _text(unit, place)) for place in map(float, places) if low <= place <= high]


def _log_places(low, high, most):
    """As many steps in each decade as have room."""
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3)):
        places = LogLocator(subs=steps, numticks=_EVERY).tick_values(low, high)
        if sum((low <= places) & (places <= high)) <= most:
            return places
    return LogLocator(numticks=most).tick_values(low, high)


def _text(unit, value):
    divisor, suffix = scale(unit, value)
    return "0" if value == 0 else f"{value / divisor:.12g}{suffix}"
