"""Each family with its charts: a place for each plot, and its numbers in a table for those who do not see or point."""

import re

from ..charts import shades
from ..charts.heat import places
from ..charts.ticks import is_crowded, limits, ticks
from .html import details, table, tag, text

_FAMILIES = (
    ("overview", "Overview"),
    ("ablation", "What each decision is worth"),
    ("overhead", "Overhead"),
    ("dependencies", "Dependencies"),
    ("priority", "Priority"),
    ("cancellation", "Cancellation"),
    ("latency", "Latency"),
    ("forkjoin", "Fork and join"),
    ("blocking", "Blocking and idle"),
    ("strategy", "Strategies"),
)


def sections(charts, beside, below, is_about_changes):
    """(HTML of all families, documents of the plots in the order of their places). `beside` is HTML that stands beside
    the overview, and before it on a narrow screen; `below` is HTML that stands below a chart, by the chart's name."""
    parts, plots = [], []
    # Where nothing was measured to compare with, the sentences still come first.
    if not any(chart.family == "overview" for chart in charts):
        parts.append(beside)
    for family, title in links(charts, is_about_changes):
        own = [chart for chart in charts if chart.family == family]
        content = "".join(_chart(chart, plots, title) + below.get(chart.name, "") for chart in own)
        if family == "overview":
            content = tag("div", beside + content, class_="first")
        heading = tag("h2", text(title), id=f"{family}-title")
        parts.append(tag("section", heading + content, id=family, aria_labelledby=f"{family}-title"))
    return "".join(parts), plots


def links(charts, is_about_changes):
    """The families in their order, which the contents of the page list: what the page is about comes first."""
    present = {chart.family for chart in charts}
    families = [(family, title) for family, title in _FAMILIES if family in present]
    return sorted(families, key=lambda one: one[0] != "ablation") if is_about_changes else families


def _chart(chart, plots, family):
    groups = _DOCUMENTS[chart.form](chart)
    for document in groups:
        document["alone"] = len(groups) == 1
    figures = []
    for document in groups:
        title = ", ".join(filter(None, [chart.title, document["title"]]))
        label = f"{title}. The numbers are in the table below the pictures."
        heading = tag("figcaption", text(document["title"])) if document["title"] else ""
        # What has many columns scrolls where they would be too narrow to be told apart.
        width = f"min-width:{document['width']}px" if document.get("width") else None
        plot = tag("div", class_="plot", id=f"plot-{len(plots)}", role="img", aria_label=label, style=width)
        if width:
            label = f"{title}, which scrolls sideways"
            plot = tag("div", plot, class_="scroll", tabindex="0", role="region", aria_label=label)
        figures.append(tag("figure", heading + plot))
        plots.append(document)
    numbers = [
        (panel.title, chart.name_of(series.arm), mark.detail)
        for panel in chart.panels
        for series in panel.series
        for mark in series.marks
    ]
    numbers += [
        (panel.title, panel.rows[row], tile.detail)
        for panel in chart.panels
        if chart.form == "heat"
        for (row, _), tile in panel.tiles.items()
    ]
    first, rest = _first_sentence(chart.caption)
    wide = " wide" if chart.form != "lines" or len(groups) == 1 else ""
    heads = ("panel", "change" if chart.form == "heat" else "subject", "numbers")
    return tag(
        "section",
        # Not the same heading twice.
        ("" if chart.title == family else tag("h3", text(chart.title)))
        + tag("p", text(first), class_="note")
        + (_legend(chart.panels[0]) if chart.form == "heat" else "")
        + tag("div", "".join(figures), class_="plots" + wide)
        + (details("How to read it", tag("p", text(rest))) if rest else "")
        + details("Numbers", table(heads, numbers, chart.title, row_heads=2)),
        class_="chart",
        id=f"chart-{chart.name}",
    )


def _first_sentence(caption):
    """The picture's sentence, and the rest for those who want to know."""
    first, _, rest = re.match(r"(.*?[^.]\.)( |$)(?=[A-Z]|$)(.*)", caption, re.DOTALL).groups()
    return first, rest


def _mark(mark):
    return [mark.x, mark.y, mark.x_low, mark.x_high, mark.y_low, mark.y_high, mark.label, mark.detail]


def _series(chart, series):
    return {
        "arm": chart.name_of(series.arm),
        "subject": series.arm.subject.name,
        "marks": [_mark(mark) for mark in series.marks],
    }


def _axis(axis, values):
    values = [value for value in values if value is not None and (value > 0 or not axis.log)]
    low, high = limits(values, axis.log)
    if axis.names and not axis.log:
        span = (max(values) - min(values)) or 1
        low, high = min(values) - 0.08 * span, max(values) + 0.08 * span
    places = axis.names or ticks(low, high, axis.log, axis.unit)
    return {
        "label": axis.label,
        "note": axis.note,
        "log": axis.log,
        "low": low,
        "high": high,
        "named": bool(axis.names),
        "ticks": [list(pair) for pair in places],
    }


def _guides(panel, ends=(0, 0)):
    return [[guide.kind, guide.at, guide.label, is_crowded(guide, panel.guides, ends)] for guide in panel.guides]


def _rows(chart):
    """Panels with the same axis share a plot, each as one band of it: that is read more easily on a screen, and on a
    phone."""
    groups = {}
    for panel in chart.panels:
        groups.setdefault((panel.x.label, panel.x.unit), []).append(panel)
    documents = []
    for (label, _), panels in groups.items():
        marks = [mark for panel in panels for series in panel.series for mark in series.marks]
        values = [value for mark in marks for value in (mark.x, mark.x_low, mark.x_high)]
        values += [guide.at for panel in panels for guide in panel.guides]
        log = all(panel.x.log for panel in panels)
        axis = panels[0].x
        axis.log = log
        bands = [
            {
                "title": panel.title,
                "series": [_series(chart, series) for series in panel.series],
                "guides": _guides(panel),
            }
            for panel in panels
        ]
        title = label[:1].upper() + label[1:] if len(groups) > 1 else ""
        documents.append({"form": "dots", "title": title, "x": _axis(axis, values), "bands": bands})
    return documents


def _plane(chart, panel):
    marks = [mark for series in panel.series for mark in series.marks]
    x = [value for mark in marks for value in (mark.x, mark.x_low, mark.x_high)] + [
        guide.at for guide in panel.guides if guide.kind == "x"
    ]
    y = [value for mark in marks for value in (mark.y, mark.y_low, mark.y_high)] + [
        guide.at for guide in panel.guides if guide.kind == "y"
    ]
    vertical = _axis(panel.y, y)
    return {
        "form": chart.form,
        "title": panel.title,
        "x": _axis(panel.x, x),
        "y": vertical,
        "series": [_series(chart, series) for series in panel.series],
        "guides": _guides(panel, (vertical["low"], vertical["high"])),
    }


def _heat(panel):
    """Colours, places and texts of a heat map, which the page's script only draws."""
    return {
        "form": "heat",
        "title": panel.title,
        "rows": panel.rows,
        "columns": panel.columns,
        "places": places(panel),
        "tiles": [
            [row, column, tile.step, tile.text, tile.mark, tile.detail] for (row, column), tile in panel.tiles.items()
        ],
        "groups": [[first, last, *_size(size)] for first, last, size in panel.groups],
        "sizes": [_size(size) for size in panel.sizes],
        "steps": shades.STEPS,
        "inks": [shades.ink(step) for step, _ in shades.legend()],
        "ink": shades.ON_PAPER,
        # The labels, and what a column needs at least: a finger's width is too much for thirty of them.
        "width": 7 * max(map(len, panel.rows)) + 16 * len(panel.columns) + 60 if len(panel.columns) > 12 else 0,
    }


def _size(size):
    return [size.text, shades.grey(size.share), size.detail] if size else ["", None, ""]


def _legend(panel):
    """The steps of the colours, and what the marks mean."""
    parts = []
    for step, words in shades.legend():
        light, dark = shades.colours(step)
        parts.append(tag("span", tag("i", "", class_="shade", style=f"--light:{light};--dark:{dark}") + text(words)))
    steps = "".join(parts)
    ends = tag("span", "← per cent less time"), tag("span", "per cent more time →")
    return tag("p", ends[0] + steps + ends[1], class_="shades note") + tag("p", text(panel.legend), class_="note")


_DOCUMENTS = {
    "dots": _rows,
    "lines": lambda chart: [_plane(chart, panel) for panel in chart.panels],
    "heat": lambda chart: [_heat(panel) for panel in chart.panels],
}
