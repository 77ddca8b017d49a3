"""How long operations wait, level by level."""

from ..facts import widest
from .chart import Axis, Chart, Missing, Panel, Series, is_wide, y_mark

NAME = "wait-by-level"
_BENCHMARK = "priority/wait-by-level"
_LEVELS = ["veryLow", "low", "normal", "high", "veryHigh"]
_METRICS = ("wait_p50_ns", "wait_p99_ns", "wait_max_ns")


def build(results):
    panels = []
    for metric in _METRICS:
        lines = [line for line in results.select(_BENCHMARK, metric) if line.parameters.get("level") in _LEVELS]
        if not lines:
            continue
        lines.sort(key=lambda line: _LEVELS.index(line.parameters["level"]))
        series = []
        for arm in widest(arm for line in lines for arm in line.cells):
            marks = [
                y_mark(
                    _LEVELS.index(line.parameters["level"]), line, line.cells[arm], f"{line.parameters['level']}: "
                )
                for line in lines
                if arm in line.cells
            ]
            series.append(Series(arm, marks))
        values = [mark.y for curve in series for mark in curve.marks]
        x = Axis("priority level", names=list(enumerate(_LEVELS)))
        panels.append(Panel(lines[0].words, series, x, Axis("wait", "ns", is_wide(values))))
    if not panels:
        return Missing(
            NAME,
            "there are no waits by level",
            "opbench run --backend all --benchmark priority/wait-by-level --output X.csv",
        )
    caption = (
        "From being ready to starting, of operations of five priorities that wait together; medians over processes with"
        " 95 % intervals. A strict queue falls steeply from left to right."
    )
    return Chart(NAME, "priority", "How long does each priority wait?", caption, "lines", panels)
