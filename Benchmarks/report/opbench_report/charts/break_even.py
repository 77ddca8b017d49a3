"""Where forking begins to pay: the time over the plain recursion, against the length of a body."""

from ..facts import widest
from .chart import Axis, Chart, Guide, Panel, Series, y_mark

NAME = "break-even"
BENCHMARK = "forkjoin/break-even"
# Where a body without work stands on a logarithmic axis.
_NO_WORK = 0.3
_TICKS = [(_NO_WORK, "0"), (10, "10 ns"), (1e3, "1 µs"), (1e5, "100 µs")]
# All panels have the same axis, so that they can be compared.
_ENDS = (0.2, 1.6e6)


def build(results):
    groups = {}
    for line in results.select(BENCHMARK, "time_over_serial"):
        groups.setdefault((line.parameters["from"], line.numbers["bodies"]), []).append(line)
    if not groups:
        return None
    has_several = len({origin for origin, _ in groups}) > 1
    panels = [
        _panel(lines, f"{bodies:,.0f} bodies" + (f", from={origin}" if has_several else ""))
        for (origin, bodies), lines in sorted(groups.items(), key=lambda group: (group[0][0] != "worker", *group[0]))
    ]
    caption = (
        "Time of forked bodies over the time of the plain recursion, against the length of a body; medians over processes"
        " with 95 % intervals. Below 1 forking pays. A body without work stands at the left end. A problem takes one join"
        " less than it has bodies."
    )
    return Chart(NAME, "forkjoin", "Where forking pays", caption, "lines", panels)


def _panel(lines, title):
    lines = sorted(lines, key=lambda line: line.numbers["body_ns"])
    series = []
    for arm in widest(arm for line in lines for arm in line.cells):
        marks = [
            y_mark(line.numbers["body_ns"] or _NO_WORK, line, line.cells[arm], f"{line.parameters['body_ns']} ns: ")
            for line in lines
            if arm in line.cells
        ]
        series.append(Series(arm, marks))
    x = Axis("length of a body", "ns", True, names=_TICKS, ends=_ENDS)
    y = Axis("time over serial", "ratio", True, better="less")
    return Panel(title, series, x, y, [Guide("y", 1, "plain recursion")])
