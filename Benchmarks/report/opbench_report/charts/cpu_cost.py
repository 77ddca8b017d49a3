"""Speed beside what it costs in CPU time: a queue that spins is quick and dear."""

from ..ratio_words import marked
from .chart import Axis, Chart, Guide, Mark, Missing, Panel, Series, no_ratio

NAME = "cpu-cost"
_CPU = "cpu_ns_per_op"


def build(results):
    if not results.select(metric=_CPU):
        return Missing(
            NAME, "no row has cpu_ns_per_op", "opbench run --backend all --benchmark overhead/ --output X.csv"
        )
    if not results.cpu_cost:
        return no_ratio(NAME, results)
    reference = results.reference
    axis = Axis(f"relative to {reference}", "ratio", True, better="less")
    # Time above CPU time, in each a row for each subject: a mark for each benchmark would hide the others.
    panels = []
    for family in dict.fromkeys(cost.family for cost in results.cpu_cost):
        costs = [cost for cost in results.cpu_cost if cost.family == family]
        for key, what in (("time", "time"), ("cpu", "CPU time")):
            series = [Series(cost.arm, [_mark(cost[key], cost, what, reference)]) for cost in costs]
            panels.append(Panel(f"{family}: {what}", series, axis, guides=[Guide("x", 1, reference)]))
    caption = (
        f"Time and CPU time relative to {reference}, geometric means over the benchmarks of a family, with 95 % bootstrap"
        f" intervals. A subject whose CPU time is further right than its time keeps more CPUs busy than {reference} does."
        " Subjects that lack a capability have fewer benchmarks in their mean."
    )
    return Chart(NAME, "overhead", "How much CPU time does speed cost?", caption, "dots", panels, columns=2)


def _mark(mean, cost, what, reference):
    busy = f"{cost.busy_text} CPUs busy" if cost.busy_text else "CPUs busy not known"
    detail = f"{marked(mean)} of {reference}'s {what}, {busy}, {mean.basis}"
    return Mark(mean.value, x_low=mean.low, x_high=mean.high, label=f"x{mean.number}", detail=detail)
