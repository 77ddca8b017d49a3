"""What each decision is worth, below its picture: every change with its ratios and its verdict, and a sentence for
each."""

from .. import decisions

_STYLES = {"better": "sure", "worse": "a"}


def section(ablation):
    return {
        "in_short": decisions.in_short(ablation),
        "comparisons": decisions.comparisons(ablation),
        "tables": [_table(ablation, table) for table in ablation.tables],
    }


def _table(ablation, table):
    title = decisions.title_of(ablation, table)
    families = ["all" if name is decisions.WHOLE else name for name in table.columns]
    return {
        "title": title,
        "label": ", ".join(filter(None, ["The time of each change over that of the default", title])),
        "heads": ["change and what it does", "verdict", "gives up", *families],
        "groups": [
            {
                "about": _about(ablation, table, decision),
                "changes": [_change(ablation, table, change) for change in changes],
            }
            for decision, changes in decisions.groups(table)
        ],
        "sentences": [decisions.sentence(change) for change in table.changes],
        "is_extra": table.is_extra,
    }


def _about(ablation, table, decision):
    words = decisions.words_of(ablation, table, decision)
    if not words:
        return f"{decision}:" if decision else "several decisions at once:"
    usual = f": {words.usual_words}." if words.usual_words else "."
    return f"{decision}: {words.summary}. By default {words.usual}{usual}"


def _change(ablation, table, change):
    worths = decisions.by_family(change)
    return {
        "name": decisions.marked(ablation, change, change.text),
        "meaning": change.meaning,
        "verdict": decisions.verdict_words(change),
        "verdict_meaning": decisions.meaning(ablation, change.verdict),
        "style": _STYLES.get(change.verdict),
        "gives_up": decisions.rows_words(change.gives_up),
        "cells": [_cell(table, name, worths.get(name)) for name in table.columns],
    }


def _cell(table, name, worth):
    """Returns the ratio, its mark where it is not open, and its interval; None where nothing was measured."""
    if worth is None:
        return None
    most = max(other.benchmarks for change in table.changes for other in change.families if other.family == name)
    of = f" of {worth.benchmarks}" if worth.benchmarks < most else ""
    mark = decisions.MARKS[worth.verdict] if worth.verdict != decisions.OPEN else ""
    return {"ratio": f"x{worth.number}", "mark": mark, "ends": (worth.range_text or "too few blocks") + of}
