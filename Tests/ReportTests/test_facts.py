"""The document of facts as the report reads it: which rows count, what is paired with what, and what is refused."""

import json

import pytest
import synthetic
from asking import facts_of, read

from opbench_report import facts
from opbench_report.complaint import Complaint

NOTHING = {"excluded_blocks": [], "failures": []}


def test_arms_and_lines_stand_in_their_places(results):
    line = results.line("overhead/external-add", "ops=10000", "ns_per_op")
    assert line.family == "overhead" and line.is_primary and list(line.cells) == sorted(line.cells)
    cell = next(cell for arm, cell in line.cells.items() if str(arm) == "stealing@2")
    assert str(cell.ratio.against) == "foundation@2" and cell.low < cell.value < cell.high
    assert {str(mean.arm) for mean in results.means[0].together} <= set(map(str, results.arms))
    assert all(own.line in results.lines for own in results.granularity)
    assert line.numbers["ops"] == 10000 and results.line("overhead/external-add", "ops=1", "ns_per_op") is None


def test_excluded_blocks_and_failures_do_not_count(results):
    line = results.line("overhead/external-add", "ops=10000", "ns_per_op")
    assert {cell.n for cell in line.cells.values()} == {9}
    levels = results.select("priority/wait-by-level", "wait_p50_ns")
    assert {cell.n for line in levels for cell in line.cells.values()} == {9}
    late = results.line("cancellation/late-starts", "links=none;ops=256;work_ns=1000", "late_starts")
    assert {arm.subject.name for arm in late.cells} == {"stealing", "threadpool"}


def test_tails_of_crowded_blocks_do_not_count(tmp_path):
    crowded = [{"benchmark": "priority/wait-by-level", "block": block, "params": "ops=2000;work_ns=2000"} for block in (2, 5)]
    outcome = {**NOTHING, "crowded_blocks": crowded}
    results = read(synthetic.write(tmp_path / "crowded.csv", outcome=outcome))
    for metric, blocks in (("wait_p50_ns", 10), ("wait_p99_ns", 8)):
        levels = results.select("priority/wait-by-level", metric)
        assert {cell.n for line in levels for cell in line.cells.values()} == {blocks}, metric


def test_several_files_pair_within_their_run(tmp_path):
    paths = [
        synthetic.write(tmp_path / f"{seed}.csv", blocks=6, seed=seed, run=f"run-{seed}", outcome=NOTHING) for seed in (1, 2)
    ]
    cells = [
        next(cell for arm, cell in line.cells.items() if arm.subject.name == "stealing")
        for results in (read(*paths), read(paths[0]))
        for line in [results.line("forkjoin/fib", "join=counter;n=15", "ns_per_op")]
    ]
    assert [(cell.n, cell.ratio.n) for cell in cells] == [(12, 12), (6, 6)]


def test_few_blocks_have_no_interval(tmp_path):
    results = read(synthetic.write(tmp_path / "few.csv", blocks=4, outcome=NOTHING))
    ratios = [cell.ratio for line in results.lines for cell in line.cells.values() if cell.ratio]
    assert len(ratios) > 20 and {(ratio.low, ratio.verdict) for ratio in ratios} == {(None, "open")}
    assert all(mean.low is None for mean in results.means[0].together)


def test_more_blocks_than_a_power_of_two_can_count(tmp_path):
    """2 to the power of 1,024 blocks is beyond every floating-point number."""

    def fill(writer):
        times = [("ns_per_op", "ns", lambda d, w: 100 * d)]
        writer.cell("forkjoin/fib", "n=15", [("stealing", 2), ("foundation", 2)], times)

    path = synthetic.write(tmp_path / "long.csv", blocks=1_100, values=1, filling=fill, outcome=NOTHING)
    (line,) = read(path).lines
    ratio = next(cell.ratio for cell in line.cells.values() if cell.ratio)
    assert ratio.n == 1_100 and ratio.low < 1 / 12 < ratio.high and ratio.verdict == "less"


@pytest.mark.parametrize("content", [b"", b"no json", b"[]", b"[" * 100_000, b'{"schema": 1}', b"\xff"])
def test_what_is_no_document_is_refused(tmp_path, content):
    path = tmp_path / "facts.json"
    path.write_bytes(content)
    with pytest.raises(Complaint, match="facts.json: (not the facts|facts of schema 1, not 3)") as refused:
        facts.read(path)
    assert refused.value.code == 65


def test_the_document_is_json_of_schema_3(csv, tmp_path):
    import subprocess

    from asking import opbench

    path = tmp_path / "facts.json"
    assert subprocess.run([opbench(), "report", csv, "--facts", path]).returncode == 0
    document = json.loads(path.read_text())
    assert document["schema"] == facts.SCHEMA and facts_of(csv).measured.reference == document["measured"]["reference"]
