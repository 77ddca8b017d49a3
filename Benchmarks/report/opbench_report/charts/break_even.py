"""How much work makes forking pay: the smallest problem that pays, against the number of its bodies."""

from ..facts import widest
from .chart import Axis, Chart, Panel, Series, y_mark
from .ticks import named

NAME = "break-even"
BENCHMARK = "forkjoin/break-even"
_ORIGINS = {"worker": "from a worker", "outside": "from outside"}


def build(results):
    lines = [line for line in results.select(BENCHMARK, "break_even_ns") if "bodies" in line.parameters]
    if not lines:
        return None
    origins = sorted({_origin(line) for line in lines}, key=lambda origin: (origin[1], origin[0] != "worker"))
    bodies = Axis("bodies", log=True, names=named(line.numbers["bodies"] for line in lines))
    panels = [_panel(_title(origin), [line for line in lines if _origin(line) == origin], bodies) for origin in origins]
    caption = (
        "The smallest problem at which forks save a tenth of the plain recursion's time, as that time, against the number of"
        " bodies that it is cut into; medians over processes with 95 % intervals. The problem comes from a thread of the"
        " subject, or from outside. Problems follow each other at once, or with a pause in which threads fall asleep. A subject has no mark where forks save a tenth of no problem."
    )
    return Chart(NAME, "forkjoin", "How much work makes forking pay?", caption, "lines", panels, columns=2)


def _origin(line):
    """Where problems come from, and the microseconds between two of them."""
    return line.parameters["from"], line.numbers.get("pause_us", 0)


def _title(origin):
    name, pause = origin
    return _ORIGINS.get(name, name) + (f", {pause:,.0f} us apart" if pause else "")


def _panel(title, lines, bodies):
    lines = sorted(lines, key=lambda line: line.numbers["bodies"])
    series = []
    for arm in widest(arm for line in lines for arm in line.cells):
        marks = [
            y_mark(line.numbers["bodies"], line, line.cells[arm], f"{line.numbers['bodies']:,.0f} bodies: ")
            for line in lines
            if arm in line.cells
        ]
        series.append(Series(arm, marks))
    return Panel(title, series, bodies, Axis("least work that pays", lines[0].unit, True, better="less"))
