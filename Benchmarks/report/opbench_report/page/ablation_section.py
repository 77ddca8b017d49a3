"""What each decision is worth, below its picture: every change with its ratios and its verdict, and a sentence for
each."""

from .. import decisions
from ..charts.ablation import title_of
from ..data.ablation import OPEN, WHOLE, ablation
from ..data.metrics import significant
from .html import details, tag, text

_CLASSES = {"better": "sure", "worse": "a"}


def lead(results):
    """What the changes come to, where the page is about nothing else."""
    found = ablation(results)
    return tag("p", text(decisions.in_short(found)), class_="lead") if found else ""


def section(results):
    """HTML for below the picture; empty where no change was measured."""
    found = ablation(results)
    if found is None:
        return ""
    note = tag("p", text(decisions.comparisons(found)), class_="note", id="comparisons")
    return tag("p", text(decisions.in_short(found))) + note + "".join(_table(found, table) for table in found.tables)


def left_out(results):
    """That the pictures of all subjects are without the changes, where they are."""
    count = len(results.variants) - len(results.general.variants)
    if not count:
        return ""
    link = tag("a", "What each decision is worth", href="#ablation")
    said = f"{count} changes of strategies are left out of the pictures of all subjects: {link} has them."
    return tag("p", said, class_="note")


def _table(found, table):
    title = title_of(found, table)
    heads = [
        "change and what it does",
        "verdict",
        "gives up",
        *("all" if name is WHOLE else name for name in table.columns),
    ]
    head = tag("thead", tag("tr", "".join(tag("th", text(one), scope="col") for one in heads)))
    bodies = "".join(_group(found, table, decision, changes, len(heads)) for decision, changes in table.decisions)
    label = ", ".join(filter(None, ["The time of each change over that of the default", title]))
    caption = tag(
        "caption", text(f"{label}. In brackets are widened intervals. A bold ratio is sure. A verdict counts families.")
    )
    grid = tag(
        "div",
        tag("table", caption + head + bodies, class_="worth"),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=label,
    )
    sentences = tag("ul", "".join(tag("li", text(decisions.sentence(table, change))) for change in table.changes))
    heading = tag("h4", text(title)) if title else ""
    name = f", {title}" if title else ""
    return heading + grid + details(f"In a sentence each{name}", sentences, open_=not table.is_extra)


def _group(found, table, decision, changes, columns):
    """The changes of one decision below what it is about."""
    words = found.words.get((table.base.subject.name, decision))
    if words:
        usual = words.of(words.usual)
        about = f"{decision}: {words.summary}. By default {words.usual}" + (f": {usual}." if usual else ".")
    else:
        about = f"{decision}:" if decision else "several decisions at once:"
    first = tag("tr", tag("th", text(about), colspan=columns, scope="rowgroup", class_="about"))
    return tag("tbody", first + "".join(_row(found, table, change) for change in changes))


def _row(found, table, change):
    mark, meaning = decisions.daggers(found).get(change.gives_up, ""), found.meaning(table, change)
    name = text(change.text) + (f" {mark}" if mark else "") + (f"<br>{tag('small', text(meaning))}" if meaning else "")
    verdict = table.verdict(change)
    words = text(decisions.verdict_words(table, change))
    badge = tag("span", words, class_=f"badge {_CLASSES.get(verdict, '')}".strip(), title=decisions.MEANING[verdict])
    cells = [badge, text(decisions.rows_words(change.gives_up)), *(_cell(table, change, one) for one in table.columns)]
    return tag("tr", tag("th", name, scope="row") + "".join(tag("td", one) for one in cells))


def _cell(table, change, name):
    """The ratio, and its interval below it."""
    worth = table.families.get((change, name))
    if worth is None:
        return "–"
    number = text(f"x{significant(worth.ratio)}")
    if worth.verdict != OPEN:
        number = tag("strong", f"{number} {decisions.MARKS[worth.verdict]}")
    most = max(one.benchmarks for (_, other), one in table.families.items() if other == name)
    of = f" of {worth.benchmarks}" if worth.benchmarks < most else ""
    ends = f"[{significant(worth.low)}, {significant(worth.high)}]" if worth.low is not None else "too few blocks"
    return number + "<br>" + tag("small", text(ends + of))
