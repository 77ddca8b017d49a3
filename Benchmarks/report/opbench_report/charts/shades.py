"""The colours of a heat map of ratios, from blue (less) through grey (the same) to orange (more): eleven steps, so
that each has its colour on dark paper, and its place in a legend. The colour-blind can tell blue from orange.
Lightness cannot order both sides, so in grey print the numbers in the cells say which side it is."""

import bisect
import math

# Where the steps of more begin, as ratios; those of less are their inverses.
BOUNDS = (1.03, 1.1, 1.25, 1.6, 2.5)
MOST = len(BOUNDS)
# (colour on light paper, on dark paper), from the least ratio to the greatest.
STEPS = (
    ("#0a4a8f", "#a6d0f7"),
    ("#2b70b3", "#6fb0e8"),
    ("#7db0de", "#27619a"),
    ("#adcdea", "#25507a"),
    ("#dbe8f4", "#233c55"),
    ("#f1f1f0", "#2a2f35"),
    ("#fbe5d3", "#4d3423"),
    ("#f8c79b", "#6b411f"),
    ("#ee9d5a", "#8f4f14"),
    ("#b5560d", "#eb9a55"),
    ("#803802", "#ffca99"),
)
# Sizes without a direction: from nothing on.
GREYS = (("#f1f1f0", "#2a2f35"), ("#dddddb", "#3b424a"), ("#c4c4c1", "#4c545d"), ("#a3a39f", "#5f6973"))
_GREY_BOUNDS = (0.03, 0.1, 0.25)
# Ink on a step: the paper's colour on the strongest, where ink would not be read.
ON_PAPER, ON_INK = ("#222222", "#e8eaed"), ("#ffffff", "#14171b")


def step(ratio):
    """Returns the step of a ratio, from -5 to 5."""
    size = bisect.bisect_right(BOUNDS, math.exp(abs(math.log(ratio))))
    return -size if ratio < 1 else size


def colours(own):
    """Returns (light, dark) of a step."""
    return STEPS[own + MOST]


def ink(own):
    """Returns (light, dark) of what is written on a step."""
    return ON_INK if abs(own) >= MOST - 1 else ON_PAPER


def grey(share):
    """Returns the place of a size among the greys."""
    return bisect.bisect_right(_GREY_BOUNDS, share)


def dark_colours():
    """Returns the colour on dark paper for each on light paper."""
    return dict((*STEPS, *GREYS))


def legend():
    """Returns (step, per cent), from less to more."""
    more = [f"{(bound - 1) * 100:.0f}" for bound in BOUNDS]
    less = [f"{(1 - 1 / bound) * 100:.0f}" for bound in BOUNDS]
    ranges = lambda ends: [f"{low}–{high}" for low, high in zip(ends, ends[1:])] + [f"over {ends[-1]}"]
    words = [*reversed(ranges(less)), f"±{more[0]}", *ranges(more)]
    return list(zip(range(-MOST, MOST + 1), words))
