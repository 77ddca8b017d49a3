"""The statistics give what SciPy gives, by the very fixture that the harness's own tests use."""

import json
import math

import pytest

from opbench_report.data import statistics
from opbench_report.data.geometric_mean import _draws, _start, _student_quantile, _tail, geometric_mean
from opbench_report.data.metrics import marked_ratio, significant
from opbench_report.data.statistics import paired_logarithms


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
        ours, theirs = (dict(enumerate(one[key])) for key in ("numerators", "denominators"))
        ratio = statistics.paired_ratio(paired_logarithms(ours, theirs).values())
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
    """Numbers of programs in C, made from the definitions: another start, or another draw, is another bootstrap."""
    # The first outputs of Vigna's splitmix64.c for this seed, as in the tests of the harness; the upper 63 bits of each.
    outputs = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    assert _draws(3, 1 << 63, 1_234_567).tolist() == [one >> 1 for one in outputs]
    # FNV-1a of the purpose and the seed, mixed.
    assert _start(1, "bootstrap") == 16_503_450_032_587_828_778
    assert _start(2, "bootstrap") == 16_813_973_636_651_095_525
    assert _draws(10, 10, _start(1, "bootstrap")).tolist() == [3, 6, 5, 2, 4, 2, 8, 6, 7, 4]


def test_draws_are_without_bias():
    """Of a bound that does not divide 2^64, Lemire's method rejects: of these, the fourth, the fifth and another."""
    assert _draws(8, 3 << 61, 1).tolist() == [
        3_919_206_142_200_308_424,
        5_158_966_954_149_910_694,
        6_716_939_733_856_083_971,
        3_073_213_963_922_613_285,
        6_069_085_008_053_950_141,
        3_618_332_400_025_522_699,
        5_492_494_567_517_488_856,
        2_795_665_185_698_766_276,
    ]


def test_values_without_a_ratio_are_left_out():
    assert paired_logarithms({1: 0.0}, {1: 1.0}) == {} and paired_logarithms({1: 1.0}, {1: -1.0}) == {}
    assert statistics.paired_ratio([]) is None and geometric_mean([("a", {})]) is None


def test_one_zero_takes_the_ratio_of_all_blocks():
    """The blocks that are left would be those that happen not to be zero."""
    theirs = {("run", block): 100.0 for block in range(1, 8)}
    assert len(paired_logarithms({("run", block): 2.0 for block in range(1, 7)}, theirs)) == 6
    assert paired_logarithms({("run", block): 2.0 if block == 5 else 0.0 for block in range(1, 7)}, theirs) == {}
    assert paired_logarithms({("run", 8): 2.0}, theirs) == {}


@pytest.mark.parametrize(
    "low, high, shown",
    [
        (0.36, 0.39, "x0.370 [0.360, 0.390]"),
        # Six per cent to either side, wherever the median stands, and four on one with ten on the other.
        (0.94 * 0.37, 1.06 * 0.37, "x0.370 [0.348, 0.392]~"),
        (0.96 * 0.37, 1.10 * 0.37, "x0.370 [0.355, 0.407]~"),
        (None, None, "x0.370"),
    ],
)
def test_a_wide_interval_marks_the_ratio(low, high, shown):
    assert marked_ratio(statistics.Estimate(0.37, low, high, 6)) == shown


@pytest.mark.parametrize(
    "value, text",
    [
        (1234.5, "1235"),
        (12.34, "12.3"),
        (1, "1.00"),
        (0.001234, "0.00123"),
        (0.00071449, "0.000714"),
        (-0.0000715, "-7.15e-5"),
        (7.14e-7, "7.14e-7"),
        (0, "0"),
        (-0.0, "0"),
    ],
)
def test_three_digits_however_small(value, text):
    assert significant(value) == text
