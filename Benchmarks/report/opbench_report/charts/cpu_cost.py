"""Speed beside what it costs in CPU time: a queue that spins is quick and dear."""

from .chart import Axis, Chart, Guide, Mark, Missing, Panel, Series
from ..data.metrics import quantity_with_interval, significant

NAME = "cpu-cost"
_FAMILIES = ("overhead", "dependencies", "forkjoin", "cancellation")


def build(results):
    panels = [panel for family in _FAMILIES if (panel := _panel(results, family)) is not None]
    if not panels:
        return Missing(
            NAME, "no row has cpu_ns_per_op", "opbench run --backend all --benchmark overhead/ --output X.csv"
        )
    caption = (
        "Each mark is a benchmark: wall-clock time per operation against CPU time per operation, with 95 % intervals."
        " On the line 1 CPU the process kept one CPU busy all the time; above it, more than one; below it, it waited."
    )
    return Chart(NAME, "overhead", "CPU cost beside speed", caption, "scatter", panels)


def _panel(results, family):
    series = []
    for arm in results.main_arms:
        marks = []
        for line in results.select(family=family, metric="ns_per_op"):
            other = results.line(line.benchmark, line.params, "cpu_ns_per_op")
            if other is None or arm not in line.main_arms or arm not in other.cells:
                continue
            wall, cpu = line.cells[arm].estimate, other.cells[arm].estimate
            if wall.median <= 0 or cpu.median <= 0:
                continue
            detail = (
                f"{line.benchmark} {line.params}: time {quantity_with_interval('ns', wall)}, CPU time"
                f" {quantity_with_interval('ns', cpu)} per operation, {significant(cpu.median / wall.median)} CPUs busy"
            )
            marks.append(Mark(wall.median, cpu.median, wall.low, wall.high, cpu.low, cpu.high, detail=detail))
        if marks:
            series.append(Series(arm, marks))
    if not series:
        return None
    widest = max(arm.workers for arm in results.main_arms)
    guides = [Guide("diagonal", 1, "1 CPU")] + ([Guide("diagonal", widest, f"{widest} CPUs")] if widest > 1 else [])
    return Panel(
        family, series, Axis("time per operation", "ns", True), Axis("CPU time per operation", "ns", True), guides
    )
