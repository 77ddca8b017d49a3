"""Whether it is to be believed: the laboratory's own test, what was left out, which ratios are rough, what failed."""

from ..data.environment import blocks_run
from ..data.machines import disagreements, machines
from ..data.metrics import percent, ratio
from ..data.statistics import half_width, is_rough

def section(results, missing, validation):
    return {
        "laboratory": validation,
        "sources": [_source(source, len(results.sources) > 1) for source in results.sources if source.record is not None],
        "kinds": _kinds(results),
        "rough": _rough(results),
        "mixture": _mixture(results),
        "failures": [
            (cell["benchmark"], cell["params"], f"{cell['backend']}@{cell['workers']}", cell["reason"])
            for _, cell in results.failures
        ],
        "all_known": all(source.record for source in results.sources),
        "missing": missing,
    }


def _source(source, is_named):
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
    rows = [(block["benchmark"], block["params"], block["block"]) for block in excluded]
    return {"words": prefix + " ".join(lines), "excluded": rows, "prefix": prefix}


def _kinds(results):
    """Whether kinds of machines agree. Where they do not, the number for all is that of this mixture of machines."""
    found = machines(results)
    if len(found.kinds) < 2:
        return None
    differing, comparisons = disagreements(results, found)
    if not comparisons:
        words = "No ratio has six blocks on each of two kinds of machines, so whether the kinds agree is open."
    elif not differing:
        words = f"The kinds of machines agree: in all {comparisons} comparisons their intervals overlap."
    else:
        words = (
            f"Kinds of machines disagree by more than their intervals in {len(differing)} of {comparisons} comparisons: there"
            " the ratio over all machines is that of this mixture of machines."
        )
    rows = [
        (pair.line.benchmark, pair.line.params, pair.arm, pair.kinds[0], ratio(pair.ratios[0]), pair.kinds[1], ratio(pair.ratios[1]))
        for pair in differing
    ]
    return {"words": words, "rows": rows}


def _rough(results):
    """Which ratios are not to be leaned on: their differences of a few per cent are those of the machine."""
    cells = [
        (line, arm, cell.ratio) for line in results.primary_lines() for arm, cell in line.cells.items() if cell.ratio
    ]
    if not cells:
        return None
    without = [one for one in cells if not one[2].has_interval]
    rough = [one for one in cells if is_rough(one[2])]
    words = f"{len(rough)} of {len(cells)} ratios of times have an interval wider than ±5 %, or ±15 % beyond a ratio of 3 (~)."
    if without:
        words += f" {len(without)} have no interval, which needs six blocks."
    rows = [
        (line.benchmark, line.params, arm, ratio(own), percent(half_width(own)))
        for line, arm, own in sorted(rough, key=lambda one: -half_width(one[2]))
    ]
    return {"words": words, "rows": rows}


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
    return sentence + (" The runs are of different commits." if len(commits) > 1 else "")
