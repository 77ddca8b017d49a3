"""Ten lines that stand for a result: one for each kind of work, and the mean over all."""

from ..facts import widest
from ..ratio_words import marked

# (benchmark, parameters that pick one of its scenarios, metric, words)
_LINES = (
    ("overhead/external-add", {}, "ns_per_op", "time per operation"),
    ("overhead/local-add", {}, "ns_per_op", "time per operation"),
    ("overhead/external-add", {}, "allocations_per_op", "allocations per operation"),
    ("dependencies/chain", {"length": "1000"}, "ns_per_op", "time per operation"),
    ("dependencies/metg", {"pattern": "stencil_1d", "imbalance": "0"}, "metg50_ns", "METG(50 %) of stencil_1d"),
    ("priority/rank-error", {}, "rank_error_mean", "mean rank error"),
    ("cancellation/cancel-all-pending", {"held": "dependency"}, "ns_per_cancel", "time per cancelled operation"),
    ("latency/open-loop", {"load": "60"}, "latency_p50_ns", "median latency at 60 % load"),
    ("forkjoin/skynet", {"join": "fork", "leaves": "1000"}, "ns_per_op", "time per forked task"),
    ("forkjoin/skynet", {"join": "counter", "leaves": "1000"}, "ns_per_op", "time per task"),
)


def columns(results):
    """Returns the arms that the table shows: ours, the references and other languages, as many as were measured."""
    return [arm for arm in widest(results.arms) if arm.subject.is_shown_always]


def table(results):
    """Markdown; a line that nothing was measured on is left out."""
    arms = columns(results)
    rows = [["benchmark"] + [arm.subject.name for arm in arms], ["---"] + ["--:"] * len(arms)]
    for benchmark, wanted, metric, words in _LINES:
        line = line_of(results, benchmark, wanted, metric)
        if line is not None:
            rows.append([f"`{benchmark}`, {words}"] + [_cell(results, line, arm) for arm in arms])
    rows += _means(results, arms)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def line_of(results, benchmark, wanted, metric):
    """Returns the first line of a benchmark that has the wanted parameters, or None."""
    return next((line for line in results.select(benchmark, metric) if wanted.items() <= line.parameters.items()), None)


def _cell(results, line, arm):
    cell = line.cells.get(arm)
    if cell is None:
        return "failed" if _failed(results, line, arm) else "-"
    return f"{marked(cell.ratio)} ({cell.text})" if cell.ratio else cell.text


def _failed(results, line, arm):
    place = (arm.subject.name, arm.workers)
    return any(line in cell.lines and (cell.backend, cell.workers) == place for cell in results.failures)


def _means(results, arms):
    """Returns a row of means over the same benchmarks, and one for those that lack some of them, each beside one of
    ours."""
    means = next((means for means in results.means or [] if not means.family), None)
    if means is None:
        return []
    together, apart = {mean.arm: mean for mean in means.together}, {mean.arm: mean for mean in means.apart}
    row = [f"geometric mean of all times, {means.benchmarks} benchmarks"]
    row += ["1" if arm.subject.is_reference else marked(together[arm]) if arm in together else "-" for arm in arms]
    rows = [row]
    if any(arm in apart for arm in arms):
        row = [f"the same to `{means.ours.subject}`, over what both have"]
        row += [f"{marked(apart[arm])} of {apart[arm].benchmarks}" if arm in apart else "-" for arm in arms]
        rows.append(row)
    return rows
