"""Speed beside what it costs in CPU time: a queue that spins is quick and dear."""

import math

from ..data.comparison import compare
from ..data.geometric_mean import geometric_mean
from ..data.metrics import marked_ratio, significant
from .chart import Axis, Chart, Guide, Mark, Missing, Panel, Series, no_ratio

NAME = "cpu-cost"
_FAMILIES = ("overhead", "dependencies", "forkjoin", "cancellation", "strategy")
_TIME, _CPU = "ns_per_op", "cpu_ns_per_op"


def build(results):
    if not results.select(metric=_CPU):
        return Missing(
            NAME, "no row has cpu_ns_per_op", "opbench run --backend all --benchmark overhead/ --output X.csv"
        )
    panels = [panel for family in _FAMILIES for panel in _panels(results, family)]
    if not panels:
        return no_ratio(NAME, results)
    reference = results.reference
    caption = (
        f"Time and CPU time relative to {reference}, geometric means over the benchmarks of a family, with 95 % bootstrap"
        f" intervals. A subject whose CPU time is further right than its time keeps more CPUs busy than {reference} does."
        " Subjects that lack a capability have fewer benchmarks in their mean."
    )
    return Chart(NAME, "overhead", "CPU cost beside speed", caption, "dots", panels, columns=2)


def _panels(results, family):
    """Time above CPU time, in each a row for each subject: a mark for each benchmark would hide the others."""
    pairs = [
        (line, other)
        for line in results.select(family=family, metric=_TIME)
        if (other := results.line(line.benchmark, line.params, _CPU)) is not None
    ]
    reference = results.reference
    wall, cpu = (compare(results, reference, [pair[place] for pair in pairs]).lines for place in (0, 1))
    cpu = {(one.benchmark, one.params, one.arm): one for one in cpu}
    # Both means are of the same benchmarks.
    both = [
        (one, cpu[key]) for one in wall if results.is_main(one) and (key := (one.benchmark, one.params, one.arm)) in cpu
    ]
    axis = Axis(f"relative to {reference}", "ratio", True, better="less")
    panels = []
    for place, what in enumerate(("time", "CPU time")):
        series = [
            Series(arm, [_mark(own, place, what, reference)])
            for arm in results.main_arms
            if (own := [pair for pair in both if pair[0].arm == arm])
        ]
        if series:
            panels.append(Panel(f"{family}: {what}", series, axis, guides=[Guide("x", 1, reference)]))
    return panels


def _mark(own, place, what, reference):
    mean = geometric_mean([(pair[place].benchmark, pair[place].logarithms) for pair in own])
    count = f"{mean.benchmarks} benchmark{'s' if mean.benchmarks > 1 else ''}, {mean.blocks} blocks"
    busy = _busy([(one.a, other.a) for one, other in own])
    detail = f"{marked_ratio(mean)} of {reference}'s {what}, {busy}, {count}"
    return Mark(mean.ratio, x_low=mean.low, x_high=mean.high, label=f"x{significant(mean.ratio)}", detail=detail)


def _busy(times):
    """How many CPUs were busy, on geometric average."""
    logs = [math.log(cpu / wall) for wall, cpu in times if wall > 0 and cpu > 0]
    return f"{significant(math.exp(sum(logs) / len(logs)))} CPUs busy" if logs else "CPUs busy not known"
