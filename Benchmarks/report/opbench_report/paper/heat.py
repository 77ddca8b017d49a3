"""A heat map: a row for each change, a column for each kind of work, and their means at the edges."""

from ..charts import shades
from ..charts.heat import places
from .style import INK, WIDTH, pyplot

# In inches: a row, the widest cell, the sizes at the right, a gap, and what a character of a label has of the width.
_ROW, _MOST_CELL, _SIDE, _GAP = 0.165, 0.66, 0.36, 0.07
_CHARACTER = 0.056
# What a character has of its size.
_SHARE = 0.6 / 72
_FAINT = "#888888"


def heat_figure(chart):
    """The panels below one another, each with its title where it has one, and one legend."""
    margin = 0.2 + _CHARACTER * max(len(row) for panel in chart.panels for row in panel.rows)
    cells = [_cell(panel, margin) for panel in chart.panels]
    heads = [_head(panel, cell) for panel, cell in zip(chart.panels, cells)]
    bodies = [_ROW * (len(panel.rows) + 1) + _GAP + 0.05 for panel in chart.panels]
    titles = [0.2 if panel.title else 0 for panel in chart.panels]
    top, bottom, between = 0.34, 0.72, 0.16
    height = top + sum(heads) + sum(bodies) + sum(titles) + between * (len(chart.panels) - 1) + bottom
    figure = pyplot.figure(figsize=(WIDTH, height))
    base = height - top
    for panel, cell, head, body, title in zip(chart.panels, cells, heads, bodies, titles):
        base -= title + head + body
        width = WIDTH - margin - 0.1
        axes = figure.add_axes([margin / WIDTH, base / height, width / WIDTH, body / height])
        # Inches both ways, from the upper left corner of the first cell.
        axes.set_xlim(0, width)
        axes.set_ylim(body, 0)
        axes.set_axis_off()
        _draw(axes, panel, cell, margin)
        if panel.title:
            place = (base + body + head + 0.06) / height
            figure.text(0.012, place, panel.title, ha="left", va="bottom", fontsize=8, fontweight="bold", color=INK)
        base -= between
    _legend(figure, chart.panels[0].legend, height)
    return figure


def _cell(panel, margin):
    """The width of a cell."""
    return min(_MOST_CELL, (WIDTH - margin - 0.1 - _SIDE - _GAP) / (places(panel)[-1] + 1))


def _head_size(panel, cell):
    """The size of the columns' names side by side; None where they stand upright."""
    size = min(6.8, (cell - 0.02) / (_SHARE * max(map(len, panel.columns))))
    return size if size >= 5.4 else None


def _head(panel, cell):
    """What the names of the columns take."""
    return 0.2 if _head_size(panel, cell) else 0.12 + 6.2 * _SHARE * max(map(len, panel.columns))


def _draw(axes, panel, cell, margin):
    lefts = [place * cell for place in places(panel)]
    below = _ROW * len(panel.rows) + _GAP
    side = lefts[-1] + cell + _GAP
    for row, name in enumerate(panel.rows):
        _text(axes, -0.06, _ROW * (row + 0.5), name, ha="right", size=6.6)
    size = _head_size(panel, cell)
    for left, name in zip(lefts, panel.columns):
        turned = {} if size else {"rotation": 90}
        _text(axes, left + cell / 2, -0.05, name, va="bottom", size=size or 6.2, **turned)
    for (row, column), tile in panel.tiles.items():
        _box(axes, lefts[column], _ROW * row, cell, _ROW, shades.colours(tile.step)[0])
        _contents(axes, panel, lefts[column], _ROW * row, tile, cell)
    for first, last, size in panel.groups:
        if first:
            ends = [0.1 - margin, side + _SIDE]
            axes.plot(ends, [_ROW * first] * 2, color=_FAINT, linewidth=0.5, clip_on=False, zorder=4)
        if size:
            _box(axes, side, _ROW * first, _SIDE, _ROW * (last - first), shades.grey(size.share)[0])
            _text(axes, side + _SIDE / 2, _ROW * (first + last) / 2, size.text)
    for left, size in zip(lefts, panel.sizes):
        if size:
            _box(axes, left, below, cell, _ROW, shades.grey(size.share)[0])
            if cell > 0.24:
                _text(axes, left + cell / 2, below + _ROW / 2, size.text)
    _text(axes, -0.06, below + _ROW / 2, "mean size, %", ha="right", size=6.2)


def _box(axes, x, y, width, height, colour):
    pad = 0.006
    axes.add_patch(
        pyplot.Rectangle(
            (x + pad, y + pad),
            width - 2 * pad,
            height - 2 * pad,
            facecolor=colour,
            edgecolor="none",
            zorder=2,
            clip_on=False,
        )
    )


def _contents(axes, panel, x, y, tile, cell):
    """The number in the middle and its mark at the right; without numbers, the mark in the middle."""
    colour = shades.ink(tile.step)[0]
    if not panel.has_numbers:
        _mark(axes, x + cell / 2, y + _ROW / 2, tile.mark, colour)
        return
    weight = "bold" if tile.mark else "normal"
    _text(axes, x + cell / 2, y + _ROW * 0.53, tile.text, color=colour, fontweight=weight)
    _mark(axes, x + cell - 0.08, y + _ROW / 2, tile.mark, colour)


def _mark(axes, x, y, mark, colour):
    if mark == "●":
        axes.plot([x], [y], marker="o", markersize=2.6, color=colour, markeredgewidth=0, zorder=5, clip_on=False)
    elif mark:
        _text(axes, x, y + 0.005, mark, color=colour)


def _text(axes, x, y, text, ha="center", va="center", size=6.4, color=INK, **more):
    axes.text(x, y, text, ha=ha, va=va, fontsize=size, color=color, zorder=5, clip_on=False, **more)


def _legend(figure, words, height):
    steps = shades.legend()
    width = (WIDTH - 0.2) / len(steps)
    say = lambda x, y, text, ha, va: figure.text(x / WIDTH, y / height, text, ha=ha, va=va, fontsize=6.2, color=INK)
    say(0.1, 0.6, "← per cent less time", "left", "bottom")
    say(WIDTH - 0.1, 0.6, "per cent more time →", "right", "bottom")
    for place, (step, text) in enumerate(steps):
        left = 0.1 + place * width
        box = pyplot.Rectangle(
            (left / WIDTH, 0.47 / height),
            (width - 0.03) / WIDTH,
            0.1 / height,
            facecolor=shades.colours(step)[0],
            edgecolor=_FAINT,
            linewidth=0.3,
            transform=figure.transFigure,
        )
        figure.patches.append(box)
        say(left + width / 2, 0.44, text, "center", "top")
    say(0.1, 0.1, words, "left", "bottom")
