"""What was simulated, apart from all that was measured: pictures of a graph and a granularity that the reader chooses,
a table of the strategies, and what the model leaves out. Every title, caption, legend and head says that it is
simulated."""

from ..data.metrics import quantity
from ..data.simulation import granularity
from ..simulated import LEFT_OUT, MARGIN, ends, in_short, most_different, moves, ratio_words, sentences, verdict

DATA = "simulation"
TITLE = "Simulated: more workers than this machine has"
# How many strategies have a line before the reader chooses.
_LINES = 8
_LEVEL = 0.5
_LIMITS = ("limit_work_ns", "limit_critical_path_ns", "limit_scheduler_ns")


def section(simulated):
    names = _in_order(simulated)
    graphs = dict.fromkeys(_graph(place.graph, place.sizes) for place in simulated.shown.values)
    return {
        "title": TITLE,
        "models": " and ".join(f"“{name}”" for name in simulated.models),
        **_places(simulated),
        "graphs": list(enumerate(graphs)),
        "first": names[:_LINES],
        "rest": names[_LINES:],
        "strategies": list(enumerate(names)),
        "sweeps": [_sweep(*sweep) for sweep in _sweeps(simulated)],
        "model_lacks": LEFT_OUT,
        **_strategies(simulated),
    }


def document(simulated):
    """What the page's script draws: graphs with their granularities, and in each the marks of every strategy."""
    names = _in_order(simulated)
    graphs = {}
    for place, runs in sorted(simulated.shown.values.items(), key=lambda item: item[0].workers):
        grains = graphs.setdefault(_graph(place.graph, place.sizes), {})
        marks = grains.setdefault(place.work, {})
        for name in runs:
            marks.setdefault(names.index(name), []).append(_mark(simulated.shown, place, name))
    return {
        "names": names,
        "workers": simulated.shown.workers,
        "graphs": [
            [graph, [[_grain(work), list(marks.items())] for work, marks in sorted(grains.items())]]
            for graph, grains in graphs.items()
        ],
        "sweeps": [
            [
                title,
                counts,
                # Each number with its text, which is that of the table.
                [[name, [[count, own[count].at, own[count].text] for count in own]] for name, own in rows.items()],
            ]
            for title, counts, rows in _sweeps(simulated)
        ],
    }


def _mark(simulation, place, name):
    """Workers; the efficiency with the least and the most over the seeds; what limits, as shares of the makespan."""
    own = [row["efficiency"] for row in simulation.values[place][name].values()]
    makespan = simulation.median(place, name, "makespan_ns")
    shares = [simulation.median(place, name, column) / makespan for column in _LIMITS]
    numbers = (simulation.median(place, name, "efficiency"), min(own), max(own), *shares)
    return [place.workers, *(float(f"{number:.4g}") for number in numbers), len(own)]


def _in_order(simulated):
    """The default first, then what differs most from it, then the others."""
    first = most_different(simulated.shown, simulated.base, _LINES)
    return first + [name for name in simulated.shown.backends if name not in first]


def _graph(graph, sizes):
    return f"{graph} ({sizes.replace(';', ', ')})" if sizes else graph


def _grain(work):
    number, unit = quantity("ns", work).split(" ")
    return f"{float(number):g} {unit} a task"


def _places(simulated):
    """Which strategies change places between few and many workers."""
    if simulated.compared is None or len(simulated.compared.backends) < 2:
        return {"in_short": "", "changed": []}
    few, many = ends(simulated.compared)
    if few == many:
        return {"in_short": "", "changed": []}
    changed = sentences(simulated.compared, simulated.base, few, many)
    compared = moves(simulated.compared, simulated.base, few, many)
    return {"in_short": in_short(changed, compared, simulated.base, few, many), "changed": changed}


def _sweeps(simulated):
    """(graph, the numbers of workers, {strategy: {workers: Granularity}}) for each sweep of granularities."""
    if simulated.sweeps is None:
        return []
    found = {}
    for (graph, sizes, name, workers), own in granularity(simulated.sweeps, _LEVEL).items():
        found.setdefault(_graph(graph, sizes), {}).setdefault(name, {})[workers] = own
    return [(title, sorted({count for own in rows.values() for count in own}), rows) for title, rows in found.items()]


def _sweep(title, counts, rows):
    return {
        "label": f"METG(50 %), simulated: {title}",
        "heads": ["strategy, simulated", *(f"{count:,} workers, simulated" for count in counts)],
        "rows": [[name, *(own[count].text if count in own else "–" for count in counts)] for name, own in rows.items()],
    }


def _strategies(simulated):
    """Every strategy against the default, with few and with many workers."""
    if simulated.compared is None or len(simulated.compared.backends) < 2:
        return {"rows": []}
    few, many = ends(simulated.compared)
    counts = list(dict.fromkeys((few, many)))
    return {
        "heads": ["strategy, simulated", *(f"{count:,} workers, simulated" for count in counts)],
        "rows": [
            [name, *(f"{ratio_words(own)} {verdict(own)}" for own in (small, large)[: len(counts)])]
            for name, small, large in moves(simulated.compared, simulated.base, few, many)
        ],
        "caption": f"Simulated makespan by the simulated one of {simulated.base}: the geometric mean over all graphs, its"
        f" median over the seeds, and in brackets the least and the most. Better and worse: all seeds say so by more than"
        f" {100 * MARGIN:g} %.",
    }
