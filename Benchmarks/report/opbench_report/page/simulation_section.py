"""What was simulated, apart from all that was measured: pictures of a graph and a granularity that the reader chooses,
a table of the strategies, and what the model leaves out. Every title, caption, legend and head says that it is
simulated."""

import re

from ..data.metrics import quantity
from ..data.simulation import granularity
from ..simulated import LEFT_OUT, MARGIN, ends, in_short, most_different, moves, ratio_words, sentences, verdict
from .html import table, tag, text

ID, DATA = "simulated", "simulation"
TITLE = "Simulated: more workers than this machine has"
# How many strategies have a line before the reader chooses.
_LINES = 8
_LEVEL = 0.5
_LIMITS = ("limit_work_ns", "limit_critical_path_ns", "limit_scheduler_ns")


def section(simulated, files):
    """HTML of the section; `files` links to the rows."""
    models = " and ".join(f"“{name}”" for name in simulated.models)
    return tag(
        "section",
        tag("h2", text(TITLE), id=f"{ID}-title")
        + tag("p", text(f"No CPU ran these tasks. Virtual workers did, in simulation. Costs of the model: {models}."))
        + _places(simulated)
        + _chosen(simulated)
        + _granularities(simulated)
        + tag("h3", "What the simulated numbers leave out")
        + tag("p", text(LEFT_OUT), id="simulated-left-out")
        + _strategies(simulated)
        + files,
        id=ID,
        aria_labelledby=f"{ID}-title",
    )


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


def _code(sentence):
    """Names stand in backticks, as in Markdown."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", text(sentence))


def _places(simulated):
    """Which strategies change places between few and many workers."""
    if simulated.compared is None or len(simulated.compared.backends) < 2:
        return ""
    few, many = ends(simulated.compared)
    if few == many:
        return ""
    changed = sentences(simulated.compared, simulated.base, few, many)
    compared = moves(simulated.compared, simulated.base, few, many)
    head = tag("p", _code(in_short(changed, compared, simulated.base, few, many)), class_="lead")
    return head + (tag("ul", "".join(tag("li", _code(one)) for one in changed)) if changed else "")


def _chosen(simulated):
    """Choices, and places for what the script draws of them."""
    names = _in_order(simulated)
    graphs = list(dict.fromkeys(_graph(place.graph, place.sizes) for place in simulated.shown.values))
    choices = _choice("graph", "Simulated graph", graphs) + _choice("work", "Simulated granularity", [])
    first, rest = names[:_LINES], names[_LINES:]
    boxes = _boxes(first, 0, checked=True)
    if rest:
        summary = tag("summary", text(f"{len(rest)} more simulated strategies"))
        boxes += tag("details", summary + tag("div", _boxes(rest, _LINES, checked=False), class_="strategies"))
    legend = tag("legend", "Lines: simulated strategies")
    return (
        tag("div", choices, class_="filters", role="group", aria_label="Choose what is shown of the simulation")
        + tag("h3", "Simulated efficiency against virtual workers")
        + tag(
            "p",
            "Efficiency, simulated, is the shortest possible schedule by the makespan: medians over seeds.",
            class_="note",
        )
        + tag("fieldset", legend + boxes, class_="strategies")
        + _figure("efficiency", "Simulated efficiency against virtual workers. The numbers are in the table below.")
        + tag("div", "", id="simulated-numbers")
        + tag("h3", "What limits, simulated: shares of the makespan")
        + tag(
            "p",
            "Simulated. Work: every worker busy. Critical path: what the longest path takes beyond that."
            " Scheduler: the rest.",
            class_="note",
        )
        + tag("div", _choice("strategy", "Simulated strategy", names), class_="filters")
        + _figure("limits", "What limits a simulated strategy: critical path, work and scheduler, as bands")
    )


def _figure(name, label):
    caption = tag("figcaption", "", id=f"simulated-{name}-title")
    return tag("figure", caption + tag("div", "", class_="plot", id=f"simulated-{name}", role="img", aria_label=label))


def _choice(name, words, values):
    options = "".join(tag("option", text(value), value=place) for place, value in enumerate(values))
    return tag("label", text(words) + " " + tag("select", options, id=f"simulated-{name}"))


def _boxes(names, first, checked):
    return "".join(
        tag(
            "label",
            f'<input type="checkbox" data-strategy="{place}"{" checked" if checked else ""}>'
            + tag("i", "", class_="line", aria_hidden="true")
            + tag("span", text(name)),
        )
        for place, name in enumerate(names, first)
    )


def _sweeps(simulated):
    """(graph, the numbers of workers, {strategy: {workers: Granularity}}) for each sweep of granularities."""
    if simulated.sweeps is None:
        return []
    found = {}
    for (graph, sizes, name, workers), own in granularity(simulated.sweeps, _LEVEL).items():
        found.setdefault(_graph(graph, sizes), {}).setdefault(name, {})[workers] = own
    return [(title, sorted({count for own in rows.values() for count in own}), rows) for title, rows in found.items()]


def _granularities(simulated):
    heading = tag("h3", "Granularity, simulated: METG(50 %)")
    sweeps = _sweeps(simulated)
    if not sweeps:
        command = "opbench simulate --metg --workers 64,1024 --output metg.csv"
        said = f"No simulated METG: no file has a sweep of granularities; {tag('code', command)} gives one."
        return heading + tag("p", said, class_="note")
    words = (
        "METG(50 %), simulated, is the granularity at which workers run tasks half of the time: the makespan by the"
        " number of tasks, times the number of workers. Less is better."
    )
    parts = [heading, tag("p", text(words), class_="note")]
    for place, (title, counts, rows) in enumerate(sweeps):
        label = f"METG(50 %), simulated: {title}"
        plot = tag("div", "", class_="plot", id=f"simulated-metg-{place}", role="img", aria_label=label)
        parts.append(tag("figure", tag("figcaption", text(label)) + plot))
        heads = ["strategy, simulated", *(f"{count:,} workers, simulated" for count in counts)]
        cells = [[name, *(own[count].text if count in own else "–" for count in counts)] for name, own in rows.items()]
        parts.append(table(heads, cells, label))
    return "".join(parts)


def _strategies(simulated):
    """Every strategy against the default, with few and with many workers."""
    if simulated.compared is None or len(simulated.compared.backends) < 2:
        return ""
    few, many = ends(simulated.compared)
    counts = list(dict.fromkeys((few, many)))
    rows = [
        [name, *(f"{ratio_words(own)} {verdict(own)}" for own in (small, large)[: len(counts)])]
        for name, small, large in moves(simulated.compared, simulated.base, few, many)
    ]
    caption = (
        f"Simulated makespan by the simulated one of {simulated.base}: the geometric mean over all graphs, its median over"
        f" the seeds, and in brackets the least and the most. Better and worse: all seeds say so by more than {100 * MARGIN:g} %."
    )
    heads = ["strategy, simulated", *(f"{count:,} workers, simulated" for count in counts)]
    return tag("h3", "All strategies, simulated") + table(heads, rows, caption)
