"""A panel with two axes, and curves or bands."""

import math
from dataclasses import replace

from ..charts.ticks import is_crowded, limits, ticks, with_room
from .style import HATCHES, INK, error_style, faint_error_style, marker_style, title_size

# What a character of a panel's own legend has of the width, in inches, and what its mark and its edges have.
_CHARACTER, _MARK = 0.05, 0.42
# A title that would be smaller than that is cut.
_SMALL_TITLE = 6.5
# What a character of a tick has.
_TICK_CHARACTER = 0.055
# Where all curves of a simulation lie within this share of the axis, one line stands for all of them.
_SAME = 0.02
ALIKE = "all alike"
ALIKE_STYLE = {"color": "#888888", "linewidth": 1.8, "linestyle": "-", "marker": "o", "markersize": 4}


def draw_panel(axes, panel, chart):
    _scale(axes, panel, "x", chart)
    _scale(axes, panel, "y", chart)
    axes.minorticks_off()
    axes.grid(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    width = axes.figure.get_size_inches()[0] * axes.get_position().width
    axes.set_title(_title(panel, chart, width), loc="left", pad=4, fontsize=title_size(panel.title.split(" (")[0], width))
    for guide in panel.guides:
        _guide(axes, guide, is_crowded(guide, panel.guides, axes.get_ylim()) or _hides(axes, panel, guide))
    if chart.form == "bands":
        _bands(axes, panel)
        return
    common = alike(panel, chart)
    for place, series in enumerate(panel.series):
        _series(axes, series, _aside(panel, place), common)
    if common:
        places = [mark.x for mark in panel.series[0].marks[:common]]
        heights = [sum(series.marks[place].y for series in panel.series) / len(panel.series) for place in range(common)]
        axes.plot(places, heights, zorder=4, **ALIKE_STYLE)


def _title(panel, chart, width):
    """Returns the title of a panel; sizes in parentheses stand in a line of their own where one of the titles is
    long."""
    longest = max((other.title for other in chart.panels), key=len)
    return panel.title if title_size(longest, width) > _SMALL_TITLE else panel.title.replace(" (", "\n(", 1)


def alike(panel, chart):
    """Returns at how many places from the left on all curves of a simulated panel are the same: eight lines that lie on
    each other are one to the eye."""
    if not chart.simulated or chart.form != "lines" or len(panel.series) < 2:
        return 0
    curves = [[(mark.x, mark.y) for mark in series.marks] for series in panel.series]
    if len({tuple(x for x, _ in curve) for curve in curves}) > 1:
        return 0
    low, high = panel.y.ends or limits([y for curve in curves for _, y in curve], False)
    count = 0
    for points in zip(*curves):
        heights = [y for _, y in points]
        if max(heights) - min(heights) > _SAME * (high - low):
            break
        count += 1
    # One place is no line.
    return count if count > 1 else 0


def _bands(axes, panel):
    """Draws shares above one another, told apart by hatches too."""
    marks = [series.marks for series in panel.series]
    areas = axes.stackplot(
        [mark.x for mark in marks[0]],
        [[mark.y for mark in band] for band in marks],
        colors=[series.arm.subject.look.light for series in panel.series],
    )
    for area, hatch in zip(areas, HATCHES):
        area.set(hatch=hatch, edgecolor="white", linewidth=0)


def _aside(panel, place):
    """Returns how far a series stands beside its places: where they have names, as percentiles, all are at the same
    ones, and no mark is to hide another."""
    if not panel.x.names or panel.x.log:
        return 0
    return (place - (len(panel.series) - 1) / 2) * min(0.05, 0.6 / len(panel.series))


def _series(axes, series, aside, common=0):
    subject = series.arm.subject
    marks = [replace(mark, x=mark.x + aside) for mark in series.marks] if aside else series.marks
    # A curve begins where it leaves the others.
    plain = [mark for mark in marks[max(0, common - 1) :] if not mark.label]
    for mark in marks[common:]:
        style = marker_style(subject, 4)
        # A mark with a number of its own, such as METG, stands out from the curve.
        if mark.label:
            style |= {"markersize": 7.5, "markerfacecolor": "white", "markeredgewidth": 1.4}
        axes.errorbar(
            mark.x,
            mark.y,
            xerr=_error(mark.x, mark.x_low, mark.x_high),
            yerr=_error(mark.y, mark.y_low, mark.y_high),
            linestyle="none",
            zorder=4 if mark.label else 3,
            **style,
            # Wide intervals of one subject would hatch the picture.
            **(error_style(subject) if mark.label else faint_error_style(subject)),
        )
    axes.plot(
        [mark.x for mark in plain],
        [mark.y for mark in plain],
        color=subject.look.light,
        linewidth=1.1,
        linestyle=subject.look.matplotlib_dash,
        zorder=2,
    )
    labelled = [mark for mark in marks if mark.label]
    if labelled:
        _legend_line(axes, series, labelled[0].label)


def _legend_line(axes, series, label):
    """Adds a mark's number in the panel's own legend."""
    handles = getattr(axes, "opbench_handles", [])
    handles.append(
        axes.plot([], [], linestyle="none", label=f"{label}  {series.arm}", **marker_style(series.arm.subject))[0]
    )
    axes.opbench_handles = handles
    axes.legend(
        handles=handles,
        title="METG(50 %)",
        loc="lower right",
        frameon=False,
        fontsize=6.5,
        title_fontsize=6.5,
    )


def _error(value, low, high):
    return None if low is None else [[value - low], [high - value]]


def _scale(axes, panel, which, chart):
    axis = getattr(panel, which)
    log = axis.log
    values = [guide.at for guide in panel.guides if guide.kind == which]
    for series in panel.series:
        for mark in series.marks:
            for name in (which, f"{which}_low", f"{which}_high"):
                value = getattr(mark, name)
                if value is not None and (value > 0 or not log):
                    values.append(value)
    low, high = axis.ends or limits(values, log)
    if axis.names and not log:
        step = max(values) - min(values) or 1
        low, high = min(values) - 0.08 * step, max(values) + 0.08 * step
    getattr(axes, f"set_{which}scale")("log" if log else "linear")
    if which == "x" and log and any(mark.label for series in panel.series for mark in series.marks):
        # At the right there is room for the panel's own legend, which would hide marks.
        axes.set_xlim(low, high * (high / low) ** _legend_room(axes, panel))
    else:
        getattr(axes, f"set_{which}lim")(low, high)
    marks = axis.names or ticks(low, high, log, chart.steps(axis))
    if which == "x":
        width = 0.92 * axes.figure.get_size_inches()[0] * axes.get_position().width
        first, last = (math.log(end) if log else end for end in axes.get_xlim())
        marks = with_room(marks, lambda at: width * ((math.log(at) if log else at) - first) / (last - first), _TICK_CHARACTER)
    getattr(axes, f"set_{which}ticks")([place for place, _ in marks], [text for _, text in marks])
    getattr(axes, f"set_{which}label")("\n".join(filter(None, [axis.label, axis.note])), labelpad=2)


def _legend_room(axes, panel):
    """Returns what a panel's own legend takes, as a share of what is left for the marks."""
    width = 0.9 * axes.figure.get_size_inches()[0] * axes.get_position().width
    named = [f"{mark.label}  {series.arm}" for series in panel.series for mark in series.marks if mark.label]
    legend = min(_MARK + _CHARACTER * max(map(len, named)), 0.6 * width)
    return legend / (width - legend)


def _hides(axes, panel, guide):
    """Returns whether the label of a horizontal guide would stand on marks above the line, and on fewer below."""
    if guide.kind != "y":
        return False
    above = below = 0
    for series in panel.series:
        for mark in series.marks:
            x, y = axes.transAxes.inverted().transform(axes.transData.transform((mark.x, mark.y)))
            _, line = axes.transAxes.inverted().transform(axes.transData.transform((mark.x, guide.at)))
            if x < 0.6:
                above += 0 < y - line < 0.12
                below += 0 < line - y < 0.12
    _, line = axes.transAxes.inverted().transform(axes.transData.transform((panel.series[0].marks[0].x, guide.at)))
    return above > below and line > 0.1


def _guide(axes, guide, is_below):
    style = {"color": INK, "linewidth": 0.7, "linestyle": (0, (4, 2)), "zorder": 1}
    if guide.kind == "y":
        axes.axhline(guide.at, **style)
        axes.text(
            0.01,
            guide.at,
            guide.label,
            transform=axes.get_yaxis_transform(),
            va="top" if is_below else "bottom",
            ha="left",
            fontsize=6,
            color=INK,
        )
    else:
        axes.axvline(guide.at, **style)
