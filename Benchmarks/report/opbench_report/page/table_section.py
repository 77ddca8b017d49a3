"""Every cell in a table that the page's script sorts and filters."""

from ..data.metrics import marked_ratio, quantity_with_interval
from .html import tag, text

_MEDIAN = "The median holds for this machine."

# (heading, is a number)
COLUMNS = (
    ("benchmark", False),
    ("parameters", False),
    ("metric", False),
    ("subject", False),
    ("ratio", True),
    ("median", True),
    ("n", True),
)
# In which order they stand, by their places above: on a phone the ratio is on the first screen.
_SHOWN = (0, 3, 4, 5, 1, 2, 6)


def rows(results):
    """A record per cell: what each column is sorted by, and for ratio and median what is shown."""
    records = []
    for line in results.lines:
        for arm, cell in line.cells.items():
            own, ratio = cell.estimate, cell.ratio
            records.append(
                [
                    line.benchmark,
                    line.params,
                    line.metric,
                    str(arm),
                    ratio.median if ratio else None,
                    own.median,
                    own.count,
                    marked_ratio(ratio) if ratio else "",
                    quantity_with_interval(line.unit, own),
                    arm.subject.name,
                ]
            )
    return records


def section(results, files):
    heads = "".join(
        tag(
            "th",
            tag(
                "button",
                text(name) + tag("span", "↕", class_="arrow", aria_hidden="true"),
                type="button",
                data_column=place,
            ),
            scope="col",
            aria_sort="none",
            class_="number" if is_number else None,
        )
        for place, (name, is_number) in ((place, COLUMNS[place]) for place in _SHOWN)
    )
    choices = _choice("family", [line.family for line in results.lines]) + _choice(
        "metric", [line.metric for line in results.lines]
    )
    choices += _choice("subject", [arm.subject.name for arm in results.arms])
    words = tag(
        "label",
        "Filter (all words) "
        + tag("input", type="search", id="filter-words", autocomplete="off").removesuffix("</input>"),
    )
    grid = tag(
        "table",
        tag(
            "caption",
            text(f"{_ratios(results)} and medians over processes, with 95 % intervals"),
            class_="hidden",
        )
        + tag("thead", tag("tr", heads))
        + tag("tbody"),
        id="cells",
    )
    return tag(
        "section",
        tag("h2", "All numbers", id="table-title")
        + files
        + tag("p", text(_note(results)), class_="note")
        + tag("div", words + choices, class_="filters", role="search", aria_label="Filter the table")
        + tag("p", "", id="table-count", aria_live="polite", class_="note")
        + tag("p", "Move the table sideways for its other columns →", class_="note sideways")
        + tag("div", grid, class_="scroll", tabindex="0", role="region", aria_labelledby="table-title")
        + tag("p", tag("button", "Show more", type="button", id="table-more")),
        id="table",
        aria_labelledby="table-title",
    )


def _ratios(results):
    return f"Paired ratios to {results.reference}" if results.reference else "No ratios, since there is no reference,"


def _note(results):
    if results.reference is None:
        return f"There is no ratio, since no result names the subject to compare with. {_MEDIAN}"
    return (
        f"The ratio is to {results.reference} in the same blocks, with its 95 % interval; ~ marks an interval wider than"
        f" ±5 %, or ±15 % beyond a ratio of 3. {_MEDIAN}"
    )


def _choice(name, values):
    options = tag("option", "all", value="") + "".join(
        tag("option", text(value), value=value) for value in dict.fromkeys(sorted(values))
    )
    return tag("label", f"{name.capitalize()} " + tag("select", options, id=f"filter-{name}"))
