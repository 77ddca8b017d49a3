"""From a chart to a figure, and from there to two files."""

import io
import math
import os
import textwrap

from matplotlib.patches import Patch

from ..files import replace
from .dots import EDGE, draw_dots
from .heat import heat_figure
from .lines import ALIKE, ALIKE_STYLE, alike, draw_panel
from .style import HATCHES, INK, PARAMETERS, WIDTH, for_the_web, marker_style, pyplot

KINDS = ("svg", "png")
# So many panels are set smaller.
_MANY = 9
# The characters of a line of a chart's note, and its height in inches.
_NOTE_LINE, _NOTE_HEIGHT = 160, 0.125


def render(chart, folder, source, kinds=KINDS, name=None):
    """Writes `<name>.svg` and `<name>.png`, by default by the chart's name; `source` goes into their metadata."""
    with pyplot.rc_context(PARAMETERS):
        figure = _FIGURES[chart.form](chart)
        try:
            about = {
                "svg": {"Title": chart.title, "Source": source, "Creator": "opbench", "Date": None},
                "png": {"Title": chart.title, "Source": source, "Software": "opbench"},
            }
            for kind in kinds:
                content = io.BytesIO()
                figure.savefig(content, format=kind, metadata=about[kind])
                drawn = content.getvalue()
                replace(os.path.join(folder, f"{name or chart.name}.{kind}"), for_the_web(drawn) if kind == "svg" else drawn)
        finally:
            pyplot.close(figure)


def _heat_figure(chart):
    figure = heat_figure(chart)
    _title(figure, chart, figure.get_figheight())
    return figure


def _dots_figure(chart):
    """Small multiples: a panel per benchmark, in each a row per subject, in the same order everywhere. A subject
    without a mark in any panel of a row of panels takes no room there. Panels side by side that have no subject in
    common, and two that differ in their subjects, have rows and names of their own: instead of dashes."""
    columns = min(chart.columns, len(chart.panels))
    rows = [chart.panels[first : first + columns] for first in range(0, len(chart.panels), columns)]
    arms = [_arms_of(row, columns) for row in rows]
    margin = 0.16 + 0.062 * max(len(chart.name_of(arm)) for arm in chart.arms)
    shared = len({(panel.x.label, panel.x.unit) for panel in chart.panels}) == 1
    labelled = [[not shared and _is_last_of_its_axis(chart.panels, columns, panel) for panel in row] for row in rows]
    bodies = [_body(max(beside, key=len)) for beside in arms]
    gaps = [0.74 if any(row) else 0.48 for row in labelled[:-1]] + [0.5 if shared else 0.62]
    note = textwrap.wrap(chart.note, _NOTE_LINE)
    top = 0.52 + _NOTE_HEIGHT * len(note)
    height = top + sum(bodies) + sum(gaps)
    figure = pyplot.figure(figsize=(WIDTH, height))
    base = height - top
    guide = _common_guide(chart)
    for row, panels in enumerate(rows):
        base -= bodies[row]
        # The names stand before each panel, or before the first one.
        own = len(arms[row]) > 1
        gap = margin if own else 0.2
        width = (WIDTH - margin - 0.12 - gap * (columns - 1)) / columns
        for column, panel in enumerate(panels):
            beside = arms[row][column if own else 0]
            # Beside one with names a panel ends with its last subject, and its rows are level with the names.
            rest = max(beside.index(series.arm) for series in panel.series) + 1 if column else None
            shown = beside[:rest]
            body = _body(beside) * (len(shown) + EDGE) / (len(beside) + EDGE)
            place = [margin + column * (width + gap), base + bodies[row] - body, width, body]
            axes = figure.add_axes([length / whole for length, whole in zip(place, (WIDTH, height) * 2)])
            draw_dots(axes, panel, chart, shown, own or column == 0, labelled[row][column], guide)
        base -= gaps[row]
    if shared:
        words = _label(chart.panels[0].x, f"dashed: {guide}" if guide else "")
        figure.text((margin / WIDTH + 1) / 2, 0.08 / height, words, ha="center", va="bottom", color=INK)
    _title(figure, chart, height)
    figure.text(0.012, 1 - 0.29 / height, "\n".join(note), ha="left", va="top", fontsize=6.3, color=INK, linespacing=1.3)
    return figure


def _arms_of(row, columns):
    """Returns the subjects of a row of panels: one list for all, or one for each. In two columns there is room for
    that where the lists differ, in more only where no two panels share a subject."""
    each = [sorted({series.arm for series in panel.series}) for panel in row]
    together = sorted({arm for arms in each for arm in arms})
    if len(each) == 1 or sum(map(len, each)) == len(together):
        return each
    return each if columns == 2 and each[0] != each[1] else [together]


def _body(arms):
    """Returns the height of a panel."""
    return 0.17 * len(arms) + 0.1


def _common_guide(chart):
    """Returns what the dashed line is where it is the same in all of several panels, and so need not be in each
    title."""
    labels = [[guide.label for guide in panel.guides if guide.at != 1] for panel in chart.panels]
    axes = {(panel.x.label, panel.x.unit) for panel in chart.panels}
    is_common = len(labels) > 1 and len(axes) == 1 and len(labels[0]) == 1 and all(one == labels[0] for one in labels)
    return labels[0][0] if is_common else ""


def _is_last_of_its_axis(panels, columns, panel):
    """Returns whether no panel below has the same axis, whose label then holds for both."""
    place = panels.index(panel)
    below = panels[place + columns :: columns]
    return all((other.x.label, other.x.unit) != (panel.x.label, panel.x.unit) for other in below)


def _label(axis, more=""):
    notes = "; ".join(filter(None, [axis.note, more]))
    return f"{axis.label} ({notes})" if notes else axis.label


def _grid_figure(chart):
    """Draws panels with two axes, and one legend for all."""
    columns = min(chart.columns + (len(chart.panels) > _MANY), len(chart.panels))
    rows = math.ceil(len(chart.panels) / columns)
    panel_height = {1: 3.0, 2: 2.5, 3: 2.1}.get(columns, 1.75)
    names = [chart.name_of(arm) for arm in chart.arms]
    handles = [_HANDLES[chart.form](chart, arm, place) for place, arm in enumerate(chart.arms)]
    if any(alike(panel, chart) for panel in chart.panels):
        names.append(ALIKE)
        handles.append(pyplot.Line2D([], [], label=ALIKE, **ALIKE_STYLE))
    # What a column of the legend takes of the width, in inches.
    legend_columns = min(len(names), int(WIDTH / (0.85 + 0.066 * max(map(len, names)))))
    legend_rows = math.ceil(len(names) / legend_columns)
    top = 0.45 + 0.2 * legend_rows
    height = top + rows * panel_height + 0.1
    figure, grid = pyplot.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False)
    for axes, panel in zip(grid.flat, chart.panels):
        draw_panel(axes, panel, chart)
    for axes in grid.flat[len(chart.panels) :]:
        axes.remove()
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.3 / height),
        ncols=legend_columns,
        frameon=False,
        # So long that the longest dashes are seen to be dashes.
        handlelength=4.6,
        columnspacing=1.4,
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - (top - 0.05) / height), h_pad=1.2, w_pad=1.2)
    _title(figure, chart, height)
    return figure


def _line_handle(chart, arm, _):
    look = arm.subject.look
    style = marker_style(arm.subject)
    return pyplot.Line2D([], [], linestyle=look.matplotlib_dash, linewidth=1.1, label=chart.name_of(arm), **style)


def _band_handle(chart, arm, place):
    colour = arm.subject.look.light
    return Patch(facecolor=colour, hatch=HATCHES[place], edgecolor="white", linewidth=0, label=chart.name_of(arm))


def _title(figure, chart, height):
    figure.text(0.012, 1 - 0.1 / height, chart.title, ha="left", va="top", fontsize=9.5, fontweight="bold", color=INK)


_HANDLES = {"lines": _line_handle, "bands": _band_handle}
_FIGURES = {"dots": _dots_figure, "lines": _grid_figure, "bands": _grid_figure, "heat": _heat_figure}
