"""How far a queue departs from strict priority."""

from .chart import Axis, Chart, Missing, dots_panel, is_wide

NAME = "rank-error"
_METRICS = (
    ("priority/rank-error", "rank_error_mean", "rank error, mean"),
    ("priority/rank-error", "rank_error_p99", "rank error, p99"),
    ("priority/rank-error", "rank_error_max", "rank error, largest"),
    ("priority/rank-error", "delay_mean", "delay, mean"),
    ("priority/rank-error", "delay_p99", "delay, p99"),
    ("priority/inversion", "inversion_ns", "priority inversion, mean"),
)


def build(results):
    panels = []
    for benchmark, metric, title in _METRICS:
        for line in results.select(benchmark, metric):
            values = [cell.estimate.median for cell in line.cells.values()]
            label = "mean inversion" if line.unit == "ns" else "operations"
            panel = dots_panel(line, results.main_arms, title, Axis(label, line.unit, is_wide(values)))
            if panel.series:
                panels.append(panel)
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
    return Chart(NAME, "priority", "Rank error", caption, "dots", panels)
