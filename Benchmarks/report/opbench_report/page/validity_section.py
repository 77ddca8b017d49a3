"""Whether it is to be believed: the laboratory's own test, what was left out, which ratios are rough, what failed."""


def section(results, missing, validation):
    return {
        "laboratory": validation,
        "sources": [_source(source, len(results.sources) > 1) for source in results.sources if source.record is not None],
        "kinds": _kinds(results),
        "rough": _rough(results),
        "mixture": _mixture(results),
        "failures": [
            (cell.benchmark, cell.params, f"{cell.backend}@{cell.workers}", cell.reason) for cell in results.failures
        ],
        "all_known": all(source.record for source in results.sources),
        "missing": missing,
    }


def _source(source, is_named):
    prefix, lines = f"{source.name}: " if is_named else "", []
    excluded = source.excluded or []
    of_all = f" of {source.blocks}" if source.blocks else ""
    if source.disturbed and source.disturbed.count:
        share = f" ({source.disturbed.share_text})" if source.disturbed.share_text else ""
        fate = (
            f"{len(excluded)} are left out, all subjects alike" if excluded else "all are kept, since no other is left"
        )
        lines.append(
            f"{source.disturbed.count}{of_all} blocks{share} lost over 1 % of CPU time to other guests of the host; {fate}."
        )
        if source.is_unstable:
            lines.append(
                "That is more than a quarter: the run is unstable, and only large differences in it are to be believed."
            )
    else:
        lines.append("No block lost over 1 % of CPU time to other guests of the host.")
    if source.crowded:
        lines.append(
            f"In {source.crowded}{of_all} blocks the measured processes waited for their CPUs far longer than in quiet ones:"
            " percentiles above the median, and maxima, are without these blocks."
        )
    if source.steal_share_text:
        lines.append(f"Over the whole run they took {source.steal_share_text} of the CPU time.")
    if source.swapped_pages:
        lines.append(f"The machine swapped {source.swapped_pages} pages during the run.")
    if source.was_interrupted:
        lines.append("The run was interrupted: later blocks are missing.")
    if source.record.optimisation not in (None, "release"):
        lines.append("This was a debug build: its numbers mean nothing.")
    rows = [(block.benchmark, block.params, block.block) for block in excluded]
    return {"words": prefix + " ".join(lines), "excluded": rows, "prefix": prefix}


def _kinds(results):
    """Returns whether kinds of machines agree. Where they do not, the number for all is that of this mixture of
    machines."""
    if not results.machines or len(results.machines.kinds) < 2:
        return None
    pairs, comparisons = results.disagreements.pairs, results.disagreements.comparisons
    if not comparisons:
        words = "No ratio has six blocks on each of two kinds of machines, so whether the kinds agree is open."
    elif not pairs:
        words = f"The kinds of machines agree: in all {comparisons} comparisons their intervals overlap."
    else:
        words = (
            f"Kinds of machines disagree by more than their intervals in {len(pairs)} of {comparisons} comparisons: there"
            " the ratio over all machines is that of this mixture of machines."
        )
    rows = [
        (pair.line.benchmark, pair.line.params, pair.arm, pair.kinds[0], pair.ratios[0].text, pair.kinds[1], pair.ratios[1].text)
        for pair in pairs
    ]
    return {"words": words, "rows": rows}


def _rough(results):
    """Returns which ratios are not to be leaned on: their differences of a few per cent are those of the machine."""
    if not results.rough.ratios:
        return None
    words = (
        f"{results.rough.rough} of {results.rough.ratios} ratios of times have an interval wider than ±5 %, or ±15 % beyond a"
        " ratio of 3 (~)."
    )
    if results.rough.without:
        words += f" {results.rough.without} have no interval, which needs six blocks."
    rough = [
        (line, arm, cell.ratio)
        for line in results.primary_lines()
        for arm, cell in line.cells.items()
        if cell.ratio and cell.ratio.is_rough
    ]
    rough.sort(key=lambda row: -row[2].half_width)
    rows = [(line.benchmark, line.params, arm, ratio.text, ratio.half_width_text) for line, arm, ratio in rough]
    return {"words": words, "rows": rows}


def _mixture(results):
    """Several runs together are less than one run of everything."""
    if not results.is_mixture:
        return ""
    sentence = (
        "These results are of more than one run. Ratios pair blocks of the same run only; numbers of different runs"
        " stand beside one another unpaired."
    )
    return sentence + (" The runs are of different commits." if results.commits_differ else "")
