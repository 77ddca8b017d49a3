"""How a cost grows with a size or another numeric parameter."""

from ..data import parameters
from ..data.results import widest
from .chart import Axis, Chart, Missing, Panel, Series, is_wide, y_mark

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
    return Chart(NAME, "overhead", "Cost curves", caption, "lines", panels)


def _panels(lines):
    """A panel for each numeric parameter that varies while the others stay."""
    panels = []
    keys = sorted({key for line in lines for key in line.parameters})
    for key in keys:
        groups = {}
        for line in lines:
            own = line.parameters
            if parameters.number(own, key) is not None:
                rest = parameters.text({name: value for name, value in own.items() if name != key})
                groups.setdefault(rest, []).append(line)
        for rest, group in groups.items():
            places = {parameters.number(line.parameters, key) for line in group}
            if len(places) < 2:
                continue
            panel = _panel(
                key,
                rest if len(groups) > 1 else "",
                sorted(group, key=lambda line: parameters.number(line.parameters, key)),
            )
            if panel.series:
                panels.append(panel)
    return panels


def _panel(key, rest, lines):
    places = [parameters.number(line.parameters, key) for line in lines]
    values = [cell.estimate.median for line in lines for cell in line.cells.values()]
    curves = {}
    for place, line in zip(places, lines):
        for arm, cell in line.cells.items():
            curves.setdefault(arm, []).append(y_mark(place, line, arm, cell, f"{key}={place:g}: "))
    # A curve joins marks of one number of workers.
    series = [Series(arm, curves[arm]) for arm in widest(arm for arm, marks in curves.items() if len(marks) > 1)]
    x = Axis(
        key.replace("_", " "), log=is_wide(places, 5), names=[(place, f"{place:g}") for place in sorted(set(places))]
    )
    y = Axis(lines[0].facts.words, lines[0].unit, is_wide(values), better=lines[0].facts.better)
    return Panel(" ".join(filter(None, [lines[0].short, rest.replace(";", " ")])), series, x, y)
