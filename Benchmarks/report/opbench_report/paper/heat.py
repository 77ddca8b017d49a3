"""A heat map: a row for each change, a column for each kind of work, and their means at the edges."""

import textwrap

import numpy
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap

from ..charts import shades
from ..charts.heat import places
from .style import INK, WIDTH, pyplot

# In inches: a row, the widest cell, the sizes at the right, a gap, and what a character of a label has of the width.
_ROW, _MOST_CELL, _SIDE, _GAP = 0.165, 0.66, 0.36, 0.07
_CHARACTER = 0.056
# The characters of a line of what the marks mean, and how far one line lies below another.
_LINE, _LEAD = 150, 0.11
# What the legend says of the numbers in the cells and at the edges.
_NUMBERS = "Numbers are per cent, behind × factors. Grey: the mean size of the effects of a decision, or of a kind of work, without noise."
# What a character has of its size.
_SHARE = 0.6 / 72
_FAINT = "#888888"
# What is drawn with a colour of the same place.
_STEPS = {
    "cmap": ListedColormap([light for light, _ in shades.STEPS]),
    "norm": BoundaryNorm(numpy.arange(-shades.MOST - 0.5, shades.MOST + 1), len(shades.STEPS)),
}
_GREYS = {
    "cmap": ListedColormap([light for light, _ in shades.GREYS]),
    "norm": BoundaryNorm(numpy.arange(len(shades.GREYS) + 1) - 0.5, len(shades.GREYS)),
}


def heat_figure(chart):
    """Draws the panels below one another, each with its title where it has one, and one legend."""
    margin = 0.2 + _CHARACTER * max(len(row) for panel in chart.panels for row in panel.rows)
    cells = [_cell(panel, margin) for panel in chart.panels]
    heads = [_head(panel, cell) for panel, cell in zip(chart.panels, cells)]
    bodies = [_ROW * (len(panel.rows) + 1) + _GAP + 0.05 for panel in chart.panels]
    titles = [0.2 if panel.title else 0 for panel in chart.panels]
    words = textwrap.wrap(f"{chart.panels[0].legend} {_NUMBERS}", _LINE)
    # The key stands above the first panel: a picture may be three screens long.
    key = 0.61 + _LEAD * len(words)
    top, bottom, between = 0.4 + key, 0.1, 0.16
    height = top + sum(heads) + sum(bodies) + sum(titles) + between * (len(chart.panels) - 1) + bottom
    figure = pyplot.figure(figsize=(WIDTH, height))
    base = height - top
    for panel, cell, head, body, title in zip(chart.panels, cells, heads, bodies, titles):
        base -= title + head + body
        _draw(figure, panel, cell, margin, base + body)
        if panel.title:
            place = (base + body + head + 0.06) / height
            figure.text(0.012, place, panel.title, ha="left", va="bottom", fontsize=8, fontweight="bold", color=INK)
        base -= between
    _legend(figure, words, height, height - 0.3 - key)
    return figure


def _cell(panel, margin):
    """Returns the width of a cell."""
    return min(_MOST_CELL, (WIDTH - margin - 0.1 - _SIDE - _GAP) / (places(panel)[-1] + 1))


def _head_size(panel, cell):
    """Returns the size of the columns' names side by side; None where they stand upright."""
    size = min(6.8, (cell - 0.02) / (_SHARE * max(map(len, panel.columns))))
    return size if size >= 5.4 else None


def _head(panel, cell):
    """Returns what the names of the columns take."""
    return 0.2 if _head_size(panel, cell) else 0.12 + 6.2 * _SHARE * max(map(len, panel.columns))


def _draw(figure, panel, cell, margin, top):
    """Draws the cells in axes of their own, and the mean sizes in axes at the right of the cells and below them."""
    lefts, rows = places(panel), len(panel.rows)
    width, below = cell * (lefts[-1] + 1), top - _ROW * rows - _GAP
    grid = _axes(figure, margin, top, width, _ROW * rows, (lefts[-1] + 1, rows))
    right = _axes(figure, margin + width + _GAP, top, _SIDE, _ROW * rows, (1, rows))
    foot = _axes(figure, margin, below, width, _ROW, (lefts[-1] + 1, 1))
    _cells(grid, panel, lefts, cell)
    grid.set_yticks(numpy.arange(rows) + 0.5, panel.rows, fontsize=6.6)
    size = _head_size(panel, cell)
    grid.set_xticks(numpy.array(lefts) + 0.5, panel.columns, fontsize=size or 6.2, rotation=0 if size else 90)
    foot.set_yticks([0.5], ["mean size, %"], fontsize=6.2)
    for first, last, effect in panel.groups:
        if first:
            ends = [(0.1 - margin) / cell, (width + _GAP + _SIDE) / cell]
            grid.plot(ends, [first, first], color=_FAINT, linewidth=0.5, clip_on=False, scalex=False)
        if effect:
            _mesh(right, [0, 1], [first, last], [[shades.grey(effect.share)]], _GREYS)
            _text(right, 0.5, (first + last) / 2, effect.text)
    for left, effect in zip(lefts, panel.sizes):
        if effect:
            _mesh(foot, [left, left + 1], [0, 1], [[shades.grey(effect.share)]], _GREYS)
            if cell > 0.24:
                _text(foot, left + 0.5, 0.5, effect.text)


def _axes(figure, left, top, width, height, ends):
    """Makes axes of cells, from the upper left corner of the first one; lengths are in inches."""
    whole = figure.get_figheight()
    axes = figure.add_axes([left / WIDTH, (top - height) / whole, width / WIDTH, height / whole], frameon=False)
    axes.set(xlim=(0, ends[0]), ylim=(ends[1], 0), xticks=[], yticks=[])
    axes.tick_params(length=0, pad=3, labeltop=True, labelbottom=False)
    return axes


def _mesh(axes, x, y, values, colours):
    axes.pcolormesh(x, y, values, edgecolors="white", linewidth=0.8, antialiased=True, **colours)


def _cells(axes, panel, lefts, cell):
    """Draws the colours, with a gap in front of some columns; and in each cell its number and its mark."""
    edges = sorted({end for left in lefts for end in (left, left + 1)})
    values = numpy.ma.masked_all((len(panel.rows), len(edges) - 1))
    for (row, column), tile in panel.tiles.items():
        values[row, edges.index(lefts[column])] = tile.step
        _contents(axes, panel, lefts[column], row, tile, cell)
    _mesh(axes, edges, range(len(panel.rows) + 1), values, _STEPS)


def _contents(axes, panel, left, row, tile, cell):
    """Draws the number in the middle and its mark at the right; without numbers, the mark in the middle."""
    colour = shades.ink(tile.step)[0]
    if not panel.has_numbers:
        _mark(axes, left + 0.5, row + 0.5, tile.mark, colour)
        return
    _text(axes, left + 0.5, row + 0.53, tile.text, color=colour, fontweight="bold" if tile.mark else "normal")
    _mark(axes, left + 1 - 0.08 / cell, row + 0.5, tile.mark, colour)


def _mark(axes, x, y, mark, colour):
    if mark == "●":
        axes.plot([x], [y], marker="o", markersize=2.6, color=colour, markeredgewidth=0, zorder=5)
    elif mark:
        _text(axes, x, y + 0.03, mark, color=colour)


def _text(axes, x, y, text, size=6.4, color=INK, **more):
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=color, zorder=5, **more)


def _legend(figure, words, height, foot):
    say = lambda x, y, text, ha, va: figure.text(x / WIDTH, y / height, text, ha=ha, va=va, fontsize=6.2, color=INK)
    base = foot + _LEAD * len(words)
    say(0.1, base + 0.49, "← per cent less time", "left", "bottom")
    say(WIDTH - 0.1, base + 0.49, "per cent more time →", "right", "bottom")
    axes = figure.add_axes([0.1 / WIDTH, (base + 0.36) / height, 1 - 0.2 / WIDTH, 0.1 / height])
    bar = figure.colorbar(ScalarMappable(**_STEPS), cax=axes, orientation="horizontal", drawedges=True)
    steps = shades.legend()
    bar.set_ticks([step for step, _ in steps], labels=[words for _, words in steps], fontsize=6.2)
    bar.outline.set_linewidth(0.3)
    bar.dividers.set(color="white", linewidth=1.5)
    axes.tick_params(length=0, pad=2)
    for line, text in enumerate(words):
        say(0.1, base - 0.01 - _LEAD * line, text, "left", "bottom")
