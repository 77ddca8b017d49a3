"""What each decision is worth, below its picture: every change with its ratios and its verdict, and a sentence for
each."""

from .. import decisions
from ..charts.ablation import title_of
from ..data.ablation import OPEN, WHOLE
from ..data.metrics import significant

_STYLES = {"better": "sure", "worse": "a"}


def section(ablation):
    return {
        "in_short": decisions.in_short(ablation),
        "comparisons": decisions.comparisons(ablation),
        "tables": [_table(ablation, table) for table in ablation.tables],
    }


def _table(ablation, table):
    title = title_of(ablation, table)
    families = ["all" if name is WHOLE else name for name in table.columns]
    return {
        "title": title,
        "label": ", ".join(filter(None, ["The time of each change over that of the default", title])),
        "heads": ["change and what it does", "verdict", "gives up", *families],
        "groups": [
            {
                "about": _about(ablation, table, decision),
                "changes": [_change(ablation, table, change) for change in changes],
            }
            for decision, changes in table.decisions
        ],
        "sentences": [decisions.sentence(table, change) for change in table.changes],
        "is_extra": table.is_extra,
    }


def _about(ablation, table, decision):
    words = ablation.words.get((table.base.subject.name, decision))
    if not words:
        return f"{decision}:" if decision else "several decisions at once:"
    usual = words.of(words.usual)
    return f"{decision}: {words.summary}. By default {words.usual}" + (f": {usual}." if usual else ".")


def _change(ablation, table, change):
    mark, verdict = decisions.daggers(ablation).get(change.gives_up, ""), table.verdict(change)
    return {
        "name": f"{change.text} {mark}" if mark else change.text,
        "meaning": ablation.meaning(table, change),
        "verdict": decisions.verdict_words(table, change),
        "verdict_meaning": decisions.MEANING[verdict],
        "style": _STYLES.get(verdict),
        "gives_up": decisions.rows_words(change.gives_up),
        "cells": [_cell(table, change, name) for name in table.columns],
    }


def _cell(table, change, name):
    """The ratio, its mark where it is not open, and its interval; None where nothing was measured."""
    worth = table.families.get((change, name))
    if worth is None:
        return None
    most = max(other.benchmarks for (_, family), other in table.families.items() if family == name)
    of = f" of {worth.benchmarks}" if worth.benchmarks < most else ""
    ends = f"[{significant(worth.low)}, {significant(worth.high)}]" if worth.low is not None else "too few blocks"
    mark = decisions.MARKS[worth.verdict] if worth.verdict != OPEN else ""
    return {"ratio": f"x{significant(worth.ratio)}", "mark": mark, "ends": ends + of}
