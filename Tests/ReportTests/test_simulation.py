"""The page of a simulation: which strategies change places, and what is refused."""

import gzip
import json

import pytest
from opbench_report.complaint import Complaint
from opbench_report.data.simulation import HEADER, Simulation, granularity
from opbench_report.published import simulation as published

DEFAULT, SLOW, FAST = "stealing", "stealing(own=lifo)", "stealing(steal=half)"


def row(backend, workers, seed, makespan):
    values = dict.fromkeys(HEADER, 1) | {
        "kind": "simulated",
        "schema": 1,
        "graph": "fft",
        "sizes": "steps=4;width=8",
        "work_ns": 10000,
        "backend": backend,
        "workers": workers,
        "seed": seed,
        "model": "a test",
        "makespan_ns": makespan,
        "efficiency": 0.5,
        "limit_work_ns": makespan / 2,
        "limit_critical_path_ns": makespan / 4,
        "limit_scheduler_ns": makespan / 4,
    }
    return ",".join(str(values[name]) for name in HEADER)


def text(makespans):
    """`makespans[backend]` is {workers: makespan}; three seeds that differ a little."""
    lines = [",".join(HEADER)]
    for backend, by_workers in makespans.items():
        for workers, makespan in by_workers.items():
            lines += [row(backend, workers, seed, makespan * (1 + seed / 10000)) for seed in (1, 2, 3)]
    return "\r\n".join(lines) + "\r\n"


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(
        text({DEFAULT: {2: 1000, 64: 100}, SLOW: {2: 900, 64: 130}, FAST: {2: 1000, 64: 100}}), newline=""
    )
    model = {"name": "a test", "date": "2026-11-25", "machine": {"cpus": 2, "cpu": "a CPU"}}
    facts = {"arguments": ["/a/b/opbench", "simulate", "--model", "/a/m.json"], "commit": "abcdef0123", "model": model}
    (tmp_path / "s.env.json").write_text(json.dumps(facts))
    return path


def test_a_strategy_that_changes_places_has_a_sentence(results):
    found = published.sentences(Simulation([results]), DEFAULT, 2, 64)
    assert len(found) == 1
    assert found[0].startswith(f"`{SLOW}` is faster than `{DEFAULT}` with 2 virtual workers (x0.9 [")
    assert "slower than it with 64 (x1.3 [" in found[0]


def test_the_page_and_its_figures_say_that_they_are_simulated(results, tmp_path):
    root = tmp_path / "root"
    published.publish([str(results)], str(root))
    folder = root / published.FOLDER
    page = (folder / "README.md").read_text()
    assert "No CPU ran these tasks" in page and "What the model leaves out" in page
    assert "Of 2 other strategies 1 change places" in page
    assert "opbench simulate --model m.json" in page and "/a/" not in page
    for figure in ("efficiency.svg", "limits.svg"):
        assert "imulated" in (folder / figure).read_text()
    assert published.disagreements(str(root)) == []
    (folder / "s.csv.gz").write_bytes(gzip.compress(text({DEFAULT: {2: 1, 64: 2}}).encode()))
    assert len(published.disagreements(str(root))) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda whole: whole.replace("simulated,1,", "measured,1,", 1), "line 2: this is no simulated row"),
        (lambda whole: whole.replace("simulated,1,", "simulated,2,", 1), "line 2: this is no simulated row"),
        (lambda whole: whole.replace("kind,", "sort,"), "no rows of opbench simulate of schema 1"),
        (lambda whole: whole[:-9], "the last line is cut off"),
        (lambda whole: whole + whole.split("\r\n")[1] + "\r\n", "a second row for stealing with seed 1"),
    ],
)
def test_other_rows_are_refused(results, change, words):
    results.write_text(change(results.read_bytes().decode()), newline="")
    with pytest.raises(Complaint, match=words):
        Simulation([str(results)])


def test_the_granularity_is_where_the_curve_passes_the_level(results):
    lines = [",".join(HEADER)]
    for work, utilisation in ((400, 0.9), (200, 0.6), (100, 0.4), (50, 0.2)):
        values = row(DEFAULT, 2, 1, work).split(",")
        values[HEADER.index("work_ns")], values[HEADER.index("utilisation")] = str(work), str(utilisation)
        lines.append(",".join(values))
    results.write_text("\r\n".join(lines) + "\r\n", newline="")
    found = granularity(Simulation([str(results)]), 0.5)
    # Halfway between the two points, by logarithm; twice the makespan of one task.
    assert found == {("fft", "steps=4;width=8", DEFAULT, 2): pytest.approx(2 * 100 * 2**0.5)}
    assert granularity(Simulation([str(results)]), 0.95) == {("fft", "steps=4;width=8", DEFAULT, 2): None}
