"""Where an axis has its ticks and what they say: the same in print and on the screen."""

import math

from ..data.metrics import scale


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
    """(place, text) pairs within the limits."""
    places = _log_places(low, high, most) if log else _linear_places(low, high, most)
    return [(place, _text(unit, place)) for place in places]


def _log_places(low, high, most):
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        places = [step * 10.0**decade for decade in decades for step in steps]
        places = [place for place in places if low <= place <= high]
        if len(places) <= most:
            return places
    every = math.ceil(len(places) / most)
    return places[::every]


def _linear_places(low, high, most):
    step = _nice((high - low) / most)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _nice(step):
    """The next larger of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def _text(unit, value):
    divisor, suffix = scale(unit, value)
    return "0" if value == 0 else f"{value / divisor:.12g}{suffix}"
