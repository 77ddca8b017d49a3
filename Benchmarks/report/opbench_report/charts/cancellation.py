"""What cancelling costs, and whether it holds."""

from .chart import Axis, Chart, Missing, dots_panel, is_wide, ratio_words, shared_keys, title_of, values_of

NAME = "cancellation"
_METRICS = ("ns_per_cancel", "latency_p50_ns", "latency_p99_ns", "late_starts", "ns_per_op")


def build(results):
    panels = []
    for metric in _METRICS:
        lines = results.select(family="cancellation", metric=metric)
        shared = shared_keys(lines)
        values = values_of(lines)
        for line in lines:
            title = title_of(line, shared[line.benchmark])
            axis = Axis(line.words, line.unit, is_wide(values), better=line.better or "")
            panels.append(dots_panel(line, title, axis))
    if not panels:
        return Missing(
            NAME, "nothing was cancelled", "opbench run --backend all --benchmark cancellation/ --output X.csv"
        )
    caption = (
        "Time per cancelled operation, time from cancel() to the flag seen in a running body, and bodies begun after"
        " cancelAllOperations had returned, of which there must be none; medians over processes with 95 % intervals."
        + ratio_words(results)
    )
    return Chart(NAME, "cancellation", "What does cancelling cost?", caption, "dots", panels)
