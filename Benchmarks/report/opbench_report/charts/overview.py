"""The geometric mean of all times against the reference's, over everything and family by family; and whatever can do a
part only beside one of ours, over what both can do."""

from .chart import Axis, Chart, Guide, Mark, Panel, Series, no_ratio

NAME = "overview"


def build(results):
    reference = results.reference
    groups = [(group.family or "all benchmarks", group) for group in results.means or [] if group.together]
    # Those with the most subjects come first, so that panels side by side have the same ones.
    groups.sort(key=lambda group: (bool(group[1].family), -len(group[1].together)))
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
    apart = ""
    if whole.apart:
        ours = whole.ours.subject.name
        beside = Axis(f"time relative to {ours}", "ratio", True, better="less")
        panels.insert(1, _panel(f"each beside {ours}", whole.apart, ours, beside, is_counted=True))
        apart = (
            f" A subject without all abilities, such as one without queues or priorities, stands beside {ours} alone: in"
            " parentheses is the number of benchmarks that both run."
        )
        caption += f"{apart} Such means do not compare with one another."
    note = f"A mark is the geometric mean of time ratios, one for each benchmark; its bar is the 95 % interval.{apart}"
    title = f"How much of {reference}'s time does each subject take?"
    return Chart(NAME, "overview", title, caption, "dots", panels, columns=2, note=note)


def _panel(title, means, base, axis, is_counted=False):
    series = []
    for mean in means:
        label = f"x{mean.number}" + (f" ({mean.benchmarks})" if is_counted else "")
        detail = f"{mean.text} of {base}'s time, {mean.basis}"
        series.append(Series(mean.arm, [Mark(mean.value, x_low=mean.low, x_high=mean.high, label=label, detail=detail)]))
    return Panel(title, series, axis, guides=[Guide("x", 1, base)])
