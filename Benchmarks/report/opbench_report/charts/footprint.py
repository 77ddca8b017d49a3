"""What an operation asks of the allocator, counted in processes of their own."""

from .chart import Axis, Chart, Missing, dots_panel, is_wide, ratio_words, shared_keys, title_of, values_of

NAME = "footprint"
_METRICS = ("allocations_per_op", "bytes_per_op", "pending_bytes_per_op")


def build(results):
    panels = []
    for metric in _METRICS:
        lines = results.select(family="overhead", metric=metric)
        values = values_of(lines)
        shared = shared_keys(lines)
        if not lines:
            continue
        axis = Axis(lines[0].words, lines[0].unit, is_wide(values), better=lines[0].better or "")
        panels += [dots_panel(line, title_of(line, shared[line.benchmark]), axis) for line in lines]
    if not panels:
        return Missing(
            NAME,
            "allocations were not counted",
            "opbench run --backend all --benchmark overhead/ --output X.csv (with libjemalloc-dev installed)",
        )
    caption = (
        "Allocations and bytes per operation, counted with jemalloc in processes that take no times."
        f"{ratio_words(results)} They are counted once per cell, so there is no interval."
    )
    return Chart(NAME, "overhead", "How much memory does an operation take?", caption, "dots", panels)
