"""Which backend for which work, with the evidence and how sure it is."""

from ..data.metrics import ratio
from ..findings import MEANING, findings, losses, only_one
from .html import details, tag, text


def section(results):
    found = findings(results)
    if not found:
        content = tag("p", "No backend of this library is among the results, so there is nothing to choose between.")
    else:
        only = only_one(results)
        content = tag("p", text(only)) if only else ""
        content += tag("ul", "".join(_item(one) for one in found), class_="findings")
    content += _losses(results)
    return tag(
        "section",
        tag("h2", "Which backend for which work", id="summary-title") + content,
        id="summary",
        aria_labelledby="summary-title",
    )


def _item(one):
    badge = tag(
        "span", text(one.certainty), class_="badge " + one.certainty.split(" ")[0], title=MEANING[one.certainty]
    )
    head = tag("h3", f"{text(one.topic)}: {tag('span', text(one.choice), class_='choice')} {badge}")
    why = tag(
        "p", text(f"Ratios of paired blocks: {one.evidence} {one.certainty.capitalize()}: {MEANING[one.certainty]}.")
    )
    return tag("li", head + tag("p", text(one.sentence)) + details("Evidence", why))


def _losses(results):
    items = []
    for arm, against, slower, count in losses(results):
        worst = slower[0]
        name = f"{worst.benchmark} {worst.params}".strip()
        sentence = (
            f"{arm} is slower than {against} in {len(slower)} of {count} comparisons, most in {name}:"
            f" {ratio(worst.ratio)}."
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
    return tag("h3", "Where a backend is surely slower than something beside it") + tag("ul", "".join(items)) + note
