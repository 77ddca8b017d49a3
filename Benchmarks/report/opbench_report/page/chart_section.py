"""Each family with its charts: what stands around each plot, and the document that the page's script draws it from."""

import re

from ..charts import shades
from ..charts.heat import places
from ..charts.ticks import is_crowded, limits, ticks

_FAMILIES = (
    ("overview", "Overview"),
    ("ablation", "What each decision is worth"),
    ("overhead", "Overhead"),
    ("dependencies", "Dependencies"),
    ("priority", "Priority"),
    ("cancellation", "Cancellation"),
    ("latency", "Latency"),
    ("forkjoin", "Fork and join"),
    ("async", "Tasks of Swift"),
    ("blocking", "Blocking and idle"),
    ("strategy", "Strategies"),
)


# The marks of subjects as the plots draw them, in a box of 16.
SWATCHES = {
    "circle": "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0",
    "square": "M3 3h10v10H3Z",
    "diamond": "M8 2 14 8 8 14 2 8Z",
    "triangle-up": "M8 3 14 13H2Z",
    "triangle-down": "M8 13 2 3H14Z",
    "triangle-left": "M3 8 13 2V14Z",
    "triangle-right": "M13 8 3 2V14Z",
    "cross": "M6 2h4v4h4v4h-4v4H6v-4H2V6h4Z",
    "x": "M4 2 8 6 12 2 14 4 10 8 14 12 12 14 8 10 4 14 2 12 6 8 2 4Z",
    "line-ew": "M2 7h12v2H2Z",
    "star": "M8 1l2 5h5l-4 3 2 6-5-4-5 4 2-6-4-3h5Z",
    "hexagon": "M8 2l5 3v6l-5 3-5-3V5Z",
    "pentagon": "M8 2l6 5-2 7H4L2 7Z",
}


def families(charts, is_about_changes, plots):
    """Returns the families in their order, each with its charts: what the page is about comes first. The documents of
    the plots are added to `plots` in the order of their places."""
    present = {chart.family for chart in charts}
    names = [(family, title) for family, title in _FAMILIES if family in present]
    if is_about_changes:
        names.sort(key=lambda name: name[0] != "ablation")
    return [
        {
            "name": family,
            "title": title,
            "charts": [chart_of(chart, plots) for chart in charts if chart.family == family],
        }
        for family, title in names
    ]


def subjects(charts):
    """Returns all that have a series."""
    return sorted({series.arm.subject for chart in charts for panel in chart.panels for series in panel.series})


def looks(charts):
    """Returns how each subject looks, by its key."""
    looks = {key(chart, arm): arm.subject.look for chart in charts for arm in chart.arms}
    return {
        name: {"light": look.light, "dark": look.dark, "symbol": look.plotly_symbol, "dash": look.dash}
        for name, look in looks.items()
    }


def key(chart, arm):
    """Returns what a box that hides a subject has for a name: a simulated subject, or a part of a scheduler, is none of
    the subjects that were measured."""
    return arm.subject.name if chart.kind == "measured" else f"{chart.kind} {arm.subject}"


def chart_of(chart, plots):
    """Returns what stands around the plots of a chart, whose documents are added to `plots`."""
    documents = _DOCUMENTS[chart.form](chart)
    if chart.choices:
        documents = [_to_choose(chart, documents)]
    figures = []
    for document in documents:
        document["alone"] = len(documents) == 1
        figures.append(
            {
                "place": len(plots),
                "title": document["title"],
                "label": ", ".join(filter(None, [chart.title, document["title"]])),
                # What has many columns scrolls where they would be too narrow to be told apart.
                "width": document.get("width"),
                "choices": document.get("heads", ()),
            }
        )
        plots.append(document)
    first, rest = _first_sentence(chart.caption)
    is_heat = chart.form == "heat"
    return {
        "name": chart.name,
        "title": chart.title,
        "first": first,
        "rest": rest,
        "figures": figures,
        "is_wide": chart.form not in ("lines", "bands") or len(documents) == 1,
        "shades": _shades() if is_heat else None,
        "legend": chart.panels[0].legend if is_heat else None,
        "is_simulated": chart.simulated,
        "summary": "Simulated numbers" if chart.simulated else "Numbers",
        "heads": _heads(chart),
        "numbers": _tiles(chart) if is_heat else _curves(chart) if chart.choices else _marks(chart),
    }


def _heads(chart):
    if chart.simulated:
        return ("graph, simulated", "line, simulated", "numbers, simulated")
    own = "change" if chart.form == "heat" else "part" if chart.kind == "explained" else "subject"
    return ("panel", own, "numbers")


def _to_choose(chart, documents):
    """Returns one place for all panels, of which a reader sees the one that is chosen."""
    options = [{"choices": panel.choices, "plot": document} for panel, document in zip(chart.panels, documents)]
    return {"title": "", "heads": chart.choices, "options": options}


def _curves(chart):
    """Returns a row for each curve."""
    return [
        (panel.title, chart.name_of(series.arm), "; ".join(mark.detail for mark in series.marks))
        for panel in chart.panels
        for series in panel.series
    ]


def _marks(chart):
    return [
        (panel.title, chart.name_of(series.arm), mark.detail)
        for panel in chart.panels
        for series in panel.series
        for mark in series.marks
    ]


def _tiles(chart):
    return [(panel.title, panel.rows[row], tile.detail) for panel in chart.panels for (row, _), tile in panel.tiles.items()]


def _shades():
    """Returns the steps of the colours."""
    return [
        {"light": light, "dark": dark, "words": words}
        for step, words in shades.legend()
        for light, dark in [shades.colours(step)]
    ]


def _first_sentence(caption):
    """Returns the picture's sentence, and the rest for those who want to know."""
    first, _, rest = re.match(r"(.*?[^.]\.)( |$)(?=[A-Z]|$)(.*)", caption, re.DOTALL).groups()
    return first, rest


def _mark(mark):
    return [mark.x, mark.y, mark.x_low, mark.x_high, mark.y_low, mark.y_high, mark.label, mark.detail]


def _series(chart, series):
    return {
        "arm": chart.name_of(series.arm),
        "subject": key(chart, series.arm),
        "marks": [_mark(mark) for mark in series.marks],
    }


def _axis(chart, axis, values):
    values = [value for value in values if value is not None and (value > 0 or not axis.log)]
    low, high = axis.ends or limits(values, axis.log)
    if axis.names and not axis.log:
        span = (max(values) - min(values)) or 1
        low, high = min(values) - 0.08 * span, max(values) + 0.08 * span
    places = axis.names or ticks(low, high, axis.log, chart.steps(axis))
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
        documents.append(
            {"form": "dots", "title": title, "x": _axis(chart, axis, values), "bands": bands, "simulated": chart.simulated}
        )
    return documents


def _plane(chart, panel):
    marks = [mark for series in panel.series for mark in series.marks]
    x = [value for mark in marks for value in (mark.x, mark.x_low, mark.x_high)] + [
        guide.at for guide in panel.guides if guide.kind == "x"
    ]
    y = [value for mark in marks for value in (mark.y, mark.y_low, mark.y_high)] + [
        guide.at for guide in panel.guides if guide.kind == "y"
    ]
    vertical = _axis(chart, panel.y, y)
    return {
        "form": chart.form,
        "title": panel.title,
        "x": _axis(chart, panel.x, x),
        "y": vertical,
        "series": [_series(chart, series) for series in panel.series],
        "guides": _guides(panel, (vertical["low"], vertical["high"])),
        "simulated": chart.simulated,
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
    return [size.text, shades.GREYS[shades.grey(size.share)], size.detail] if size else ["", None, ""]


_DOCUMENTS = {
    "dots": _rows,
    "lines": lambda chart: [_plane(chart, panel) for panel in chart.panels],
    "bands": lambda chart: [_plane(chart, panel) for panel in chart.panels],
    "heat": lambda chart: [_heat(panel) for panel in chart.panels],
}
