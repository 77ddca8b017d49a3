"""Every number equals that of `opbench compare`, in both of its formats."""

import csv as csv_module
import io
import json
import subprocess

import pytest
import synthetic

from opbench_report.data import results as result_files
from opbench_report.data import source
from opbench_report.data.comparison import compare

EXACT = {"rel": 1e-12}


def run(opbench, *arguments):
    return subprocess.run(
        [opbench, "compare", *arguments], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def by_key(comparison):
    return {(one.benchmark, one.params, one.metric, str(one.arm)): one for one in comparison.lines}


def optional(value):
    return pytest.approx(value, **EXACT) if value not in (None, "") else None


@pytest.mark.parametrize("reference", ["foundation", "stealing", "raw-dispatch"])
def test_json(opbench, csv, results, reference):
    document = json.loads(run(opbench, "--format", "json", "--reference", reference, csv))
    ours = compare(results, reference)
    mine = by_key(ours)
    assert document["comparisons"] == max(1, ours.widening.comparisons)
    assert document["confidence"] == pytest.approx(ours.widening.confidence)
    assert len(document["lines"]) == len(mine) > 20
    for line in document["lines"]:
        one = mine[line["benchmark"], line["params"], line["metric"], f"{line['backend']}@{line['workers']}"]
        assert (str(one.against), one.ratio.count, one.verdict) == (line["against"], line["n"], line["verdict"])
        assert (one.a, one.b, one.ratio.median) == pytest.approx((line["a"], line["b"], line["ratio"]), **EXACT)
        assert (one.ratio.low, one.ratio.high) == (optional(line.get("lower")), optional(line.get("upper")))
    means = {str(arm): (str(against), mean) for arm, against, mean in ours.means}
    assert len(document["geometric_means"]) == len(means) > 2
    for line in document["geometric_means"]:
        against, mean = means[f"{line['backend']}@{line['workers']}"]
        assert (against, mean.benchmarks, mean.blocks) == (line["against"], line["benchmarks"], line["blocks"])
        # The interval too: the bootstrap draws the same blocks.
        assert (mean.ratio, mean.low, mean.high) == pytest.approx(
            (line["ratio"], line["lower"], line["upper"]), **EXACT
        )


def test_a_second_file_is_compared_with_the_first(opbench, tmp_path):
    """What takes twice as long afterwards is x2 and slower, and both formats say which file is which."""
    nothing = {"excluded_blocks": [], "failures": []}

    def filling(nanoseconds):
        def fill(writer):
            writer.process += 1
            for block in range(1, 11):
                writer.add("overhead/external-add", "ops=9", ("stealing", 2), ("ns_per_op", "ns", nanoseconds), block, 1)

        return fill

    before, after = (
        str(synthetic.write(tmp_path / name, filling=filling(nanoseconds), run=name, outcome=nothing))
        for name, nanoseconds in (("before.csv", 100.0), ("after.csv", 200.0))
    )
    document = json.loads(run(opbench, "--format", "json", before, after))
    assert (document["a"], document["b"]) == (after, before)
    (line,) = document["lines"]
    assert (line["a"], line["b"], line["verdict"]) == (200, 100, "slower")
    assert line["ratio"] == pytest.approx(2, **EXACT) and line["against"] == before
    (record, mean) = csv_module.DictReader(io.StringIO(run(opbench, "--format", "csv", before, after)))
    assert (record["result"], record["against"], record["verdict"]) == (after, before, "slower")
    assert float(mean["ratio"]) == pytest.approx(2, **EXACT)


def test_csv_with_other_metrics(opbench, csv, results):
    text = run(opbench, "--format", "csv", "--metric", "latency_.*|cpu_ns_per_op|rank_error_.*|wait_.*", csv)
    lines = results.select()
    wanted = [
        line
        for line in lines
        if line.metric.startswith(("latency_", "rank_error_", "wait_")) or line.metric == "cpu_ns_per_op"
    ]
    mine = by_key(compare(results, "foundation", wanted))
    records = [one for one in csv_module.DictReader(io.StringIO(text)) if one["family"] != "all"]
    assert len(records) == len(mine) > 20
    for line in records:
        one = mine[
            f"{line['family']}/{line['benchmark']}",
            line["params"],
            line["metric"],
            f"{line['backend']}@{line['workers']}",
        ]
        assert one.ratio.count == int(line["n"]) and one.verdict == line["verdict"]
        assert (one.a, one.b, one.ratio.median) == pytest.approx(
            (float(line["a"]), float(line["b"]), float(line["ratio"])), **EXACT
        )
        assert (one.ratio.low, one.ratio.high) == tuple(
            optional(float(line[end]) if line[end] else None) for end in ("lower", "upper")
        )


def test_few_blocks_have_no_interval(opbench, tmp_path):
    path = str(synthetic.write(tmp_path / "few.csv", blocks=4, outcome={"excluded_blocks": [], "failures": []}))
    document = json.loads(run(opbench, "--format", "json", path))
    ours = compare(result_files.read([path]), "foundation")
    assert all("lower" not in line and line["verdict"] == "too few blocks" for line in document["lines"])
    assert all(one.ratio.low is None and one.verdict == "too few blocks" for one in ours.lines)
    assert [mean.low for _, _, mean in ours.means] == [None] * len(document["geometric_means"])


def test_one_zero_takes_the_ratio(opbench, tmp_path):
    """Of seven, with nothing in one block, there is no ratio; of the other there is."""

    def fill(writer):
        for name, numbers in (("stealing", [7.0] * 9 + [0.0]), ("threadpool", [3.0] * 10), ("foundation", [9.0] * 10)):
            writer.process += 1
            for block, number in enumerate(numbers, start=1):
                reading = ("rank_error_mean", "operations", number)
                writer.add("priority/rank-error", "ops=9", (name, 2), reading, block, 1)

    path = str(synthetic.write(tmp_path / "zero.csv", filling=fill, outcome={"excluded_blocks": [], "failures": []}))
    document = json.loads(run(opbench, "--format", "json", "--metric", "rank_error_mean", path))
    results = result_files.read([path])
    ours = compare(results, "foundation", results.select(metric="rank_error_mean"))
    assert [str(one.arm) for one in ours.lines] == ["threadpool@2"]
    assert [f"{line['backend']}@{line['workers']}" for line in document["lines"]] == ["threadpool@2"]
    assert document["comparisons"] == ours.widening.comparisons == 1


def test_excluded_blocks_and_failures_do_not_count(results):
    line = results.line("overhead/external-add", "ops=10000", "ns_per_op")
    assert {cell.estimate.count for cell in line.cells.values()} == {9}
    levels = results.select("priority/wait-by-level", "wait_p50_ns")
    assert {cell.estimate.count for line in levels for cell in line.cells.values()} == {9}
    late = results.line("cancellation/late-starts", "links=none;ops=256;work_ns=1000", "late_starts")
    assert {arm.subject.name for arm in late.cells} == {"stealing", "threadpool"}


def test_tails_of_crowded_blocks_do_not_count(tmp_path):
    crowded = [{"benchmark": "priority/wait-by-level", "block": block, "params": "ops=2000;work_ns=2000"} for block in (2, 5)]
    outcome = {"excluded_blocks": [], "crowded_blocks": crowded, "failures": []}
    results = result_files.read([str(synthetic.write(tmp_path / "crowded.csv", outcome=outcome))])
    for metric, blocks in (("wait_p50_ns", 10), ("wait_p99_ns", 8)):
        levels = results.select("priority/wait-by-level", metric)
        assert {cell.estimate.count for line in levels for cell in line.cells.values()} == {blocks}, metric


def test_a_failure_is_of_its_own_scenario():
    """One scenario may have all parameters of another."""
    cells = [f"f/b on a@2{parameters}" for parameters in ("", " (n=1)", " (k=x;n=1)")]
    for failed, others in (("", ("n=1", "k=x;n=1")), ("n=1", ("", "k=x;n=1")), ("k=x;n=1", ("", "n=1"))):
        failure = {"benchmark": "f/b", "params": failed, "backend": "a", "workers": 2, "reason": "crashed"}
        is_left_out = source._left_out({"cells": cells, "outcome": {"failures": [failure]}})
        assert is_left_out("f/b", failed, 1, "a", 2, False)
        assert not any(is_left_out("f/b", params, 1, "a", 2, False) for params in others)


def test_several_files_pair_within_their_run(tmp_path):
    nothing = {"excluded_blocks": [], "failures": []}
    paths = [
        str(synthetic.write(tmp_path / f"{seed}.csv", blocks=6, seed=seed, run=f"run-{seed}", outcome=nothing))
        for seed in (1, 2)
    ]
    both, one = result_files.read(paths), result_files.read(paths[:1])
    cell = lambda results: next(
        cell
        for arm, cell in results.line("forkjoin/fib", "join=counter;n=15", "ns_per_op").cells.items()
        if arm.subject.name == "stealing"
    )
    assert cell(both).estimate.count == 12 and cell(one).estimate.count == 6
    assert cell(both).ratio.count == 12
    assert {run for run, _, _ in cell(both).processes} == {"run-1", "run-2"}


def test_more_blocks_than_a_power_of_two_can_count(tmp_path):
    """2 to the power of 1,024 blocks is beyond every floating-point number."""

    def fill(writer):
        writer.cell(
            "forkjoin/fib", "n=15", [("stealing", 2), ("foundation", 2)], [("ns_per_op", "ns", lambda d, w: 100 * d)]
        )

    nothing = {"excluded_blocks": [], "failures": []}
    path = synthetic.write(tmp_path / "long.csv", blocks=1_100, values=1, filling=fill, outcome=nothing)
    (one,) = compare(result_files.read([str(path)]), "foundation").lines
    assert one.ratio.count == 1_100 and one.ratio.low < 1 / 12 < one.ratio.high and one.verdict == "faster"
