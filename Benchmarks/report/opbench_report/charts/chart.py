"""A chart as data: panels of series of marks with intervals. `paper` draws it for print, the page's script on the
screen."""

from dataclasses import dataclass, field



# The letters of a unit that has room behind each number.
_SHORT_UNIT = 3


@dataclass
class Mark:
    """A median, with the ends of its interval where there is one."""

    x: float
    y: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    # What is written beside it in print, and what the page says when one points at it.
    label: str = ""
    detail: str = ""


@dataclass
class Series:
    arm: object
    marks: list


@dataclass
class Axis:
    label: str
    unit: str = ""
    log: bool = False
    # (place, text) where the places have names.
    names: list = field(default_factory=list)
    # `less` or `more`, where one side is better.
    better: str = ""
    # (low, high) where they do not follow from the marks.
    ends: tuple = ()

    @property
    def note(self):
        """Returns how to read it: its scale and its better side. A reader turns the arrow with the label: on a y axis
        left is down."""
        sides = {"less": "← less is better", "more": "more is better →", "": ""}
        return ", ".join(filter(None, ["log scale" if self.log else "", sides[self.better]]))


@dataclass
class Guide:
    """A line to read marks against, at an x or a y."""

    kind: str
    at: float
    label: str


@dataclass
class Panel:
    title: str
    series: list
    x: Axis
    y: Axis | None = None
    guides: list = field(default_factory=list)
    # What a reader chooses to see it, where a page shows one panel at a time.
    choices: tuple = ()


@dataclass
class Chart:
    """`form` is `dots` (a row per subject, the value along x), `lines`, `bands` (shares that add up) or `heat` (panels
    of `charts/heat.py`)."""

    name: str
    family: str
    title: str
    caption: str
    form: str
    panels: list
    # A chart over numbers of workers has one series for all arms of a subject.
    by_workers: bool = False
    # How many panels stand side by side in print.
    columns: int = 3
    # What made its numbers: they are measured, simulated or explained.
    kind: str = "measured"
    # What a reader chooses a panel by, where a page shows one at a time.
    choices: tuple = ()
    # How to read it, below the title in print.
    note: str = ""
    # How the numbers of each unit are scaled, as the document of facts says it.
    units: dict = field(default_factory=dict)

    @property
    def simulated(self):
        """Returns whether no CPU ran what it shows: then every text on it says so."""
        return self.kind == "simulated"

    def steps(self, axis):
        """Returns how the numbers of an axis are scaled. A short unit that has no scales, such as the ms of a program's
        own metric, stands behind each number."""
        short = ((0, f" {axis.unit}"),) if 0 < len(axis.unit) <= _SHORT_UNIT else ()
        return self.units.get(axis.unit, short)

    def name_of(self, arm):
        """Returns what a series is called."""
        return arm.subject.name if self.by_workers else str(arm)

    @property
    def arms(self):
        """Returns one for each name, in the order of subjects whichever panel has them first."""
        by_name = {self.name_of(series.arm): series.arm for panel in self.panels for series in panel.series}
        return sorted(by_name.values())


@dataclass(frozen=True)
class Missing:
    """A figure without data, and what would give it some."""

    name: str
    lacks: str
    command: str

    def __str__(self):
        return f"{self.name}: no picture, {self.lacks}; {self.command} gives it"


def is_wide(values, factor=8):
    """Returns whether a logarithmic axis suits: all positive, and far apart."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > factor


def describe(line, cell):
    """Returns a cell in words: its ratio first, which a quiet and a busy machine give alike, then number, interval and
    processes."""
    text = f"{line.words} {cell.interval_text}, n = {cell.n}"
    return f"{cell.ratio.marked} to {cell.ratio.against}; {text}" if cell.ratio else text


def ratio_words(results):
    """Returns what the x beside a number is, for a caption; empty where there is nothing to compare with."""
    words = results.reference_words
    return f" x is the paired ratio to {words}." if words else ""


def no_ratio(name, results):
    """Returns why a figure of ratios has none, and what gives them."""
    if results.reference is None:
        return Missing(name, "no result names the subject to compare with", "opbench report --reference NAME")
    return Missing(name, f"nothing was measured beside {results.reference}", "opbench run --output X.csv")


def dots_panel(line, title, axis):
    """Returns a panel that has a row for each subject with a number on the line."""
    series = []
    for arm in line.main_arms:
        cell = line.cells[arm]
        label = f"{cell.ratio.short} ({cell.text})" if cell.ratio else cell.text
        mark = Mark(cell.value, x_low=cell.low, x_high=cell.high, label=label, detail=describe(line, cell))
        series.append(Series(arm, [mark]))
    return Panel(title, series, axis)


def y_mark(x, line, cell, prefix=""):
    """Returns a mark whose value stands on y."""
    return Mark(x, cell.value, y_low=cell.low, y_high=cell.high, detail=prefix + describe(line, cell))


def values_of(lines):
    """Returns the numbers of all cells, by which an axis decides whether it is logarithmic."""
    return [cell.value for line in lines for cell in line.cells.values()]


def title_of(line, shared):
    """Returns the benchmark with the parameters in which it differs from its neighbours."""
    different = [
        # Patterns and ways to join are known by their names.
        value if key in ("pattern", "join") else f"{key}={value}"
        for key, value in sorted(line.parameters.items(), key=lambda pair: (pair[0] != "pattern", pair))
        if key not in shared
    ]
    return " ".join([line.short] + different)


def shared_keys(lines):
    """Returns per benchmark, the parameter keys that all its lines have alike."""
    by_benchmark = {}
    for line in lines:
        by_benchmark.setdefault(line.benchmark, []).append(line.parameters)
    return {
        name: {key for key in sets[0] if all(other.get(key) == sets[0][key] for other in sets)}
        for name, sets in by_benchmark.items()
    }


def dots_chart(lines, name, family, title, caption, label):
    """Returns panels of a row per arm, a panel per line, on one axis for all."""
    values = [line.cells[arm].value for line in lines for arm in line.main_arms]
    shared = shared_keys(lines)
    axis = Axis(label, lines[0].unit, is_wide(values), better=lines[0].better or "")
    panels = [dots_panel(line, title_of(line, shared[line.benchmark]), axis) for line in lines]
    # Panels side by side are to have the same subjects: those with the most come first.
    panels.sort(key=lambda panel: -len(panel.series))
    return Chart(name, family, title, caption, "dots", panels)
