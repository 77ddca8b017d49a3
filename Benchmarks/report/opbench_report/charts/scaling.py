"""How times change with the number of workers."""

from .chart import Axis, Chart, Missing, Panel, Series, is_wide, shared_keys, title_of, y_mark

NAME = "scaling"


def build(results):
    lines = [line for line in results.primary_lines() if any(len(arms) > 1 for arms in _by_subject(line).values())]
    if not lines:
        return Missing(
            NAME,
            "no subject was measured with two numbers of workers",
            "opbench run --workers 1,2 --output X.csv",
        )
    shared = shared_keys(lines)
    panels = []
    for line in lines:
        subjects = _by_subject(line)
        counts = sorted({arm.workers for arms in subjects.values() for arm in arms})
        series = [
            Series(
                max(arms),
                [y_mark(arm.workers, line, line.cells[arm], f"{arm.workers} workers: ") for arm in sorted(arms)],
            )
            for arms in subjects.values()
            if len(arms) > 1
        ]
        values = [mark.y for curve in series for mark in curve.marks]
        x = Axis("workers", log=is_wide(counts), names=[(count, str(count)) for count in counts])
        y = Axis(line.words, line.unit, is_wide(values), better=line.better or "")
        panels.append(Panel(title_of(line, shared[line.benchmark]), series, x, y))
    caption = (
        "Time by number of workers, for the subjects whose number can be set; medians over processes with 95 %"
        " intervals."
    )
    return Chart(NAME, "overhead", "What do more workers bring?", caption, "lines", panels, by_workers=True)


def _by_subject(line):
    subjects = {}
    for arm in line.cells:
        subjects.setdefault(arm.subject, []).append(arm)
    return subjects
