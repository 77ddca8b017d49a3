"""What each decision of a strategy is worth: a heat map of every change over the families."""

from .. import decisions
from ..data.ablation import WHOLE, ablation
from .chart import Chart
from .heat import heat, missing

NAME = "ablation"


def build(results):
    found = ablation(results)
    if found is None:
        return missing(NAME)
    panels = [
        heat(
            found,
            table,
            title_of(found, table),
            [(name, "all" if name is WHOLE else name) for name in table.columns],
            table.families,
            breaks=[1] if len(table.columns) > 1 else [],
        )
        for table in found.tables
    ]
    caption = (
        "The time of each change relative to the default strategy, in per cent less (blue) or more (orange); ×"
        " is a factor."
        " A family is the geometric mean over its benchmarks, one vote each, of ratios of paired blocks."
        f" {decisions.comparisons(found)} The column all is the mean over all benchmarks. The grey edges have the"
        f" mean size"
        " of the effects of each family and of each decision, without what is noise."
    )
    return Chart(NAME, "ablation", "What each decision is worth", caption, "heat", panels, columns=1)


def title_of(found, table):
    """The subject and its workers, where there are several tables."""
    workers = f"{table.base.workers} worker{'' if table.base.workers == 1 else 's'}"
    if table.is_extra:
        return f"{table.base.subject} with {workers}, more than the {found.cpus} CPUs"
    return f"{table.base.subject} with {workers}" if len(found.tables) > 1 else ""
