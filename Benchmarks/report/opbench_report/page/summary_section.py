"""Which subject for which work: a sentence each beside the first picture, and later how it is known and how sure."""

from ..data.metrics import ratio
from ..data.ratio_words import RatioWords
from ..findings import MEANING, findings, losses, only_one
from .html import details, tag, text


def in_short(found):
    """A sentence for each kind of work but the whole, which the page begins with."""
    items = "".join(tag("li", _sentence(one)) for one in found[1:])
    if not items:
        return ""
    heading = f"{found[0].among[:1].upper()}{found[0].among[1:]}" if found[0].is_choice else ""
    note = tag("p", text(heading + ", for each kind of work:"), class_="note") if heading else ""
    return tag("div", note + tag("ul", items, class_="short"), id="in-short")


def first_sentence(found):
    """What is to be said of everything, with whatever is faster than what one can choose."""
    if not found:
        return ""
    one = found[0]
    lead = tag("p", _sentence(one, f", {one.among}"), class_="lead")
    if not one.ahead:
        return lead
    items = "".join(tag("li", text(sentence + ".")) for sentence in one.ahead)
    return lead + tag("ul", items, class_="ahead")


def _sentence(one, among=""):
    choice = f"{among}: {one.choice}" if one.is_choice else ""
    return f"{tag('strong', text(f'{one.topic}{choice}.'))} {text(one.short)} {_badge(one)}"


def section(results, found):
    if not found:
        content = tag("p", "No subject to choose is among the results.")
    else:
        only = only_one(results)
        content = tag("p", text(only)) if only else ""
        content += tag("ul", "".join(_item(one) for one in found), class_="findings")
    content += _losses(results)
    return tag(
        "section",
        tag("h2", "Which subject for which work", id="summary-title") + content,
        id="summary",
        aria_labelledby="summary-title",
    )


def _badge(one):
    """How sure the choice is; nothing where there was none."""
    if not one.is_choice:
        return ""
    return tag("span", text(one.certainty), class_="badge " + one.certainty.split(" ")[0], title=MEANING[one.certainty])


def _item(one):
    choice = f": {tag('span', text(one.choice), class_='choice')} {_badge(one)}" if one.is_choice else ""
    why = f"Ratios of paired blocks: {one.evidence}"
    if one.is_choice:
        why += f" {one.certainty.capitalize()}: {MEANING[one.certainty]}."
    return tag(
        "li",
        tag("h3", text(one.topic) + choice) + tag("p", text(one.sentence)) + details("Evidence", tag("p", text(why))),
    )


def _losses(results):
    items = []
    for arm, against, slower, count in losses(results):
        worst = slower[0]
        name = f"{worst.benchmark} {worst.params}".strip()
        sentence = (
            f"{arm} is slower than {against} in {len(slower)} of {count} comparisons. Most in {name}:"
            f" {RatioWords(worst.ratio).sentence(arm.subject.name, against.subject)}."
        )
        rows = "".join(tag("li", text(f"{one.benchmark} {one.params}: {ratio(one.ratio)}")) for one in slower)
        items.append(tag("li", tag("p", text(sentence)) + details("All of them", tag("ul", rows))))
    if not items:
        return ""
    note = tag(
        "p",
        "Intervals here are widened for the number of comparisons, so that all hold together at 95 % where the blocks"
        " suffice.",
        class_="note",
    )
    return tag("h3", "Where a subject is surely slower than something beside it") + tag("ul", "".join(items)) + note
