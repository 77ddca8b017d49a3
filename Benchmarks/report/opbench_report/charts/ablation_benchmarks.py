"""What each change of a strategy is worth, benchmark by benchmark."""

from .. import decisions
from .chart import Chart, shared_keys, title_of
from .heat import heat

NAME = "ablation-benchmarks"


def build(results):
    ablation = results.ablation
    # What would give data is said of the first picture.
    if ablation is None:
        return None
    panels = []
    for table in ablation.tables:
        shared = shared_keys(table.lines)
        columns = [(line, title_of(line, shared[line.benchmark])) for line in table.lines]
        families = [line.family for line in table.lines]
        breaks = [place for place in range(1, len(families)) if families[place] != families[place - 1]]
        sizes = table.sizes.scenarios
        panels.append(heat(ablation, table, columns, decisions.by_line, sizes, breaks, has_numbers=len(columns) <= 10))
    caption = (
        "The time of each change relative to the default strategy in every benchmark, less in blue and more in orange."
        f" {decisions.comparisons(ablation)}"
    )
    return Chart(NAME, "ablation", "What is each decision worth, benchmark by benchmark?", caption, "heat", panels, columns=1)
