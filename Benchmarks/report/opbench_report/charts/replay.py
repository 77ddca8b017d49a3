"""Real workflows: how near each subject comes to the shortest schedule there can be."""

from .chart import Axis, Chart, Guide, Missing, dots_panel

NAME = "replay"
_BENCHMARK = "dependencies/replay"


def build(results):
    lines = results.select(_BENCHMARK, "efficiency")
    if not lines:
        return Missing(
            NAME,
            "there is no replay",
            "opbench run --backend all --benchmark dependencies/replay --graph WORKFLOW.json --output X.csv",
        )
    axis = Axis("efficiency: max(T1/P, T∞) / makespan", "ratio", better="more")
    bounds = {bound.line.facts: bound for bound in results.replay_bounds or []}
    panels, lacking = [], False
    for line in lines:
        panel = dots_panel(line, line.parameters.get("graph", line.params), axis)
        panel.guides.append(Guide("x", 1, "no schedule is better"))
        bound = bounds.get(line.facts)
        if bound is None:
            lacking = True
        else:
            panel.guides.append(Guide("x", bound.bound, f"Graham's bound {bound.text}"))
        panels.append(panel)
    caption = (
        "Replayed workflows, runtimes scaled and spun; medians over processes with 95 % intervals. No schedule on P"
        " workers ends before max(T1/P, T∞), which is efficiency 1; one that never idles while a task is ready is not"
        " below Graham's bound."
    )
    if lacking:
        caption += " Results without graham_efficiency, which earlier versions did not write, show no Graham's bound."
    return Chart(NAME, "dependencies", "How near is each to the shortest schedule of a real workflow?", caption, "dots", panels)
