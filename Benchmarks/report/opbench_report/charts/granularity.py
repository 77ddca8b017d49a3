"""Efficiency against task granularity, with METG marked (Slaughter et al., SC'20)."""

from .chart import Axis, Chart, Guide, Mark, Missing, Panel, Series

NAME = "granularity"


def build(results):
    panels = [_panel(sweep) for sweep in results.granularity or []]
    if not panels:
        return Missing(
            NAME, "there is no METG", "opbench run --backend all --benchmark dependencies/metg --output X.csv"
        )
    caption = (
        "Efficiency (useful work over what all CPUs can do) against the average task granularity (time × cores /"
        " tasks), both medians over processes, with 95 % intervals. The large hollow marks stand at METG(50 %), the"
        " smallest granularity that still reaches 50 %: further left is better."
    )
    return Chart(NAME, "dependencies", "How small may tasks be?", caption, "lines", panels, columns=2)


def _panel(sweep):
    title = " ".join(
        f"{key}={value}" if key != "pattern" else value
        for key, value in sorted(sweep.line.parameters.items(), key=lambda pair: pair[0] != "pattern")
    )
    return Panel(
        title,
        [Series(curve.arm, _marks(curve)) for curve in sweep.curves],
        Axis("task granularity", "ns", True, better="less"),
        Axis("efficiency", better="more"),
        [Guide("y", 0.5, "50 %"), Guide("y", 0.95, "95 %"), Guide("y", 1, "peak")],
    )


def _marks(curve):
    """Returns the points of a curve, and METG on the curve's own level, so that the picture shows where it comes
    from."""
    marks = [_point(point) for point in curve.points]
    metg = curve.metg
    detail = f"METG(50 %) {metg.interval_text}, n = {metg.n}"
    marks.append(Mark(metg.value, 0.5, x_low=metg.low, x_high=metg.high, label=metg.text, detail=detail))
    return sorted(marks, key=lambda mark: mark.x)


def _point(point):
    granularity, efficiency = point.granularity, point.efficiency
    detail = (
        f"tasks of {point.work_text}: granularity {granularity.interval_text}, efficiency {efficiency.interval_text},"
        f" n = {point.n}"
    )
    ends = (granularity.low, granularity.high, efficiency.low, efficiency.high)
    return Mark(granularity.value, efficiency.value, *ends, detail=detail)
