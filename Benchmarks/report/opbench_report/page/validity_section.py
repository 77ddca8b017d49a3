"""Whether it is to be believed: the laboratory's own test, what was left out, which ratios are rough, what failed."""

from ..data.environment import blocks_run
from ..data.machines import disagreements, machines
from ..data.metrics import percent, ratio
from ..data.statistics import half_width, is_rough
from .html import details, table, tag, text


def section(results, missing, validation):
    parts = [tag("h2", "Validity", id="validity-title"), _laboratory(validation)]
    for source in results.sources:
        parts.append(_source(source, len(results.sources) > 1))
    parts += [_kinds(results), _rough(results), _mixture(results), _failures(results), _missing(missing)]
    return tag("section", "".join(parts), id="validity", aria_labelledby="validity-title")


def _laboratory(validation):
    if validation is None:
        return tag(
            "p",
            "No report of <code>opbench validate</code> was given or found beside the results, so this page cannot say"
            " whether the laboratory tells equals apart on this machine; <code>opbench validate --output DIR</code>"
            " takes four minutes.",
        )
    return tag("p", text(validation.sentence)) + details(
        f"The whole report ({validation.name})", tag("pre", text(validation.text), tabindex="0")
    )


def _source(source, is_named):
    if source.record is None:
        return ""
    outcome, prefix = source.outcome, f"{source.name}: " if is_named else ""
    lines = []
    disturbed, excluded = outcome.get("disturbed_blocks", []), outcome.get("excluded_blocks", [])
    total = blocks_run(source.record)
    of_all = f" of {total}" if total else ""
    share = f" ({percent(len(disturbed) / total)})" if total else ""
    if disturbed:
        fate = (
            f"{len(excluded)} are left out, all subjects alike" if excluded else "all are kept, since no other is left"
        )
        lines.append(
            f"{len(disturbed)}{of_all} blocks{share} lost over 1 % of CPU time to other guests of the host; {fate}."
        )
        if total and len(disturbed) / total > 0.25:
            lines.append(
                "That is more than a quarter: the run is unstable, and only large differences in it are to be believed."
            )
    else:
        lines.append("No block lost over 1 % of CPU time to other guests of the host.")
    crowded = outcome.get("crowded_blocks") or []
    if crowded:
        lines.append(
            f"In {len(crowded)}{of_all} blocks the measured processes waited for their CPUs far longer than in quiet ones:"
            " percentiles above the median, and maxima, are without these blocks."
        )
    steal = outcome.get("steal_share")
    if isinstance(steal, (int, float)):
        lines.append(f"Over the whole run they took {percent(steal)} of the CPU time.")
    if outcome.get("swapped_pages"):
        lines.append(f"The machine swapped {outcome['swapped_pages']} pages during the run.")
    if outcome.get("was_interrupted"):
        lines.append("The run was interrupted: later blocks are missing.")
    if source.record.get("optimisation") not in (None, "release"):
        lines.append("This was a debug build: its numbers mean nothing.")
    content = tag("p", text(prefix + " ".join(lines)))
    if excluded:
        rows = [(block["benchmark"], block["params"], block["block"]) for block in excluded]
        content += details(
            f"The {len(excluded)} blocks left out",
            table(("benchmark", "parameters", "block"), rows, f"{prefix}blocks left out"),
        )
    return content


def _kinds(results):
    """Whether kinds of machines agree. Where they do not, the number for all is that of this mixture of machines."""
    found = machines(results)
    if len(found.kinds) < 2:
        return ""
    differing, comparisons = disagreements(results, found)
    if not comparisons:
        return tag("p", "No ratio has six blocks on each of two kinds of machines, so whether the kinds agree is open.")
    if not differing:
        return tag("p", f"The kinds of machines agree: in all {comparisons} comparisons their intervals overlap.")
    words = (
        f"Kinds of machines disagree by more than their intervals in {len(differing)} of {comparisons} comparisons: there the"
        " ratio over all machines is that of this mixture of machines."
    )
    head = ("benchmark", "parameters", "subject", "kind", "ratio", "other kind", "its ratio")
    rows = [
        (one.line.benchmark, one.line.params, one.arm, one.kinds[0], ratio(one.ratios[0]), one.kinds[1], ratio(one.ratios[1]))
        for one in differing
    ]
    return tag("p", text(words), class_="warning", id="kinds-disagree") + details(
        f"The {len(differing)} comparisons, the farthest apart first", table(head, rows, "Kinds of machines that disagree")
    )


def _rough(results):
    """Which ratios are not to be leaned on: their differences of a few per cent are those of the machine."""
    cells = [
        (line, arm, cell.ratio) for line in results.primary_lines() for arm, cell in line.cells.items() if cell.ratio
    ]
    if not cells:
        return ""
    without = [one for one in cells if not one[2].has_interval]
    rough = [one for one in cells if is_rough(one[2])]
    sentence = f"{len(rough)} of {len(cells)} ratios of times have an interval wider than ±5 %, or ±15 % beyond a ratio of 3 (~)."
    if without:
        sentence += f" {len(without)} have no interval, which needs six blocks."
    content = tag("p", text(sentence))
    if rough:
        rows = [
            (line.benchmark, line.params, arm, ratio(own), percent(half_width(own)))
            for line, arm, own in sorted(rough, key=lambda one: -half_width(one[2]))
        ]
        head = ("benchmark", "parameters", "subject", "ratio", "half-width")
        content += details(f"The {len(rough)} rough ratios, the roughest first", table(head, rows, "Rough ratios"))
    return content


def _mixture(results):
    """Several runs together are less than one run of everything."""
    # The runs of a merged result are shards of one plan.
    if len({(source.record or {}).get("run_id", source.path) for source in results.sources}) < 2:
        return ""
    sentence = (
        "These results are of more than one run. Ratios pair blocks of the same run only; numbers of different runs"
        " stand beside one another unpaired."
    )
    commits = {str((source.record or {}).get("commit")) for source in results.sources}
    if len(commits) > 1:
        sentence += " The runs are of different commits."
    return tag("p", text(sentence))


def _failures(results):
    failures = results.failures
    if not failures:
        return tag("p", "No cell failed.") if all(source.record for source in results.sources) else ""
    rows = [
        (cell["benchmark"], cell["params"], f"{cell['backend']}@{cell['workers']}", cell["reason"])
        for _, cell in failures
    ]
    count = f"{len(failures)} {'cell has' if len(failures) == 1 else 'cells have'} no number:"
    return tag("p", count) + table(("benchmark", "parameters", "subject", "reason"), rows, "Cells that failed")


def failures_again(results):
    """The legend of what has no number, and each reason, where nobody has to look for it."""
    legend = "A subject that has no mark or row cannot do that work, was not measured, or failed."
    if not results.failures:
        return tag("p", legend, class_="note")
    items = [
        f"{cell['benchmark']} ({cell['params']}) on {cell['backend']}@{cell['workers']} failed: {cell['reason']}"
        for _, cell in results.failures
    ]
    reasons = "".join(tag("li", text(one)) for one in items)
    return tag("p", legend, class_="note") + tag("ul", reasons, class_="note", id="failed")


def _missing(missing):
    if not missing:
        return ""
    items = "".join(
        tag("li", f"{text(one.name)}: {text(one.lacks)}. {tag('code', text(one.command))}") for one in missing
    )
    return details(f"{len(missing)} figures without data, and what would give it", tag("ul", items))
