"""A heat map as data: changes below one another, kinds of work side by side, and their means at the edges."""

from dataclasses import dataclass, field

from .. import decisions
from ..data.ablation import BETTER, OPEN, SAME, WHOLE, WORSE, size
from ..data.metrics import ratio, significant
from . import shades
from .chart import Axis, Missing, Panel

COMMAND = "opbench ablate --output X.csv"


@dataclass
class Tile:
    step: int
    # The number in the cell, and the mark that says how sure it is.
    text: str
    mark: str
    detail: str


@dataclass
class Size:
    """How large the effects of a row of cells or of a column are."""

    share: float
    text: str
    detail: str


@dataclass
class Heat(Panel):
    """`tiles` is by row and column."""

    title: str
    series: list = field(default_factory=list)
    x: Axis = field(default_factory=lambda: Axis(""))
    rows: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    tiles: dict = field(default_factory=dict)
    # The columns in front of which there is a gap.
    breaks: list = field(default_factory=list)
    # [(first row, row behind the last, Size or None)] of each decision.
    groups: list = field(default_factory=list)
    # A Size for each column, or None.
    sizes: list = field(default_factory=list)
    # Whether the numbers have room in the cells.
    has_numbers: bool = True
    legend: str = ""


def missing(name):
    return Missing(name, "no change of a strategy was measured beside the default", COMMAND)


def heat(found, table, title, columns, worths, breaks=(), has_numbers=True):
    """`columns` are (key, words), of which the key WHOLE has the mean of the others; `worths` is by change and key."""
    marks = decisions.daggers(found)
    own = Heat(title, breaks=list(breaks), has_numbers=has_numbers, legend=decisions.legend(found))
    own.columns = [words for _, words in columns]
    inner = [key for key, _ in columns if key is not WHOLE]
    changes = []
    for decision, group in table.decisions:
        first = len(changes)
        changes += group
        cells = [worths[change, key] for change in group for key in inner if (change, key) in worths]
        effect = _size(cells, decision or "several at once")
        own.groups.append((first, len(changes), effect))
    for row, change in enumerate(changes):
        dagger = marks.get(change.gives_up, "")
        own.rows.append(_short(change.text) + (f" {dagger}" if dagger else ""))
        for column, (key, words) in enumerate(columns):
            if (change, key) in worths:
                own.tiles[row, column] = _tile(change, words, worths[change, key])
    own.sizes = [
        None if key is WHOLE else _size([worths[change, key] for change in changes if (change, key) in worths], words)
        for key, words in columns
    ]
    return own


def _tile(change, words, worth):
    few = ", too few blocks to be sure" if worth.verdict == OPEN and not worth.is_wide_enough else ""
    meaning = {BETTER: "surely less time", WORSE: "surely more time", SAME: "the same", OPEN: "open"}[worth.verdict]
    detail = f"{change.text} on {words}: {ratio(worth)} of the default's time, {meaning}{few}, {basis(worth)}"
    return Tile(shades.step(worth.ratio), percent_words(worth.ratio), decisions.MARKS[worth.verdict], detail)


def places(own, gap=0.25):
    """Where each column begins, in cells."""
    return [column + gap * sum(one <= column for one in own.breaks) for column in range(len(own.columns))]


def basis(worth):
    """What a number rests on."""
    benchmarks = f"{worth.benchmarks} benchmarks, " if worth.benchmarks > 1 else ""
    return f"{benchmarks}{worth.blocks} blocks{' or more' if worth.benchmarks > 1 else ''}"


def percent_words(value):
    """A ratio as per cent less or more, such as "−12" or "+8"; far from 1 as a factor, such as "×3.1"."""
    if not 1 / 3 < value < 3:
        return f"×{float(f'{value:.2g}'):g}"
    rounded = round((value - 1) * 100)
    return "0" if rounded == 0 else f"{'−' if rounded < 0 else '+'}{abs(rounded)}"


def _size(worths, words):
    share = size(worths)
    if share is None:
        return None
    text = f"±{share * 100:.0f}" if share < 2 else f"×{significant(1 + share)}"
    return Size(share, text, f"{words}: effects of ±{share * 100:.0f} % on average, without what is noise")


def _short(text, most=34):
    return text if len(text) <= most else text[: most - 1] + "…"
