"""What each decision of a strategy is worth, in words: a sentence for each change, by rule, and what the verdicts
mean."""

from .data.ablation import BETTER, MARGIN, OPEN, SAME, WORSE
from .data.ratio_words import share

# The verdict over all families: what it is called, and what it means.
MEANING = {
    BETTER: "surely less time in one family at least, and surely more in none",
    WORSE: "surely more time in one family at least, and surely less in none",
    "mixed": "surely less time in one family at least, and surely more in another",
    SAME: f"within ±{100 * MARGIN:g} % in every family, with the whole interval",
    OPEN: "no sure difference in any family",
}
MARKS = {BETTER: "●", WORSE: "●", SAME: "=", OPEN: ""}
# Beside the changes that give something up, by what it is.
_DAGGERS = "†‡§¶"


def daggers(ablation):
    """rows that are given up -> the mark for them."""
    found = {change.gives_up for table in ablation.tables for change in table.changes if change.gives_up}
    return {rows: _DAGGERS[min(place, len(_DAGGERS) - 1)] for place, rows in enumerate(sorted(found))}


def rows_words(rows):
    """Such as "row 20" or "rows 20 and 21"; empty where there are none."""
    names = [str(row) for row in rows]
    text = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    return f"row{'s' if len(names) > 1 else ''} {text}" if rows else ""


def verdict_words(table, change):
    """Over all families, in a few words; the numbers are of families."""
    found = list(table.verdicts(change).values())
    better, worse, count = found.count(BETTER), found.count(WORSE), len(found)
    if count == 1:
        return {SAME: "the same", OPEN: "no sure difference"}.get(found[0], found[0])
    match table.verdict(change):
        case "better":
            return f"better in {better} of {count}, worse in none"
        case "worse":
            return f"worse in {worse} of {count}, better in none"
        case "mixed":
            return f"better in {better} of {count}, worse in {worse}"
        case "same":
            return f"the same in all {count}"
    return "no sure difference"


def sentence(table, change):
    """One for each change: where it is surely better or worse, where it is the same, and how many families are open."""
    verdicts = table.verdicts(change)
    sure = [name for name, verdict in verdicts.items() if verdict in (BETTER, WORSE)]
    # What takes less time first, and the largest difference.
    sure.sort(key=lambda name: table.families[change, name].ratio)
    parts = [
        "{} on {}{}".format(words, name, ends) for name in sure for words, ends in [share(table.families[change, name])]
    ]
    same = [name for name, verdict in verdicts.items() if verdict == SAME]
    if same:
        parts.append(f"the same on {_listed(same)}")
    still_open = sum(verdict == OPEN for verdict in verdicts.values())
    if still_open == len(verdicts):
        parts.append(
            f"no sure difference on any of {len(verdicts)} families" if len(verdicts) > 1 else "no sure difference"
        )
    elif still_open:
        parts.append(f"no sure difference on {still_open} of {len(verdicts)} families")
    return f"{change.text}: {', '.join(parts)}."


def _listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def in_short(ablation):
    """What the changes of the first table come to."""
    table = ablation.tables[0]
    found = [table.verdict(change) for change in table.changes]
    counts = [
        (found.count(kind), words)
        for kind, words in (
            (BETTER, "better in some kind of work and worse in none"),
            ("mixed", "better in some and worse in others"),
            (WORSE, "worse in some and better in none"),
            (SAME, "the same in all"),
            (OPEN, "not surely different"),
        )
    ]
    parts = [f"{count} {'is' if count == 1 else 'are'} {words}" for count, words in counts if count]
    kept = [change.text for change in table.changes if table.verdict(change) == BETTER and not change.gives_up]
    several = len(found) > 1
    text = f"Of {len(found)} change{'s' if several else ''} of {table.base.subject}, {_listed(parts)}."
    if kept:
        text += f" Better without giving anything up: {_listed(kept if len(kept) <= 5 else [*kept[:4], 'others'])}."
    return text


def comparisons(ablation):
    """How many comparisons hold together, and by what correction."""
    families, scenarios = ablation.of_families, ablation.of_scenarios
    return (
        f"All verdicts on families hold together at 95 %: each interval is widened for {families.comparisons:,}"
        f" comparisons"
        f" (Bonferroni, {_confidence(families)} each). Those on single benchmarks are widened for"
        f" {scenarios.comparisons:,}"
        f" ({_confidence(scenarios)} each); where a cell has too few blocks for that, it stays open."
    )


def _confidence(widening):
    return f"{100 * widening.confidence:.4g} %" if widening.comparisons < 100 else f"{100 * widening.confidence:.3f} %"


def legend(ablation):
    """What the marks mean."""
    given = [f"{mark} gives up {rows_words(rows)} of the contract" for rows, mark in daggers(ablation).items()]
    marks = [
        "● surely less or more time: the interval leaves out 1",
        f"= the same: the whole interval is within ±{100 * MARGIN:g} %",
        "no mark: open",
    ]
    return "; ".join(marks + given) + "."
