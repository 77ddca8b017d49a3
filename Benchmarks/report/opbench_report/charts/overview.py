"""The geometric mean of all times against the reference's, over everything and family by family."""

from ..data.comparison import compare
from ..data.geometric_mean import geometric_mean
from ..data.metrics import ratio, significant
from .chart import Axis, Chart, Guide, Mark, Panel, Series, no_ratio

NAME = "overview"


def build(results):
    reference = results.reference
    comparison = compare(results, reference)
    if not comparison.lines:
        return no_ratio(NAME, results)
    axis = Axis(f"time relative to {reference}", "ratio", True, better="less")
    families = list(dict.fromkeys(one.benchmark.split("/")[0] for one in comparison.lines))
    groups = [("all benchmarks", comparison.lines)] if len(families) > 1 else []
    groups += [
        (family, [one for one in comparison.lines if one.benchmark.startswith(family + "/")]) for family in families
    ]
    panels = []
    for title, compared in groups:
        means = {}
        for arm in results.main_arms:
            own = [one for one in compared if one.arm == arm and results.is_main(one)]
            mean = geometric_mean([(one.benchmark, one.logarithms) for one in own])
            if mean is not None:
                means[arm] = mean
        most = max((mean.benchmarks for mean in means.values()), default=0)
        series = []
        for arm, mean in means.items():
            count = f"{mean.benchmarks} benchmark{'s' if mean.benchmarks > 1 else ''}, {mean.blocks} blocks"
            series.append(
                Series(
                    arm,
                    [
                        Mark(
                            mean.ratio,
                            x_low=mean.low,
                            x_high=mean.high,
                            label=f"x{significant(mean.ratio)}" + (f" ({mean.benchmarks})" if mean.benchmarks < most else ""),
                            detail=f"{ratio(mean)} of {reference}'s time, {count}",
                        )
                    ],
                )
            )
        if series:
            panels.append(Panel(title, series, axis, guides=[Guide("x", 1, reference)]))
    caption = (
        "Geometric mean of the paired time ratios, one vote per benchmark by the one time that stands for it. Bars are"
        " bootstrap intervals over blocks (95 %), from six blocks on. A subject that cannot do all of them has"
        " fewer in its mean, whose number stands in parentheses: such means do not compare with the others."
    )
    return Chart(NAME, "overview", f"Time relative to {reference}", caption, "dots", panels)
