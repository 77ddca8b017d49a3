"""Efficiency against task granularity, with METG marked (Slaughter et al., SC'20)."""

import math

from ..data import parameters
from ..data.metrics import quantity, quantity_with_interval
from ..data.statistics import estimate, median
from .chart import Axis, Chart, Guide, Mark, Missing, Panel, Series

NAME = "granularity"
_BENCHMARK = "dependencies/metg"


def build(results):
    rows = results.rows[results.rows.name == _BENCHMARK]
    panels = []
    for line in results.select(_BENCHMARK, "metg50_ns"):
        own = [
            (one, parameters.number(one.parameters, "work_ns"))
            for one in results.select(_BENCHMARK, "efficiency")
            if line.parameters.items() <= one.parameters.items()
        ]
        work = {one.params: nanoseconds for one, nanoseconds in own if nanoseconds}
        subset = rows[rows.params.isin([*work, line.params])]
        series = []
        for arm in line.main_arms:
            mine = subset[(subset.backend == arm.subject.name) & (subset.workers == arm.workers)]
            curve = _curve(mine, work, line.params)
            if curve:
                series.append(Series(arm, curve))
        if series:
            panels.append(_panel(results, line, series))
    if not panels:
        return Missing(
            NAME, "there is no METG", "opbench run --backend all --benchmark dependencies/metg --output X.csv"
        )
    caption = (
        "Efficiency (useful work over what all CPUs can do) against the average task granularity (time × cores /"
        " tasks), both medians over processes, with 95 % intervals. The large hollow marks stand at METG(50 %), the"
        " smallest granularity that still reaches 50 %: further left is better."
    )
    return Chart(NAME, "dependencies", "Efficiency against granularity", caption, "lines", panels, columns=2)


def _panel(results, line, series):
    guides = [Guide("y", 0.5, "50 %"), Guide("y", 0.95, "95 %"), Guide("y", 1, "peak")]
    for one in series:
        metg = line.cells[one.arm].estimate
        # METG stands on the curve's own level, so that the picture shows where it comes from.
        one.marks.append(
            Mark(
                metg.median,
                0.5,
                x_low=metg.low,
                x_high=metg.high,
                label=quantity("ns", metg.median),
                detail=f"METG(50 %) {quantity_with_interval('ns', metg)}, n = {metg.count}",
            )
        )
        one.marks.sort(key=lambda mark: mark.x)
    title = " ".join(
        f"{key}={value}" if key != "pattern" else value
        for key, value in sorted(line.parameters.items(), key=lambda pair: pair[0] != "pattern")
    )
    return Panel(
        title, series, Axis("task granularity", "ns", True, better="less"), Axis("efficiency", better="more"), guides
    )


def _curve(rows, work, metg_params):
    """Marks by nominal work. The CSV has METG and the efficiencies; the granularity of a run is work / efficiency times
    a factor
    of the process, its share of work per task over the peak, and METG says which."""
    by_work = {}
    for _, process in rows.groupby(["run_id", "process"]):
        points = {}
        for _, value in process.groupby("value_index"):
            sweep = [
                (work[params], efficiency)
                for params, efficiency in value[value.metric == "efficiency"][["params", "value"]].itertuples(
                    index=False
                )
                if params in work and efficiency > 0
            ]
            metg = value[(value.metric == "metg50_ns") & (value.params == metg_params)].value
            factor = _factor(sweep, metg.iloc[0]) if len(metg) else None
            if factor is None:
                continue
            for nominal, efficiency in sweep:
                points.setdefault(nominal, []).append((factor * nominal / efficiency, efficiency))
        for nominal, pairs in points.items():
            by_work.setdefault(nominal, []).append(
                (median([one for one, _ in pairs]), median([one for _, one in pairs]))
            )
    processes = max((len(pairs) for pairs in by_work.values()), default=0)
    marks = []
    for nominal, pairs in sorted(by_work.items()):
        # At the ends of a sweep are only those processes that went so far: not the same as the others.
        if len(pairs) < max(1, processes / 2):
            continue
        granularity = estimate([one for one, _ in pairs])
        efficiency = estimate([one for _, one in pairs])
        detail = (
            f"tasks of {quantity('ns', nominal)}: granularity {quantity_with_interval('ns', granularity)}, efficiency"
            f" {quantity_with_interval('', efficiency)}, n = {len(pairs)}"
        )
        marks.append(
            Mark(
                granularity.median,
                efficiency.median,
                granularity.low,
                granularity.high,
                efficiency.low,
                efficiency.high,
                detail=detail,
            )
        )
    return marks


def _factor(sweep, metg):
    """What work / efficiency must be multiplied with so that the curve falls below one half at METG(50 %)."""
    falling = sorted(((nominal / efficiency, efficiency) for nominal, efficiency in sweep), reverse=True)
    for (coarse, above), (fine, below) in zip(falling, falling[1:]):
        if above >= 0.5 > below:
            share = (0.5 - below) / (above - below)
            return metg / math.exp(math.log(fine) + share * (math.log(coarse) - math.log(fine)))
    return None
