"""The figures of a simulation: efficiency against workers, what limits a strategy as bands, and METG. No CPU ran these
tasks, so every text on them says that they are simulated."""

from ..facts import Arm, Record
from ..subjects import Look, Subject, looks_in_turn
from .chart import Axis, Chart, Mark, Panel, Series

FAMILY = "simulated"
# How many strategies have a line before a reader chooses.
LINES = 8
_CASE = ("Simulated graph", "Simulated granularity")
_BANDS = (
    ("work", "work", Look("#1b5e9e", "#4d8fd6", "o", "circle", "solid")),
    ("critical_path", "critical path", Look("#8fb8de", "#8fb8de", "s", "square", "solid")),
    ("scheduler", "scheduler", Look("#e2a36f", "#e2a36f", "^", "triangle-up", "solid")),
)


def build_all(facts, is_whole):
    """Returns the charts: with everything for a page on which a reader chooses, or with what a figure has room for."""
    simulated = facts.simulated
    order = simulated.order if is_whole else simulated.order[:LINES]
    # Sweeps of granularities may be of other strategies.
    swept = [row.backend for sweep in simulated.sweeps or [] for row in sweep.rows]
    names = list(dict.fromkeys([*simulated.order, *swept]))
    arms = {name: _arm(place, name, look) for place, (name, look) in enumerate(zip(names, looks_in_turn(len(names))))}
    charts = [
        _efficiency(simulated, [arms[name] for name in order]),
        _limits(simulated, simulated.order if is_whole else [simulated.base], is_whole),
    ]
    charts += [_granularity(simulated, arms)] if simulated.sweeps else []
    for chart in charts:
        chart.units, chart.by_workers, chart.kind = facts.units, True, "simulated"
    return [chart for chart in charts if chart.panels]


def _arm(place, name, look):
    return Arm(Subject(place, name, look, Record()), 0)


def _cases(simulated):
    """Returns (graph, work, {strategy: its marks}) of all that was simulated."""
    for graph in simulated.graphs:
        for work in graph.works:
            yield graph, work, {run.backend: run.marks for run in work.runs}


def _title(graph, work):
    return f"{graph.graph}, {work.work_text} a task" + (f" ({graph.sizes.replace(';', ', ')})" if graph.sizes else "")


def _workers(marks, is_filled=False):
    """Returns the axis of numbers of workers, all of which have a name. What is filled goes from end to end."""
    counts = sorted({mark.workers for mark in marks})
    # A little beyond, so that the names of both ends are drawn.
    ends = (0.999 * counts[0], 1.001 * counts[-1]) if is_filled and len(counts) > 1 else ()
    return Axis("virtual workers, simulated", log=True, names=[(count, f"{count:,}") for count in counts], ends=ends)


def _percent(share):
    return f"{100 * share:.{1 if share < 0.1 else 0}f} %"


def _efficiency(simulated, arms):
    panels = []
    for graph, work, runs in _cases(simulated):
        present = [(arm, runs[arm.subject.name]) for arm in arms if arm.subject.name in runs]
        series = [Series(arm, [_efficiency_mark(mark) for mark in marks]) for arm, marks in present]
        x = _workers([mark for marks in runs.values() for mark in marks])
        y = Axis("bound / makespan, simulated", ends=(0, 1.05))
        panels.append(Panel(_title(graph, work), series, x, y, choices=(graph.title, f"{work.work_text} a task")))
    caption = (
        "Efficiency, simulated, is the shortest possible schedule by the makespan: medians over seeds. Before a choice, the"
        " strategies are those that differ most from the default with the most workers."
    )
    title = "How efficient are many virtual workers? (simulated)"
    return Chart("simulated-efficiency", FAMILY, title, caption, "lines", panels, columns=2, choices=_CASE)


def _efficiency_mark(mark):
    seeds = f"{mark.n} seed{'' if mark.n == 1 else 's'}"
    detail = (
        f"{mark.workers:,} workers: {_percent(mark.efficiency)}, {_percent(mark.least)} to {_percent(mark.most)} over {seeds}"
    )
    return Mark(mark.workers, mark.efficiency, detail=detail)


def _limits(simulated, names, has_names):
    panels = []
    for graph, work, runs in _cases(simulated):
        for name in names:
            if name in runs:
                bands = enumerate(_BANDS)
                series = [Series(_arm(place, words, look), _band(runs[name], key)) for place, (key, words, look) in bands]
                title = f"{name}: {_title(graph, work)}" if has_names else _title(graph, work)
                y = Axis("share, simulated", ends=(0, 1))
                choices = (graph.title, f"{work.work_text} a task", name)
                panels.append(Panel(title, series, _workers(runs[name], is_filled=True), y, choices=choices))
    caption = (
        "Shares of the simulated makespan. Work: every worker busy. Critical path: what the longest path takes beyond that."
        " Scheduler: the rest."
    )
    whom = "" if has_names else f" {names[0]}"
    title, heads = f"What limits{whom or ' each strategy'}? (simulated)", (*_CASE, "Simulated strategy")
    return Chart("simulated-limits", FAMILY, title, caption, "bands", panels, columns=2, choices=heads)


def _band(marks, key):
    said = lambda mark: f"{mark.workers:,} workers: {_percent(mark[key])} of the makespan"
    return [Mark(mark.workers, mark[key], detail=said(mark)) for mark in marks]


def _granularity(simulated, arms):
    """Returns METG by strategy. A strategy whose curve does not fall through the level has no mark."""
    panels = []
    axis = Axis("METG(50 %), simulated", "ns", True, better="less")
    for sweep in simulated.sweeps:
        for workers in sweep.workers:
            cells = [(row.backend, cell) for row in sweep.rows for cell in row.cells if cell.workers == workers and cell.at]
            series = [
                Series(arms[name], [Mark(cell.at, label=cell.text, detail=f"METG(50 %) {cell.text}")]) for name, cell in cells
            ]
            if series:
                panels.append(Panel(f"{sweep.title}, {workers:,} workers", series, axis))
    caption = (
        "METG(50 %), simulated, is the granularity at which workers run tasks half of the time: the makespan by the number of"
        " tasks, times the number of workers. Less is better."
    )
    return Chart("simulated-granularity", FAMILY, "How small may tasks be? (simulated)", caption, "dots", panels, columns=2)
