"""How far a queue departs from strict priority."""

from .chart import Axis, Chart, Missing, dots_panel, is_wide

NAME = "rank-error"
_METRICS = (
    ("priority/rank-error", "rank_error_mean"),
    ("priority/rank-error", "rank_error_p99"),
    ("priority/rank-error", "rank_error_max"),
    ("priority/rank-error", "delay_mean"),
    ("priority/rank-error", "delay_p99"),
    ("priority/inversion", "inversion_ns"),
)


def build(results):
    lines = [line for benchmark, metric in _METRICS for line in results.select(benchmark, metric)]
    values = {}
    for line in lines:
        values.setdefault(line.unit, []).extend(cell.value for cell in line.cells.values())
    # Panels of one unit share their ticks, so that all are logarithmic or none is.
    axes = {
        unit: Axis("mean inversion" if unit == "ns" else "operations", unit, is_wide(own), better="less")
        for unit, own in values.items()
    }
    panels = [dots_panel(line, line.words, axes[line.unit]) for line in lines]
    if not panels:
        return Missing(
            NAME,
            "there is no rank error",
            "opbench run --backend all --benchmark 'priority/(rank-error|inversion)' --output X.csv",
        )
    caption = (
        "Rank error: operations of higher priority that were ready when one started. Delay: lower ones that started"
        " while one was ready. Inversion: how long one was ready while a lower one ran that had started later. Medians"
        " over processes with 95 % intervals; less is better."
    )
    return Chart(NAME, "priority", "How far is the order from strict priority?", caption, "dots", panels)
