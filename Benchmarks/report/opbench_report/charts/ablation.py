"""What each decision of a strategy is worth: a heat map of every change over the families."""

from .. import decisions
from .chart import Chart
from .heat import heat, missing

NAME = "ablation"


def build(results):
    ablation = results.ablation
    if ablation is None:
        return missing(NAME)
    panels = []
    for table in ablation.tables:
        columns = [(name, "all" if name is decisions.WHOLE else name) for name in table.columns]
        breaks = [1] if len(columns) > 1 else []
        panels.append(heat(ablation, table, columns, decisions.by_family, table.sizes.families, breaks))
    caption = (
        "The time of each change relative to the default strategy, in per cent less (blue) or more (orange); × is a factor."
        " A family is the geometric mean over its benchmarks, one vote each, of ratios of paired blocks."
        f" {decisions.comparisons(ablation)} The column all is the mean over all benchmarks. The grey edges have the mean size"
        " of the effects of each family and of each decision, without what is noise."
    )
    return Chart(NAME, "ablation", "What is each decision worth?", caption, "heat", panels, columns=1)
