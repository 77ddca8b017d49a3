"""The statistics give what SciPy gives, by the very fixture that the harness's own tests use."""

import json
import math

import pytest

from opbench_report.data import statistics
from opbench_report.data.geometric_mean import _start, _student_quantile, _tail, geometric_mean


@pytest.fixture(scope="module")
def expected(root):
    return json.loads((root / "Tests/HarnessTests/Fixtures/expected_statistics.json").read_text())


def test_medians_and_ranks(expected):
    for one in expected["samples"]:
        estimate = statistics.estimate(one["values"])
        ordered = sorted(one["values"])
        assert estimate.median == pytest.approx(one["median"], rel=1e-14)
        if one["ranks"] is None:
            assert not estimate.has_interval and len(ordered) < 6
        else:
            assert (estimate.low, estimate.high) == (
                ordered[one["ranks"]["lower"] - 1],
                ordered[one["ranks"]["upper"] - 1],
            )


def test_paired_ratios(expected):
    for one in expected["pairs"]:
        logs = [statistics.log_ratio(a, b) for a, b in zip(one["numerators"], one["denominators"])]
        ratio = statistics.paired_ratio(logs)
        assert ratio.median == pytest.approx(one["ratio"], rel=1e-12)
        assert ratio.low == pytest.approx(one["lower"], rel=1e-12) if one["lower"] else ratio.low is None
        assert ratio.high == pytest.approx(one["upper"], rel=1e-12) if one["upper"] else ratio.high is None


def test_widened_ranks(expected):
    for one in expected["widened"]:
        confidence = statistics.Widening(one["comparisons"]).confidence_of(one["count"])
        assert statistics.median_ranks(one["count"], confidence)[:2] == (one["lower"], one["upper"])


def test_student(expected):
    for one in expected["student"]:
        assert _student_quantile(one["probability"], one["freedom"]) == pytest.approx(one["quantile"], rel=1e-9)


def test_bootstrap(expected):
    for one in expected["bootstrap"]:
        series = [(str(place), dict(enumerate(logs))) for place, logs in enumerate(one["logarithms"])]
        mean = geometric_mean(series)
        assert mean.ratio == pytest.approx(one["ratio"], rel=1e-12)
        assert _tail(mean.blocks) == pytest.approx(one["tail"], rel=1e-9)
        for mine, theirs in ((mean.low, one["lower"]), (mean.high, one["upper"])):
            assert abs(math.log(mine / theirs)) < 5 * one["deviation"]


def test_generator_is_the_harness():
    # FNV-1a of the purpose, mixed with the seed: another start would be another bootstrap.
    assert _start(1, "bootstrap") != _start(2, "bootstrap") != _start(1, "order")


def test_values_without_a_ratio_are_left_out():
    assert statistics.log_ratio(0, 1) is None and statistics.log_ratio(1, -1) is None
    assert statistics.paired_ratio([]) is None and geometric_mean([("a", {})]) is None
