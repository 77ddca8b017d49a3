"""Every cell in a table that the page's script sorts and filters."""

_MEDIAN = "The median holds for this machine."

# (heading, is a number)
COLUMNS = (
    ("benchmark", False),
    ("parameters", False),
    ("metric", False),
    ("subject", False),
    ("ratio", True),
    ("median", True),
    ("n", True),
)
# In which order they stand, by their places above: on a phone the ratio is on the first screen.
_SHOWN = (0, 3, 4, 5, 1, 2, 6)


def rows(results):
    """Returns a record per cell: what each column is sorted by, and for ratio and median what is shown."""
    records = []
    for line in results.lines:
        for arm, cell in line.cells.items():
            ratio = cell.ratio
            records.append(
                [
                    line.benchmark,
                    line.params,
                    line.metric,
                    str(arm),
                    ratio.value if ratio else None,
                    cell.value,
                    cell.n,
                    ratio.marked if ratio else "",
                    cell.interval_text,
                    arm.subject.name,
                ]
            )
    return records


def section(results):
    choices = {
        "family": [line.family for line in results.lines],
        "metric": [line.metric for line in results.lines],
        "subject": [arm.subject.name for arm in results.arms],
    }
    return {
        "columns": [{"place": place, "name": COLUMNS[place][0], "is_number": COLUMNS[place][1]} for place in _SHOWN],
        "choices": {name: _choice(values) for name, values in choices.items()},
        "caption": f"{_ratios(results)} and medians over processes, with 95 % intervals",
        "note": _note(results),
    }


def _ratios(results):
    return f"Paired ratios to {results.reference}" if results.reference else "No ratios, since there is no reference,"


def _note(results):
    if results.reference is None:
        return f"There is no ratio, since no result names the subject to compare with. {_MEDIAN}"
    return (
        f"The ratio is to {results.reference} in the same blocks, with its 95 % interval; ~ marks an interval wider than"
        f" ±5 %, or ±15 % beyond a ratio of 3. {_MEDIAN}"
    )


def _choice(values):
    """Returns (value, text) of everything to choose, all first."""
    return [("", "all"), *((value, value) for value in sorted(set(values)))]
