"""A heat map as data: changes below one another, kinds of work side by side, and their means at the edges."""

from dataclasses import dataclass, field

from .. import decisions
from ..decisions import BETTER, OPEN, SAME, WORSE
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


def heat(ablation, table, columns, worths_of, sizes, breaks=(), has_numbers=True):
    """`columns` are (key, words); `worths_of` gives a change's worth by key, `sizes` how large effects are."""
    panel = Heat(decisions.title_of(ablation, table), has_numbers=has_numbers, legend=decisions.legend(ablation))
    panel.columns, panel.breaks = [words for _, words in columns], list(breaks)
    of_decisions = {size.decision: size for size in sizes.decisions}
    for decision, changes in decisions.groups(table):
        first = len(panel.rows)
        for change in changes:
            worths = worths_of(change)
            for column, (key, words) in enumerate(columns):
                if key in worths:
                    panel.tiles[len(panel.rows), column] = _tile(change, words, worths[key])
            panel.rows.append(decisions.marked(ablation, change, _short(change.text)))
        effect = _size(of_decisions.get(decision), decision or "several at once")
        panel.groups.append((first, len(panel.rows), effect))
    of_columns = {size.line or size.family: size for size in sizes.lines or sizes.families}
    panel.sizes = [_size(of_columns.get(key), words) for key, words in columns]
    return panel


def _tile(change, words, worth):
    few = ", too few blocks to be sure" if worth.verdict == OPEN and not worth.is_wide_enough else ""
    meaning = {BETTER: "surely less time", WORSE: "surely more time", SAME: "the same", OPEN: "open"}[worth.verdict]
    detail = f"{change.text} on {words}: {worth.text} of the default's time, {meaning}{few}, {_basis(worth)}"
    return Tile(shades.step(worth.ratio), worth.short, decisions.MARKS[worth.verdict], detail)


def places(panel, gap=0.25):
    """Returns where each column begins, in cells."""
    return [column + gap * sum(place <= column for place in panel.breaks) for column in range(len(panel.columns))]


def _basis(worth):
    """Returns what a number rests on."""
    benchmarks = f"{worth.benchmarks} benchmarks, " if worth.benchmarks > 1 else ""
    return f"{benchmarks}{worth.blocks} blocks{' or more' if worth.benchmarks > 1 else ''}"


def _size(size, words):
    if size is None:
        return None
    return Size(size.share, size.text, f"{words}: effects of ±{size.percent_text} % on average, without what is noise")


def _short(text, most=34):
    return text if len(text) <= most else text[: most - 1] + "…"
