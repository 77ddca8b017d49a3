"""The sentences follow from the numbers by rules, whichever way the numbers go."""

import re

import pytest
import synthetic
from asking import read

from opbench_report import findings

NOTHING = {"excluded_blocks": [], "failures": []}


def found(tmp_path, filling, blocks=10):
    path = synthetic.write(tmp_path / "some.csv", blocks=blocks, filling=filling, outcome=NOTHING)
    results = read(path)
    return {one.topic: one for one in findings.findings(results)}, results


def fib(**dearness):
    def fill(writer):
        for name, factor in dearness.items():
            arms = [(name.replace("_", "-"), 2)]
            writer.cell("forkjoin/fib", "n=15", arms, [("ns_per_op", "ns", lambda d, w, factor=factor: 100 * factor)])

    return fill


@pytest.mark.parametrize("ahead, behind", [("stealing", "threadpool"), ("threadpool", "stealing")])
def test_the_best_is_named_with_its_ratio(tmp_path, ahead, behind):
    one = found(tmp_path, fib(**{ahead: 1, behind: 2, "foundation": 10}))[0]["Fork and join"]
    assert (one.choice, one.certainty) == (ahead, "sure")
    assert one.sentence.startswith(f"{ahead.capitalize()} has the least time of the two backends you can choose: ")
    times = re.search(rf"{ahead} is ([0-9.]+) times as fast as {behind} \[", one.sentence)
    assert float(times.group(1)) == pytest.approx(2, rel=0.1) and "times as fast as foundation [" in one.sentence
    assert "1 benchmark, 10 blocks" in one.evidence


def test_equals_are_not_told_apart(tmp_path):
    one = found(tmp_path, fib(stealing=1, threadpool=1, foundation=10))[0]["Fork and join"]
    assert set(one.choice.split(" or ")) == {"stealing", "threadpool"} and one.certainty == "no difference shown"
    assert "cannot be told apart" in one.sentence


def test_few_blocks_are_a_hint(tmp_path):
    one = found(tmp_path, fib(stealing=1, threadpool=3), blocks=4)[0]["Fork and join"]
    assert one.choice == "stealing" and one.certainty == "a hint only" and "too few blocks to be sure" in one.sentence


def test_what_is_quicker_still_is_said(tmp_path):
    one, results = found(tmp_path, fib(stealing=2, foundation=10, raw_dispatch=1))
    assert "raw-dispatch is faster: stealing takes " in one["Fork and join"].sentence
    assert re.fullmatch(
        r"raw-dispatch is faster: stealing takes [0-9.]+ times as long \[.*\] in the one benchmark that both have",
        one["Everything measured"].ahead[0],
    )
    (loss,) = results.losses
    assert (str(loss.arm.subject), str(loss.against.subject), len(loss.lines), loss.count) == ("stealing", "raw-dispatch", 1, 1)
    assert findings.loss_words(loss)["sentence"].startswith("stealing@2 is slower than raw-dispatch@2 in 1 of 1 comparisons.")


def test_ties_at_zero_have_no_ratio_but_a_number(tmp_path):
    def fill(writer):
        for name, error in (("stealing", 7), ("threadpool", 0), ("foundation", 90)):
            writer.cell(
                "priority/rank-error",
                "ops=9",
                [(name, 2)],
                [("rank_error_mean", "operations", lambda d, w, error=error: error)],
            )

    one = found(tmp_path, fill)[0]["Strict priority"]
    assert (one.choice, one.certainty) == ("threadpool", "sure") and "mean rank error of 0" in one.sentence


def rank_errors(**numbers):
    """Rank errors in two scenarios; of each subject the number of every block, or one for all."""

    def fill(writer):
        for ops in (9, 99):
            for name, own in numbers.items():
                writer.process += 1
                for block in range(1, writer.blocks + 1):
                    value = own[block - 1] if isinstance(own, list) else own
                    reading = ("rank_error_mean", "operations", value)
                    writer.add("priority/rank-error", f"ops={ops}", (name, 2), reading, block, 1)

    return fill


def test_zero_wins_in_several_scenarios(tmp_path):
    one = found(tmp_path, rank_errors(stealing=7, threadpool=0, foundation=90))[0]["Strict priority"]
    assert (one.choice, one.certainty) == ("threadpool", "sure")
    assert "in 2 of 2 scenarios, such as 0 " in one.sentence and "beside stealing 7.00" in one.sentence


def test_one_block_that_is_not_zero_makes_no_ratio(tmp_path):
    """The median of threadpool is 0, of which nothing is a multiple; one block alone would make it the worst."""
    almost = [0.0] * 9 + [1000.0]
    topics, results = found(tmp_path, rank_errors(stealing=7, threadpool=almost, foundation=90))
    assert topics["Strict priority"].choice == "threadpool" and "times" not in topics["Strict priority"].sentence
    for line in results.lines:
        ratios = {arm.subject.name: cell.ratio for arm, cell in line.cells.items()}
        assert ratios["threadpool"] is None and ratios["stealing"].value == pytest.approx(7 / 90)


def test_one_zero_among_the_blocks_makes_no_ratio(tmp_path):
    one = found(tmp_path, rank_errors(stealing=90, threadpool=[7.0] * 9 + [0.0]))[0]["Strict priority"]
    assert (one.choice, one.certainty) == ("threadpool", "sure") and "times" not in one.sentence


def test_one_backend_is_no_choice(tmp_path):
    """How sure it is that it is quicker than Foundation's says nothing of a choice."""
    alone = found(tmp_path, fib(stealing=1, foundation=10, raw_dispatch=2))[0]
    assert [one.is_choice for one in alone.values()] == [False, False]
    several = found(tmp_path, fib(stealing=1, threadpool=2, foundation=10))[0]
    assert [one.is_choice for one in several.values()] == [True, True]
    assert not found(tmp_path, rank_errors(stealing=7, foundation=0))[0]["Strict priority"].is_choice


def test_in_short_there_is_one_ratio_with_its_interval(tmp_path):
    one = found(tmp_path, fib(stealing=1, threadpool=2, foundation=10))[0]["Fork and join"]
    assert re.fullmatch(r"Stealing is [0-9.]+ times as fast as foundation \[[0-9.]+, [0-9.]+\]\.", one.short)
    one = found(tmp_path, fib(stealing=1, threadpool=2))[0]["Fork and join"]
    assert re.fullmatch(r"Stealing is [0-9.]+ times as fast as threadpool \[.*\]\.", one.short)


def test_no_backend_of_ours(tmp_path):
    assert found(tmp_path, fib(foundation=1, raw_dispatch=2))[0] == {}
