"""Every cell in a table that the page's script sorts and filters."""

from ..data.metrics import quantity
from .html import tag, text

# (heading, is a number)
COLUMNS = (
    ("benchmark", False),
    ("parameters", False),
    ("metric", False),
    ("subject", False),
    ("workers", True),
    ("n", True),
    ("median", True),
    ("low", True),
    ("high", True),
    ("ratio", True),
    ("ratio low", True),
    ("ratio high", True),
)


def rows(results):
    """A record per cell: what is sorted by, and for quantities what is shown."""
    records = []
    for line in results.lines:
        for arm, cell in line.cells.items():
            own, ratio = cell.estimate, cell.ratio
            numbers = [own.median, own.low, own.high]
            shown = [None if value is None else quantity(line.unit, value) for value in numbers]
            ratios = [ratio.median, ratio.low, ratio.high] if ratio else [None, None, None]
            records.append(
                [
                    line.benchmark,
                    line.params,
                    line.metric,
                    arm.subject,
                    arm.workers,
                    own.count,
                    *numbers,
                    *ratios,
                    *shown,
                ]
            )
    return records


def section(results):
    heads = "".join(
        tag(
            "th",
            tag(
                "button",
                text(name) + tag("span", "", class_="arrow", aria_hidden="true"),
                type="button",
                data_column=place,
            ),
            scope="col",
            aria_sort="none",
            class_="number" if is_number else None,
        )
        for place, (name, is_number) in enumerate(COLUMNS)
    )
    choices = _choice("family", [line.family for line in results.lines]) + _choice(
        "metric", [line.metric for line in results.lines]
    )
    choices += _choice("subject", [arm.subject for arm in results.arms])
    words = tag(
        "label",
        "Filter (all words) "
        + tag("input", type="search", id="filter-words", autocomplete="off").removesuffix("</input>"),
    )
    grid = tag(
        "table",
        tag(
            "caption", "Medians over processes with 95 % intervals, and the paired ratio to foundation", class_="hidden"
        )
        + tag("thead", tag("tr", heads))
        + tag("tbody"),
        id="cells",
    )
    return tag(
        "section",
        tag("h2", "All numbers", id="table-title")
        + tag("div", words + choices, class_="filters", role="search", aria_label="Filter the table")
        + tag("p", "", id="table-count", aria_live="polite", class_="note")
        + tag("div", grid, class_="scroll", tabindex="0", role="region", aria_labelledby="table-title")
        + tag("p", tag("button", "Show more", type="button", id="table-more")),
        id="table",
        aria_labelledby="table-title",
    )


def _choice(name, values):
    options = tag("option", "all", value="") + "".join(
        tag("option", text(value), value=value) for value in dict.fromkeys(sorted(values))
    )
    return tag("label", f"{name.capitalize()} " + tag("select", options, id=f"filter-{name}"))
