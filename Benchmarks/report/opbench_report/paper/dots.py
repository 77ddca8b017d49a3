"""A panel with a row per subject: a mark, its interval, and the number with its ratio at the right."""

import math

from ..charts.ticks import limits, ticks
from .style import FAINT, INK, error_style, marker_style, title_size

# What a character of the numbers at the right and of a tick label has of the panel's width, in inches.
_CHARACTER = 0.046
_TICK_CHARACTER = 0.058
# What a panel has above and below its rows, in heights of a row.
EDGE = 0.2


def draw_dots(axes, panel, chart, arms, with_names, with_label, said=""):
    """`said` is what the dashed line is, where it is said elsewhere."""
    # Panels on the same axis have the same limits, and room for the longest number among them.
    alike = [other for other in chart.panels if (other.x.label, other.x.unit) == (panel.x.label, panel.x.unit)]
    low, high = limits(_values(alike, panel.x.log), panel.x.log)
    width = axes.figure.get_size_inches()[0] * axes.get_position().width
    labels = [mark.label for other in alike for series in other.series for mark in series.marks]
    numbers = 0.12 + _CHARACTER * max(map(len, labels))
    room = numbers / (width - numbers)
    axes.set_ylim(len(arms) - 0.5 + EDGE / 2, -0.5 - EDGE / 2)
    if panel.x.log:
        axes.set_xscale("log")
        axes.set_xlim(low, high * (high / low) ** room)
    else:
        axes.set_xlim(low, high + (high - low) * room)
    marks = _apart(panel.x, chart.steps(panel.x), low, high, width - numbers)
    axes.set_xticks([place for place, _ in marks], [text for _, text in marks])
    axes.minorticks_off()
    axes.grid(axis="x")
    for guide in panel.guides:
        if guide.kind == "x":
            axes.axvline(guide.at, color=INK, linewidth=0.8, linestyle=(0, (4, 2)) if guide.at != 1 else "-", zorder=1)
    axes.set_yticks(range(len(arms)), [chart.name_of(arm) for arm in arms] if with_names else [])
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    title = panel.title + "".join(f" (dashed: {guide.label})" for guide in panel.guides if guide.at != 1 and guide.label != said)
    axes.set_title(title, loc="left", pad=3, fontsize=title_size(title, width))
    if with_label:
        axes.set_xlabel("\n".join(filter(None, [panel.x.label, panel.x.note])), labelpad=2)

    marks_of = {series.arm: series.marks for series in panel.series}
    for row, arm in enumerate(arms):
        axes.axhline(row, color=FAINT, linewidth=0.4, zorder=0)
        text = "–"
        for mark in marks_of.get(arm, []):
            error = None if mark.x_low is None else [[mark.x - mark.x_low], [mark.x_high - mark.x]]
            axes.errorbar(
                mark.x,
                row,
                xerr=error,
                linestyle="none",
                zorder=3,
                # Small, so that it does not hide its interval.
                **marker_style(arm.subject, 3.2),
                **error_style(arm.subject),
            )
            text = mark.label
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(
            1,
            row,
            text,
            transform=axes.get_yaxis_transform(),
            ha="right",
            va="center_baseline",
            fontsize=6.3,
            color=INK,
            bbox=behind,
        )


def _apart(axis, steps, low, high, width):
    """Returns as many ticks as have room side by side, up to four."""
    place = math.log if axis.log else float
    for most in (4, 3, 2):
        marks = ticks(low, high, axis.log, steps, most=most)
        inches = [width * (place(at) - place(low)) / (place(high) - place(low)) for at, _ in marks]
        sizes = [_TICK_CHARACTER * (len(text) + 1) for _, text in marks]
        if all(b - a >= (own + next_) / 2 for a, b, own, next_ in zip(inches, inches[1:], sizes, sizes[1:])):
            break
    return marks


def _values(panels, log):
    values = [guide.at for panel in panels for guide in panel.guides if guide.kind == "x"]
    for panel in panels:
        for series in panel.series:
            for mark in series.marks:
                values += [
                    value for value in (mark.x, mark.x_low, mark.x_high) if value is not None and (value > 0 or not log)
                ]
    return values
