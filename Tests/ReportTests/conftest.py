"""What all tests of the report share: a synthetic result, the results read from it, and the program under test."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Benchmarks/report"), str(pathlib.Path(__file__).parent)]

import synthetic  # noqa: E402  (found through the path above)

from opbench_report import charts  # noqa: E402
from opbench_report.data import results as result_files  # noqa: E402


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def csv(tmp_path_factory):
    """A result with every family in it."""
    return str(synthetic.write(tmp_path_factory.mktemp("results") / "whole.csv"))


@pytest.fixture(scope="session")
def results(csv):
    return result_files.read([csv])


@pytest.fixture(scope="session")
def built(results):
    """(charts, missing)."""
    return charts.build_all(results)


@pytest.fixture(scope="session")
def opbench():
    """The program of this checkout, which has to be built for that."""
    for configuration in ("debug", "release"):
        program = ROOT / ".build" / configuration / "opbench"
        if program.exists():
            return str(program)
    pytest.skip("opbench is not built (swift build), so there is nothing to compare the numbers with")
