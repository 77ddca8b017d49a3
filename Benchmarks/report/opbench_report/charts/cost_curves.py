"""How a cost grows with a size or another numeric parameter."""

from ..facts import widest
from .chart import Axis, Chart, Missing, Panel, Series, is_wide, y_mark
from .ticks import named

NAME = "cost-curves"
_FAMILIES = ("overhead", "dependencies", "forkjoin", "cancellation")


def build(results):
    panels = []
    for family in _FAMILIES:
        for benchmark in dict.fromkeys(line.benchmark for line in results.primary_lines(family)):
            if benchmark != "dependencies/metg":
                panels += _panels([line for line in results.primary_lines(family) if line.benchmark == benchmark])
    if not panels:
        return Missing(
            NAME,
            "no benchmark was measured at two values of a numeric parameter",
            "opbench run --benchmark 'contended-add|external-batch' --variants --output X.csv",
        )
    caption = "Cost against a size or parameter, everything else alike; medians over processes with 95 % intervals."
    return Chart(NAME, "overhead", "How do costs grow with size?", caption, "lines", panels)


def _panels(lines):
    """Returns a panel for each numeric parameter that varies while the others stay."""
    panels = []
    for key in sorted({key for line in lines for key in line.numbers}):
        groups = {}
        for line in lines:
            if key in line.numbers:
                groups.setdefault(_rest(line, key), []).append(line)
        for rest, group in groups.items():
            if len({line.numbers[key] for line in group}) < 2:
                continue
            panel = _panel(key, rest if len(groups) > 1 else "", sorted(group, key=lambda line: line.numbers[key]))
            if panel.series:
                panels.append(panel)
    return panels


def _rest(line, key):
    """Returns the other parameters."""
    return " ".join(f"{name}={value}" for name, value in sorted(line.parameters.items()) if name != key)


def _panel(key, rest, lines):
    places = [line.numbers[key] for line in lines]
    steps = sorted({place for place in places if place > 0})
    is_log = is_wide(steps, 5)
    # A logarithmic axis has no place for 0: it stands one step to the left of all others.
    at = {place: place for place in places}
    if is_log and min(places) == 0:
        at[0] = steps[0] ** 2 / steps[1]
    curves = {}
    for place, line in zip(places, lines):
        for arm, cell in line.cells.items():
            curves.setdefault(arm, []).append(y_mark(at[place], line, cell, f"{key}={place:g}: "))
    # A curve joins marks of one number of workers.
    series = [Series(arm, curves[arm]) for arm in widest(arm for arm, marks in curves.items() if len(marks) > 1)]
    x = Axis(key.replace("_", " "), log=is_log, names=[(at[place], text) for place, text in named(places)])
    # Of what is drawn: a subject that has a single mark is not.
    y = Axis(lines[0].words, lines[0].unit, is_wide([mark.y for one in series for mark in one.marks]), better=lines[0].better or "")
    return Panel(" ".join(filter(None, [lines[0].short, rest])), series, x, y)
