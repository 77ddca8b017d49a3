"""What each decision of a strategy is worth, in words: a sentence for each change, by rule, and what the verdicts
mean."""

BETTER, WORSE, SAME, OPEN = "better", "worse", "same", "open"
# Of a change alone, by the mean of all benchmarks.
NO_BETTER = "no better"
# The whole of a table, in the place of a family.
WHOLE = None

MARKS = {BETTER: "●", WORSE: "●", SAME: "=", OPEN: ""}
# Beside the changes that give something up, by what it is.
_DAGGERS = "†‡§¶"


def meaning(ablation, verdict):
    """Returns what a verdict over all families means."""
    return {
        BETTER: "surely less time in one family at least, and surely more in none",
        WORSE: "surely more time in one family at least, and surely less in none",
        "mixed": "surely less time in one family at least, and surely more in another",
        SAME: f"within ±{100 * ablation.margin:g} % in every family, with the whole interval",
        NO_BETTER: f"no sure difference in any family, and over all benchmarks surely not less than {_least(ablation):.3f} of"
        " the time",
        OPEN: "no sure difference in any family",
    }[verdict]


def _least(ablation):
    """Returns the least ratio that makes no difference that matters."""
    return 1 / (1 + ablation.margin)


def title_of(ablation, table):
    """Returns the subject and its workers, where there are several tables."""
    workers = f"{table.base.workers} worker{'' if table.base.workers == 1 else 's'}"
    if table.is_extra:
        return f"{table.base.subject} with {workers}, more than the {ablation.cpus} CPUs"
    return f"{table.base.subject} with {workers}" if len(ablation.tables) > 1 else ""


def groups(table):
    """Returns [(decision, its changes)] in their order."""
    by_decision = {}
    for change in table.changes:
        by_decision.setdefault(change.decision, []).append(change)
    return list(by_decision.items())


def words_of(ablation, table, decision):
    """Returns what the results say of a decision of a table's subject, or None."""
    subject = table.base.subject.name
    return next((words for words in ablation.decisions if (words.subject, words.name) == (subject, decision)), None)


def by_family(change):
    """Returns a change's worth in each family that it was measured in, the whole among them."""
    return {worth.family: worth for worth in change.families}


def by_line(change):
    """Returns a change's worth in each scenario that it was measured in."""
    return {worth.line: worth for worth in change.scenarios}


def daggers(ablation):
    """Maps rows that are given up to the mark for them."""
    given = {tuple(change.gives_up) for table in ablation.tables for change in table.changes if change.gives_up}
    return {rows: _DAGGERS[min(place, len(_DAGGERS) - 1)] for place, rows in enumerate(sorted(given))}


def marked(ablation, change, text):
    """Returns a change's name with the mark of what it gives up."""
    mark = daggers(ablation).get(tuple(change.gives_up or ()))
    return f"{text} {mark}" if mark else text


def rows_words(rows):
    """Returns words such as "row 20" or "rows 20 and 21"; empty where there are none."""
    names = [str(row) for row in rows]
    text = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    return f"row{'s' if len(names) > 1 else ''} {text}" if rows else ""


def _verdicts(change):
    """Maps family to verdict, of those that the change was measured in."""
    return {worth.family: worth.verdict for worth in change.families if worth.family is not WHOLE}


def verdict_words(change):
    """Returns what a change is worth over all families, in a few words; the numbers are of families."""
    verdicts = list(_verdicts(change).values())
    better, worse, count = verdicts.count(BETTER), verdicts.count(WORSE), len(verdicts)
    if count == 1:
        return {SAME: "the same", OPEN: "no sure difference"}.get(change.verdict, change.verdict)
    match change.verdict:
        case "better":
            return f"better in {better} of {count}, worse in none"
        case "worse":
            return f"worse in {worse} of {count}, better in none"
        case "mixed":
            return f"better in {better} of {count}, worse in {worse}"
        case "same":
            return f"the same in all {count}"
        case "no better":
            return "no better on the whole"
    return "no sure difference"


def sentence(change):
    """Returns one for each change: where it is surely better or worse, where it is the same, and how many families are
    open."""
    verdicts, worths = _verdicts(change), by_family(change)
    sure = [name for name, verdict in verdicts.items() if verdict in (BETTER, WORSE)]
    # What takes less time first, and the largest difference.
    sure.sort(key=lambda name: worths[name].ratio)
    parts = [f"{worths[name].share.text} on {name} {worths[name].share.range or ''}".rstrip() for name in sure]
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
    """Returns what the changes of the first table come to."""
    table = ablation.tables[0]
    verdicts = [change.verdict for change in table.changes]
    counts = [
        (verdicts.count(kind), words)
        for kind, words in (
            (BETTER, "better in some kind of work and worse in none"),
            ("mixed", "better in some and worse in others"),
            (WORSE, "worse in some and better in none"),
            (SAME, "the same in all"),
            (NO_BETTER, f"no better on the whole (surely not less than {_least(ablation):.3f} of the time)"),
            (OPEN, "open"),
        )
    ]
    parts = [f"{count} {'is' if count == 1 else 'are'} {words}" for count, words in counts if count]
    kept = [change.text for change in table.changes if change.verdict == BETTER and not change.gives_up]
    several = len(verdicts) > 1
    text = f"Of {len(verdicts)} change{'s' if several else ''} of {table.base.subject}, {_listed(parts)}."
    if kept:
        text += f" Better without giving anything up: {_listed(kept if len(kept) <= 5 else [*kept[:4], 'others'])}."
    return text


def comparisons(ablation):
    """Returns how many comparisons hold together, and by what correction."""
    families, scenarios = ablation.families, ablation.scenarios
    return (
        f"All {families.comparisons_text} intervals of families hold together at 95 %. Each has {families.confidence_text}, so"
        " that the largest of all errors beside one default is within. Verdicts on single benchmarks are exploratory: of"
        f" those that are not open, at most 5 % are expected to be wrong (Benjamini and Hochberg, {scenarios.comparisons_text}"
        f" comparisons, {scenarios.confidence_text} each). Where a cell has too few blocks for that, it stays open."
    )


def legend(ablation):
    """Returns what the marks mean."""
    given = [f"{mark} gives up {rows_words(rows)} of the contract" for rows, mark in daggers(ablation).items()]
    marks = [
        "● surely less or more time: the interval leaves out 1",
        f"= the same: the whole interval is within ±{100 * ablation.margin:g} %",
        "no mark: open",
    ]
    return "; ".join(marks + given) + "."
