"""One file per figure: from results to a chart, which knows nothing of how it is drawn.

`build(results)` of each module gives a `Chart`, or `Missing` with the run that would give it its data, or None where
the picture is for runs that are asked for by name.
"""

from . import (
    ablation,
    ablation_benchmarks,
    asynchronous,
    blocking,
    break_even,
    cancellation,
    cost_curves,
    cpu_cost,
    dependencies,
    footprint,
    forkjoin,
    granularity,
    latency,
    overhead,
    overview,
    rank_error,
    replay,
    scaling,
    slowdown,
    strategy,
    wait_by_level,
)
from .chart import Missing

_ALL = [
    overview,
    overhead,
    cost_curves,
    cpu_cost,
    footprint,
    scaling,
    dependencies,
    granularity,
    replay,
    rank_error,
    wait_by_level,
    cancellation,
    latency,
    slowdown,
    forkjoin,
    break_even,
    asynchronous,
    blocking,
    strategy,
]
# Of changes of strategies. The others leave these out where there are many.
_OF_CHANGES = [ablation, ablation_benchmarks]


def build_all(facts):
    """Returns (charts, missing), both in the order in which they are shown."""
    results = facts.measured
    built = [module.build(results) for module in _OF_CHANGES] + [module.build(results.general) for module in _ALL]
    charts = [chart for chart in built if chart is not None and not isinstance(chart, Missing)]
    for chart in charts:
        chart.units = facts.units
    return charts, [chart for chart in built if isinstance(chart, Missing)]
