"""What happens when bodies block, and what a queue costs when it has next to nothing to do."""

from .chart import Axis, Chart, Guide, Missing, dots_panel, shared_keys, title_of

NAME = "blocking"


def build(results):
    panels = []
    lines = results.select(family="blocking", metric="efficiency")
    shared = shared_keys(lines)
    for line in lines:
        panel = dots_panel(
            line, f"{title_of(line, shared[line.benchmark])}: efficiency", Axis("efficiency", "ratio", better="more")
        )
        panel.guides.append(Guide("x", 1, "ideal"))
        panels.append(panel)
    for line in results.select(metric="threads_created", family="blocking"):
        panels.append(dots_panel(line, f"{line.short}: threads created", Axis("threads", "threads")))
    for line in results.select(family="idle", metric="idle_cpu_percent"):
        panels.append(dots_panel(line, "idle: CPU at an operation every 10 ms", Axis("CPU", "percent", better="less")))
    if not panels:
        return Missing(
            NAME,
            "nothing blocked and nothing idled",
            "opbench run --backend all --benchmark 'blocking/|idle/' --output X.csv",
        )
    caption = (
        "Efficiency of bodies that block (the ideal makespan over the measured one), the threads it took, and the CPU"
        " time of a queue that is nearly idle, over the wall-clock time; medians over processes with 95 % intervals."
    )
    return Chart(NAME, "blocking", "What do blocking and idling cost?", caption, "dots", panels)
