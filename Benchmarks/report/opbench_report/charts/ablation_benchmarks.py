"""The same as `ablation`, benchmark by benchmark."""

from .. import decisions
from ..data.ablation import ablation, key_of
from .ablation import title_of
from .chart import Chart, shared_keys, title_of as line_title
from .heat import heat

NAME = "ablation-benchmarks"


def build(results):
    found = ablation(results)
    # What would give data is said of the first picture.
    if found is None:
        return None
    panels = []
    for table in found.tables:
        shared = shared_keys(table.lines)
        columns = [(key_of(line), line_title(line, shared[line.benchmark])) for line in table.lines]
        families = [line.family for line in table.lines]
        breaks = [place for place in range(1, len(families)) if families[place] != families[place - 1]]
        title = title_of(found, table)
        panels.append(heat(found, table, title, columns, table.scenarios, breaks, has_numbers=len(columns) <= 10))
    caption = (
        "The time of each change relative to the default strategy in every benchmark, less in blue and more in orange."
        f" {decisions.comparisons(found)}"
    )
    return Chart(NAME, "ablation", "Benchmark by benchmark", caption, "heat", panels, columns=1)
