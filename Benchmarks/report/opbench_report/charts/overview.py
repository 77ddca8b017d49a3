"""The geometric mean of all times against the reference's, over everything and family by family; and whatever can do a
part only beside one of ours, over what both can do."""

from .chart import Axis, Chart, Guide, Mark, Panel, Series, no_ratio

NAME = "overview"


def build(results):
    reference = results.reference
    groups = [(group.family or "all benchmarks", group) for group in results.means or [] if group.together]
    whole = next((group for group in results.means or [] if not group.family), None)
    if whole is None or not whole.together:
        return no_ratio(NAME, results)
    # Of one family, the whole says nothing more.
    if len(groups) == 2:
        groups = groups[1:]
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
    for mean in means:
        label = f"x{mean.number}" + (f" ({mean.benchmarks})" if is_counted else "")
        detail = f"{mean.text} of {base}'s time, {mean.basis}"
        series.append(Series(mean.arm, [Mark(mean.value, x_low=mean.low, x_high=mean.high, label=label, detail=detail)]))
    return Panel(title, series, axis, guides=[Guide("x", 1, base)])
