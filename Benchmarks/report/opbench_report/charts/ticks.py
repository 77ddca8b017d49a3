"""Where an axis has its ticks and what they say: the same in print and on the screen."""

import math

from matplotlib.ticker import LogLocator, MaxNLocator

# More decades than an axis has.
_EVERY = 400


def limits(values, log, room=0.06):
    """Returns the ends of an axis that holds all values with some room at either side."""
    low, high = min(values), max(values)
    if log:
        span = max(math.log10(high / low), 0.25)
        return low / 10 ** (span * room), high * 10 ** (span * room)
    low = min(low, 0)
    high = high if high > low else low + 1
    span = high - low
    return low - span * (room if low < 0 else 0.04), high + span * room


def is_crowded(guide, guides, ends):
    """Returns whether another horizontal guide lies so near above that there is no place for a label between them."""
    room = 0.1 * (ends[1] - ends[0])
    return guide.kind == "y" and any(other.kind == "y" and 0 < other.at - guide.at < room for other in guides)


def ticks(low, high, log, steps, most=5):
    """Returns (place, text) pairs within the limits, in the steps of a unit: about `most` of them."""
    inside = lambda places: [place for place in map(float, places) if low <= place <= high]
    places = inside(_log_places(low, high, most)) if log else []
    # A single tick says nothing of how far apart marks are.
    if len(places) < 2:
        places = inside(MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(low, high))
    return [(place, _text(steps, place)) for place in places]


def named(places):
    """Returns (place, text) pairs of places that a parameter takes, with short texts: 1,000, 10k and 1M."""
    return [(place, _short(place)) for place in sorted(set(places))]


def _short(value):
    for unit, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= 10 * unit / (1 if suffix == "k" else 10) and value % (unit / 10) == 0:
            return f"{value / unit:g}{suffix}"
    return f"{value:,g}"


def with_room(marks, inches, character):
    """Returns the ticks whose texts have room side by side. `inches` is where a place stands; the last tick comes
    before others."""
    kept, end = [], None
    for place, text in reversed(marks):
        half = character * (len(text) + 0.6) / 2
        if end is None or inches(place) + half <= end:
            kept.append((place, text))
            end = inches(place) - half
    return kept[::-1]


def _log_places(low, high, most):
    """Returns as many steps in each decade as have room."""
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3)):
        places = LogLocator(subs=steps, numticks=_EVERY).tick_values(low, high)
        if sum((low <= places) & (places <= high)) <= most:
            return places
    return LogLocator(numticks=most).tick_values(low, high)


def _text(steps, value):
    bound, suffix = next((step for step in steps if abs(value) >= step[0]), (0, ""))
    return "0" if value == 0 else f"{value / (bound or 1):.12g}{suffix}"
