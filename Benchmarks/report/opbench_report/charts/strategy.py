"""What strategies differ on: times, what is pending at once, and how soon a burst or an urgent operation is served."""

from .chart import Axis, Chart, dots_panel, is_wide, ratio_words, shared_keys, title_of, values_of

NAME = "strategy"
_METRICS = ("ns_per_op", "peak_pending", "burst_p50_ns", "latency_p50_ns")


def build(results):
    panels = []
    for metric in _METRICS:
        lines = results.select(family="strategy", metric=metric)
        if not lines:
            continue
        shared = shared_keys(lines)
        values = values_of(lines)
        axis = Axis(lines[0].words, lines[0].unit, is_wide(values), better=lines[0].better or "")
        panels += [dots_panel(line, title_of(line, shared[line.benchmark]), axis) for line in lines]
    # No run of everything has these benchmarks, so nobody misses the picture.
    if not panels:
        return None
    caption = (
        "Work on which strategies of a pool differ: time per operation, the most operations pending at once in a tree, the"
        " time of a whole burst, and the time until an urgent operation begins behind a backlog; medians over processes"
        " with 95 % intervals." + ratio_words(results)
    )
    return Chart(NAME, "strategy", "How much do strategies differ?", caption, "dots", panels)
