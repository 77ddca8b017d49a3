"""The geometric mean of all times against the reference's, over everything and family by family; and whatever can do a part
only beside one of ours, over what both can do."""

from ..data.common_means import common_means
from ..data.metrics import ratio, significant
from .chart import Axis, Chart, Guide, Mark, Panel, Series, no_ratio

NAME = "overview"


def build(results):
    reference = results.reference
    lines = results.primary_lines()
    whole = common_means(results, lines)
    if not whole.together:
        return no_ratio(NAME, results)
    families = list(dict.fromkeys(line.family for line in lines))
    groups = [(family, common_means(results, results.primary_lines(family))) for family in families]
    groups = [(family, means) for family, means in groups if means.together]
    if len(groups) > 1:
        groups.insert(0, ("all benchmarks", whole))
    axis = Axis(f"time relative to {reference}", "ratio", True, better="less")
    panels = [_panel(title, means.together, reference, axis) for title, means in groups]
    caption = (
        "Geometric mean of the paired time ratios, one vote per benchmark by the one time that stands for it. Bars are"
        " bootstrap intervals over blocks (95 %), from six blocks on. All means of a panel are over the same benchmarks."
    )
    if whole.apart:
        ours = whole.ours.subject.name
        beside = Axis(f"time relative to {ours}", "ratio", True, better="less")
        panels.insert(1, _panel(f"each beside {ours}, over what both have", whole.apart, ours, beside, is_counted=True))
        caption += (
            f" Whatever lacks some of them stands beside {ours} alone, over the benchmarks that both have; their number"
            " is in parentheses, and such means do not compare with one another."
        )
    return Chart(NAME, "overview", f"Time relative to {reference}", caption, "dots", panels, columns=2)


def _panel(title, means, base, axis, is_counted=False):
    series = []
    for arm, mean in means.items():
        count = f"{mean.benchmarks} benchmark{'s' if mean.benchmarks > 1 else ''}, {mean.blocks} blocks"
        label = f"x{significant(mean.ratio)}" + (f" ({mean.benchmarks})" if is_counted else "")
        detail = f"{ratio(mean)} of {base}'s time, {count}"
        mark = Mark(mean.ratio, x_low=mean.low, x_high=mean.high, label=label, detail=detail)
        series.append(Series(arm, [mark]))
    return Panel(title, series, axis, guides=[Guide("x", 1, base)])
