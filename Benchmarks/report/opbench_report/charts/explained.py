"""The figures of `opbench explain`: what a part of the scheduler that takes 100 ns less gives, and where the time goes."""

from ..facts import Arm, Record
from ..subjects import Subject, looks_in_turn
from .chart import Axis, Chart, Mark, Panel, Series


def build_all(facts):
    """Returns the charts: one of what each part is worth, one of where the time goes."""
    # A name has one look, as a part and as an activity.
    names = dict.fromkeys(own.name for file in facts.explained for own in (*file.parts, *file.activities))
    looks = zip(names, looks_in_turn(len(names)))
    arms = {name: Arm(Subject(place, name, look, Record()), 0) for place, (name, look) in enumerate(looks)}
    charts = [_worth(facts.explained, arms), _time(facts.explained, arms)]
    for chart in charts:
        chart.units, chart.by_workers, chart.kind = facts.units, True, "explained"
    return [chart for chart in charts if chart.panels]


def title(own):
    """Returns what a file explains."""
    return f"{own.benchmark} {own.params} on {own.subject}@{own.workers}"


def _worth(files, arms):
    axis = Axis("time saved by 100 ns less, per cent", better="more")
    panels = []
    for own in files:
        series = []
        for part in own.parts:
            if part.saving is None:
                continue
            detail = f"{part.name}: {part.text}; if it never overlapped {part.even_text}"
            marks = [Mark(part.saving, x_low=part.low, x_high=part.high, label=part.text, detail=detail)]
            series.append(Series(arms[part.name], marks))
        if series:
            panels.append(Panel(title(own), series, axis))
    caption = (
        "By how many per cent the time of the whole becomes less when a part of the scheduler takes 100 ns less: measured"
        " from delays that are injected at each event of the part, with the 95 % interval of paired blocks. A part without a"
        " mark came less than once in a repeat."
    )
    return Chart("explained-worth", "explained", "What is a cheaper part worth?", caption, "dots", panels, columns=1)


def _time(files, arms):
    axis = Axis("share of the workers' time", ends=(0, 1))
    panels = [
        Panel(
            title(own),
            [
                Series(arms[activity.name], [Mark(activity.share, label=activity.text, detail=f"{activity.words}: {activity.text}")])
                for activity in own.activities
            ],
            axis,
        )
        for own in files
    ]
    caption = "Where the time of the workers goes. The shares of a panel add up to the whole."
    return Chart("explained-time", "explained", "Where does the time go?", caption, "dots", panels, columns=1)
