"""How a ratio of times reads, from the kind and the numbers that the document of facts gives to it."""

import pytest

from opbench_report.facts import Record
from opbench_report.ratio_words import compared, marked, sentence


def ratio(kind, times=None, range=None, **more):
    return Record(text="x1.20 [1.10, 1.30]", words=Record(kind=kind, times=times, range=range), **more)


@pytest.mark.parametrize(
    "own, beside, said",
    [
        (
            ratio("fewer", "38.8", "[36.1, 41.0]"),
            "38.8 times as fast as tbb [36.1, 41.0]",
            "stealing is 38.8 times as fast as tbb [36.1, 41.0]",
        ),
        (
            ratio("more", "3.75", "[3.50, 4.01]"),
            "3.75 times as long as tbb [3.50, 4.01]",
            "tbb is faster: stealing takes 3.75 times as long [3.50, 4.01]",
        ),
        (ratio("fewer", "2.00"), "2.00 times as fast as tbb", "stealing is 2.00 times as fast as tbb"),
        (ratio("near"), "x1.20 [1.10, 1.30] of tbb's time", "stealing takes x1.20 [1.10, 1.30] of tbb's time"),
    ],
)
def test_the_words(own, beside, said):
    assert compared(own, "tbb") == beside and sentence(own, "stealing", "tbb") == said


def test_what_is_no_time_is_more_or_less():
    assert sentence(ratio("fewer", "10.0"), "a", "b", "CPU time") == "b has 10.0 times a's CPU time"
    assert sentence(ratio("more", "3.00"), "a", "b", "CPU time") == "b has less: a has 3.00 times b's CPU time"
    assert sentence(ratio("near"), "a", "b", "CPU time") == "a has x1.20 [1.10, 1.30] of b's CPU time"


def test_a_wide_interval_marks_the_ratio():
    assert marked(ratio("near", is_rough=True)) == "x1.20 [1.10, 1.30]~" and marked(ratio("near")) == "x1.20 [1.10, 1.30]"
