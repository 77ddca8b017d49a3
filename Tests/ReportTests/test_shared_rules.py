"""The rules that the report shares with the program: `Tests/HarnessTests/SharedRulesTests.swift` reads the same fixtures, so that
a page says what the program says."""

import json
import pathlib
from types import SimpleNamespace

import pytest

from opbench_report.charts import latency
from opbench_report.data import metrics, simulation
from opbench_report.data.common_means import common_means
from opbench_report.data.results import Arm, Cell, Line
from opbench_report.data.statistics import Estimate, paired_quotients
from opbench_report.subjects import Subjects

FIXTURES = pathlib.Path(__file__).parents[1] / "HarnessTests/Fixtures"


def cases(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


@pytest.mark.parametrize("case", cases("number-text"), ids=lambda case: case["text"])
def test_numbers_as_text(case):
    estimate = Estimate(case["value"], case.get("low"), case.get("high"), 6)
    unit = case["unit"]
    text = metrics.ratio(estimate) if unit == "x" else metrics.quantity_with_interval(unit, estimate)
    assert text == case["text"]


def test_samples_that_a_percentile_needs():
    samples = cases("percentile-samples")
    lines = [
        Line("latency/open-loop", "load=60", "latency_p50_ns", "ns", metrics.Facts("latency", "less"), {}),
    ]
    chart = latency.build(SimpleNamespace(select=lambda family: lines))
    assert f"p99 needs {samples['p99']:,} in a process, p99.9 {samples['p999']:,}" in chart.caption


@pytest.mark.parametrize("case", cases("metg-outcomes"), ids=lambda case: case["text"])
def test_where_a_curve_crosses_a_level(case):
    """A curve that never reaches a level is told from one that never loses the level."""
    found = simulation.crossing([tuple(point) for point in case["points"]], case["level"])
    assert (found.outcome, found.text) == (case["outcome"], case["text"])
    assert found.at == pytest.approx(case["at"], abs=0.01) if "at" in case else found.at is None


@pytest.mark.parametrize("case", cases("common-means"), ids=lambda case: case["what"])
def test_means_that_may_stand_together(case):
    others = sorted({name for line in case["lines"] for name in line["factors"]} - set(case["ours"]))
    names = [*case["ours"], *others, "foundation"]
    roles = {name: "ours" if name in case["ours"] else "peer" for name in names} | {"foundation": "standingReference"}
    subjects = Subjects([{"subjects": [{"name": n, "role": roles[n], "summary": ""} for n in names], "reference": "foundation"}], set(names))
    lines = []
    for line in case["lines"]:
        cells = {}
        for name, factor in {**line["factors"], "foundation": 1}.items():
            numbers = {("r", "", block): 0 if line.get("zero") == name and block == 3 else factor * block for block in range(1, 7)}
            cells[Arm(subjects[name], 2)] = Cell(None, None, None, numbers)
        lines.append(Line(line["benchmark"], "", "ns_per_op", "ns", None, cells))
    means = common_means(SimpleNamespace(reference="foundation"), lines)
    ratios = lambda found: {arm.subject.name: round(mean.ratio, 9) for arm, mean in found.items()}
    assert ratios(means.together) == case["together"] and ratios(means.apart) == case["apart"]
    assert means.ours.subject.name == case["base"] and means.benchmarks == case["benchmarks"]


@pytest.mark.parametrize("case", cases("pairing"), ids=lambda case: case["what"])
def test_pairs_of_blocks(case):
    """Where a number of a pair is not positive there is no ratio, not one of the other blocks."""
    assert paired_quotients(case["numerators"], case["denominators"]) == case["quotients"]
