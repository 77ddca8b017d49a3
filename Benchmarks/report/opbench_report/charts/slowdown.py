"""How the slowdown of requests grows with the load, beside a queue without any cost."""

from ..facts import Arm, widest
from ..subjects import COMPUTED, Subject
from .chart import Axis, Chart, Guide, Mark, Panel, Series, shared_keys, y_mark

NAME = "slowdown"
BENCHMARK = "latency/slowdown"
_METRIC = "slowdown_p999"


def build(results):
    lines = results.select(BENCHMARK, _METRIC)
    if not lines:
        return None
    ideals = {line.params: line for line in results.select(BENCHMARK, f"ideal_{_METRIC}")}
    shared = shared_keys(lines)[BENCHMARK] | {"load"}
    by_kind = {}
    for line in sorted(lines, key=lambda line: line.numbers["load"]):
        kind = tuple(f"{key}={value}" for key, value in line.parameters.items() if key not in shared)
        by_kind.setdefault(kind, []).append(line)
    guide = Guide("y", results.slowdown_level, f"slowdown {results.slowdown_level:g}")
    panels = [_panel(", ".join(kind) or BENCHMARK, own, ideals, guide) for kind, own in by_kind.items()]
    caption = (
        "The time from the arrival of a request to its end, over its service time, which one request in a thousand exceeds"
        " (p99.9), against the share of the workers' time that the service takes; medians over processes with 95 %"
        " intervals. The grey curve is one queue in which nothing but the service takes time, with the same requests:"
        " what lies above is the cost of the scheduler, and of other programs."
    )
    return Chart(NAME, "latency", "How much load until the tails break?", caption, "lines", panels, columns=2)


def _panel(title, lines, ideals, guide):
    arms = widest(arm for line in lines for arm in line.cells)
    series = [
        Series(arm, [y_mark(line.numbers["load"], line, line.cells[arm]) for line in lines if arm in line.cells]) for arm in arms
    ]
    # The queue without cost has as many servers as the subjects of the picture have workers.
    most = max(arm.workers for arm in arms)
    marks = []
    for line in lines:
        cells = [cell for arm, cell in ideals[line.params].cells.items() if arm.workers == most] if line.params in ideals else []
        if cells:
            marks.append(Mark(line.numbers["load"], cells[0].value, detail=f"a queue without cost: {cells[0].text}"))
    if marks:
        series.append(Series(_free_queue(most), marks))
    return Panel(title, series, Axis("load", "percent", ends=(0, 100)), Axis("slowdown, p99.9", log=True, better="less"), [guide])


def _free_queue(servers):
    return Arm(Subject(1_000_000, "queue without cost", COMPUTED, {}), servers)
