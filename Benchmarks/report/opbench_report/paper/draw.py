"""From a chart to a figure, and from there to two files."""

import io
import math
import os

from ..files import replace
from .dots import draw_dots
from .lines import draw_panel
from .style import INK, PARAMETERS, WIDTH, for_the_web, marker_style, pyplot

KINDS = ("svg", "png")
# So many panels are set smaller.
_MANY = 9


def render(chart, folder, source, kinds=KINDS):
    """Writes `<name>.svg` and `<name>.png`; `source` goes into their metadata."""
    with pyplot.rc_context(PARAMETERS):
        figure = _dots_figure(chart) if chart.form == "dots" else _grid_figure(chart)
        try:
            about = {
                "svg": {"Title": chart.title, "Source": source, "Creator": "opbench", "Date": None},
                "png": {"Title": chart.title, "Source": source, "Software": "opbench"},
            }
            for kind in kinds:
                content = io.BytesIO()
                figure.savefig(content, format=kind, metadata=about[kind])
                drawn = content.getvalue()
                replace(os.path.join(folder, f"{chart.name}.{kind}"), for_the_web(drawn) if kind == "svg" else drawn)
        finally:
            pyplot.close(figure)


def _dots_figure(chart):
    """Small multiples: a panel per benchmark, in each a row per subject, in the same order everywhere."""
    arms = chart.arms
    columns = min(chart.columns, len(chart.panels))
    rows = math.ceil(len(chart.panels) / columns)
    margin = 0.16 + 0.062 * max(len(str(arm)) for arm in arms)
    shared = len({(panel.x.label, panel.x.unit) for panel in chart.panels}) == 1
    body, gap = 0.17 * len(arms) + 0.1, 0.48 if shared else 0.74
    top, bottom = 0.52, 0.5 if shared else 0.62
    height = top + rows * body + (rows - 1) * gap + bottom
    figure = pyplot.figure(figsize=(WIDTH, height))
    width = (WIDTH - margin - 0.12 - 0.2 * (columns - 1)) / columns
    for place, panel in enumerate(chart.panels):
        row, column = divmod(place, columns)
        left = margin + column * (width + 0.2)
        base = height - top - row * (body + gap) - body
        axes = figure.add_axes([left / WIDTH, base / height, width / WIDTH, body / height])
        draw_dots(axes, panel, chart, arms, with_names=column == 0, with_label=not shared)
    if shared:
        axis = chart.panels[0].x
        figure.text((margin / WIDTH + 1) / 2, 0.08 / height, _label(axis), ha="center", va="bottom", color=INK)
    _title(figure, chart, height)
    return figure


def _label(axis):
    return f"{axis.label} ({axis.note})" if axis.note else axis.label


def _grid_figure(chart):
    """Panels with two axes, and one legend for all."""
    columns = min(chart.columns + (len(chart.panels) > _MANY), len(chart.panels))
    rows = math.ceil(len(chart.panels) / columns)
    panel_height = {1: 3.0, 2: 2.5, 3: 2.1}.get(columns, 1.75)
    names = [chart.name_of(arm) for arm in chart.arms]
    # What a column of the legend takes of the width, in inches.
    legend_columns = min(len(names), int(WIDTH / (0.75 + 0.066 * max(map(len, names)))))
    legend_rows = math.ceil(len(names) / legend_columns)
    top = 0.45 + 0.2 * legend_rows
    height = top + rows * panel_height + 0.1
    figure, grid = pyplot.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False)
    for axes, panel in zip(grid.flat, chart.panels):
        draw_panel(axes, panel)
    for axes in grid.flat[len(chart.panels) :]:
        axes.remove()
    figure.legend(
        handles=[_handle(arm, chart.name_of(arm)) for arm in chart.arms],
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.3 / height),
        ncols=legend_columns,
        frameon=False,
        handlelength=3.2,
        columnspacing=1.4,
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - (top - 0.05) / height), h_pad=1.2, w_pad=1.2)
    _title(figure, chart, height)
    return figure


def _handle(arm, name):
    style = marker_style(arm.subject)
    return pyplot.Line2D([], [], linestyle=arm.subject.look.matplotlib_dash, linewidth=1.1, label=name, **style)


def _title(figure, chart, height):
    figure.text(0.012, 1 - 0.1 / height, chart.title, ha="left", va="top", fontsize=9.5, fontweight="bold", color=INK)
