"""What forks cost and gain, as two tables below the pictures of fork and join: what a fork costs one worker, and where
forking begins to pay."""

from ..charts.break_even import BENCHMARK
from ..charts.chart import title_of

_COSTS = (
    "The plain recursion takes this part of one worker's time: 1 where a fork costs nothing. Beyond it is the time that a task"
    " takes in addition. Further workers are as many as"
    " the subject has. The speed-up over the plain recursion is the product of both."
)
_STARTS = (
    "The smallest problem that pays is the one at which forks save a tenth, as the time of the plain recursion. The worst"
    " loss is the largest time over the plain recursion of all problems."
)


def section(results):
    """Returns the tables; None where no subject has either."""
    tables = [table for table in (_costs(results), _starts(results)) if table["rows"]]
    return tables or None


def _costs(results):
    return {
        "title": "What a fork costs and a worker gains",
        "note": _COSTS,
        "heads": ("benchmark", "subject", "serial / one worker", "one worker beyond serial", "one / all workers", "serial / all workers"),
        "rows": [
            (
                title_of(cost.line, ()),
                str(row.arm),
                row.serial_over_one.interval_text,
                row.over_serial.interval_text if row.over_serial else "",
                row.one_over_most.text,
                row.serial_over_most.interval_text,
            )
            for cost in results.fork_cost or []
            for row in cost.rows
        ],
    }


def _starts(results):
    whole = [line for line in results.select(BENCHMARK, "break_even_ns") if "bodies" not in line.parameters]
    losses = {line.params: line for line in results.select(BENCHMARK, "worst_loss")}
    params = dict.fromkeys([line.params for line in whole] + list(losses))
    starts = {line.params: line for line in whole}
    rows = []
    for own in params:
        start, loss = starts.get(own), losses.get(own)
        arms = sorted({arm for line in (start, loss) if line for arm in line.cells})
        rows += [(own, str(arm), _text(start, arm, "never"), _text(loss, arm, "none")) for arm in arms]
    return {
        "title": "Where forking begins to pay",
        "note": _STARTS,
        "heads": ("parameters", "subject", "smallest problem that pays", "worst loss"),
        "rows": rows,
    }


def _text(line, arm, otherwise):
    return line.cells[arm].interval_text if line and arm in line.cells else otherwise
