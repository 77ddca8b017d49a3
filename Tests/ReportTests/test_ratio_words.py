"""How a ratio of times reads: as in the harness, whose words `ratio-words.json` has."""

import json
import pathlib

import pytest

from opbench_report.data.ratio_words import RatioWords
from opbench_report.data.statistics import Estimate

CASES = json.loads((pathlib.Path(__file__).parents[1] / "HarnessTests/Fixtures/ratio-words.json").read_text())


def words(ratio, low=None, high=None, what="time"):
    return RatioWords(Estimate(ratio, low, high, 6), what)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["ratio"]))
def test_the_words_of_the_harness(case):
    own = words(case["ratio"], case.get("low"), case.get("high"))
    assert own.compared("tbb") == case["compared"] and own.sentence("stealing", "tbb") == case["sentence"]


def test_what_is_no_time_is_more_or_less():
    assert words(0.1, what="CPU time").sentence("a", "b") == "b has 10.0 times a's CPU time"
    assert words(3.0, what="CPU time").sentence("a", "b") == "b has less: a has 3.00 times b's CPU time"
    assert words(1.2, what="CPU time").sentence("a", "b") == "a has x1.20 of b's CPU time"
