"""What all tests of the report share: a synthetic result, its facts, and the charts of it."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Benchmarks/report"), str(pathlib.Path(__file__).parent)]

import asking  # noqa: E402  (found through the path above)
import synthetic  # noqa: E402

from opbench_report import charts  # noqa: E402
from opbench_report.published import program  # noqa: E402

# What a page asks the program is asked once, too.
program.subprocess = asking


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def opbench():
    """The program of this checkout."""
    return asking.opbench()


@pytest.fixture(scope="session")
def csv(tmp_path_factory):
    """A result with every family in it."""
    return str(synthetic.write(tmp_path_factory.mktemp("results") / "whole.csv"))


@pytest.fixture(scope="session")
def facts(csv):
    return asking.facts_of(csv)


@pytest.fixture(scope="session")
def results(facts):
    return facts.measured


@pytest.fixture(scope="session")
def built(facts):
    """(charts, missing)."""
    return charts.build_all(facts)
