"""The figures of a simulation: efficiency against workers, and what limits as bands. Each says that it is simulated."""

import io
import math
import os

from ..files import replace
from .style import FAINT, INK, PARAMETERS, WIDTH, for_the_web, pyplot, title_size

EFFICIENCY, LIMITS = "efficiency.svg", "limits.svg"
# Told apart by dash and mark too, for print in grey.
_LOOKS = [
    ("#1b5e9e", "-", "o"),
    ("#c4501b", "--", "s"),
    ("#2e7d32", "-.", "^"),
    ("#7b3fa0", ":", "D"),
    ("#8d6e00", "-", "v"),
    ("#b0305c", "--", "P"),
    ("#00796b", "-.", "X"),
    ("#5d5d5d", ":", "*"),
]
_BANDS = [
    ("limit_work_ns", "work", "#1b5e9e", ""),
    ("limit_critical_path_ns", "critical path", "#8fb8de", "//"),
    ("limit_scheduler_ns", "scheduler", "#e2a36f", "xx"),
]
MOST_LINES = len(_LOOKS)
# Beside pictures of what was measured, their names say what they are.
IN_REPORT = ("simulated-efficiency.svg", "simulated-limits.svg")


def render(simulation, lines, default, folder, source, names=(EFFICIENCY, LIMITS)):
    """Writes both figures. `lines` are the strategies that have a line, the default first."""
    _write(folder, names[0], source, lambda: _efficiency(simulation, lines))
    _write(folder, names[1], source, lambda: _limits(simulation, default))


def title_of(case):
    graph, sizes, work = case
    return f"{graph}, {_time(work)} a task" + (f" ({sizes.replace(';', ', ')})" if sizes else "")


def _time(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:g} {unit}"
    return f"{nanoseconds:g} ns"


def _write(folder, name, source, build):
    with pyplot.rc_context(PARAMETERS):
        figure = build()
        try:
            content = io.BytesIO()
            about = {"Title": "simulated", "Source": source, "Creator": "opbench", "Date": None}
            figure.savefig(content, format="svg", metadata=about)
            replace(os.path.join(folder, name), for_the_web(content.getvalue()))
        finally:
            pyplot.close(figure)


def _panels(simulation, title, legend_rows):
    cases = simulation.cases
    columns = min(2, len(cases))
    rows = math.ceil(len(cases) / columns)
    top = 0.45 + 0.2 * legend_rows
    height = top + 2.2 * rows
    figure, grid = pyplot.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False)
    for axes in grid.flat[len(cases) :]:
        axes.remove()
    for axes, case in zip(grid.flat, cases):
        title_words = title_of(case)
        axes.set_title(title_words, loc="left", pad=4, fontsize=title_size(title_words, 0.45 * WIDTH))
        axes.set_xscale("log", base=2)
        axes.set_xticks(simulation.workers, [str(count) for count in simulation.workers])
        axes.tick_params(axis="x", labelsize=5.8)
        axes.minorticks_off()
        axes.set_xlabel("virtual workers (log scale)")
        axes.grid(True, color=FAINT)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.text(0.012, 1 - 0.1 / height, title, ha="left", va="top", fontsize=9.5, fontweight="bold", color=INK)
    return figure, list(zip(grid.flat, cases)), height, top


def _finish(figure, handles, height, top, columns):
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.28 / height),
        ncols=columns,
        frameon=False,
        handlelength=3.2,
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - (top - 0.05) / height), h_pad=1.2, w_pad=1.2)
    return figure


def _efficiency(simulation, lines):
    rows = math.ceil(len(lines) / 3)
    figure, panels, height, top = _panels(simulation, "Simulated efficiency against virtual workers", rows)
    handles = []
    for name, (colour, dash, mark) in zip(lines, _LOOKS):
        style = {"color": colour, "linestyle": dash, "marker": mark, "markersize": 3.4, "linewidth": 1.1}
        for axes, case in panels:
            places = sorted(
                (place for place in simulation.values if place.case == case and name in simulation.values[place]),
                key=lambda place: place.workers,
            )
            values = [simulation.median(place, name, "efficiency") for place in places]
            axes.plot([place.workers for place in places], values, **style)
        handles.append(pyplot.Line2D([], [], label=name, **style))
    for axes, _ in panels:
        axes.set_ylim(0, 1.05)
        axes.set_ylabel("bound / makespan, simulated")
    return _finish(figure, handles, height, top, 3)


def _limits(simulation, default):
    title = f"What limits {default}, simulated: shares of the makespan"
    figure, panels, height, top = _panels(simulation, title, 1)
    for axes, case in panels:
        places = sorted(
            (place for place in simulation.values if place.case == case and default in simulation.values[place]),
            key=lambda place: place.workers,
        )
        workers = [place.workers for place in places]
        shares = [
            [simulation.median(place, default, column) / simulation.median(place, default, "makespan_ns") for place in places]
            for column, *_ in _BANDS
        ]
        drawn = axes.stackplot(workers, shares, colors=[colour for *_, colour, _ in _BANDS])
        for area, (*_, hatch) in zip(drawn, _BANDS):
            area.set_hatch(hatch)
            area.set_edgecolor("#ffffff")
            area.set_linewidth(0)
        axes.set_ylim(0, 1)
        axes.set_xlim(min(workers), max(workers) if len(workers) > 1 else min(workers) + 1)
        axes.set_ylabel("share, simulated")
    handles = [
        pyplot.matplotlib.patches.Patch(facecolor=colour, hatch=hatch, edgecolor="#ffffff", label=label)
        for _, label, colour, hatch in _BANDS
    ]
    return _finish(figure, handles, height, top, 3)
