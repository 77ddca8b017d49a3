"""Latency percentiles, from the intended start of an operation to the begin of its body."""

from ..facts import widest
from .chart import Axis, Chart, Missing, Panel, Series, is_wide, shared_keys, title_of, y_mark

NAME = "latency"
_PERCENTILES = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))


def build(results):
    panels = percentile_panels(results.select(family="latency"))
    if not panels:
        return Missing(NAME, "there is no latency", "opbench run --backend all --benchmark 'latency/(wake|ping|open)' --output X.csv")
    caption = (
        "From the intended start of an operation to the begin of its body, by percentile; medians over processes with"
        " 95 % intervals. A percentile is missing where there are too few samples for it (p99 needs"
        f" {results.percentile_samples.p99:,} in a process, p99.9 {results.percentile_samples.p999:,})."
    )
    return Chart(NAME, "latency", "How late does a body begin?", caption, "lines", panels)


def percentile_panels(lines):
    """Returns a panel per scenario with `latency_…` metrics."""
    by_scenario = {}
    for line in lines:
        for place, (name, _) in enumerate(_PERCENTILES):
            if line.metric == f"latency_{name}_ns":
                by_scenario.setdefault((line.benchmark, line.params), {})[place] = line
    shared = shared_keys([line for group in by_scenario.values() for line in group.values()])
    panels = []
    for (benchmark, _), group in by_scenario.items():
        series = []
        for arm in widest(arm for line in group.values() for arm in line.cells):
            marks = [
                y_mark(place, line, line.cells[arm]) for place, line in sorted(group.items()) if arm in line.cells
            ]
            series.append(Series(arm, marks))
        values = [mark.y for curve in series for mark in curve.marks]
        names = [(place, _PERCENTILES[place][1]) for place in sorted(group)]
        panels.append(
            Panel(
                title_of(next(iter(group.values())), shared[benchmark]),
                series,
                Axis("percentile", names=names),
                Axis("latency", "ns", is_wide(values), better="less"),
            )
        )
    return panels
