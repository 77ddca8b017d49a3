"""Bad input gets one line that says what was wrong, an exit code, and leaves what was there alone."""

import gzip
import json
import os

import pytest
import synthetic
from asking import opbench, report

from opbench_report.command import main
from opbench_report.published.__main__ import main as published


@pytest.fixture(scope="module")
def whole(csv):
    with open(csv, encoding="utf-8") as file:
        return file.read()


def complaint(capsys, code, words, *arguments):
    assert report(*arguments) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    for word in words:
        assert word in lines[0], lines[0]


def make(tmp_path, text, name="bad.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_usage(capsys, csv, tmp_path):
    complaint(capsys, 64, ["--output"], csv)
    complaint(capsys, 64, ["files"], "--output", tmp_path / "out")
    complaint(capsys, 64, ["twice"], csv, csv, "--output", tmp_path / "out")
    complaint(capsys, 64, ["--no-page", "nothing"], csv, "--no-page", "--no-pictures", "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_missing_file(capsys, tmp_path):
    complaint(capsys, 66, ["no.csv", "no such file"], tmp_path / "no.csv", "--output", tmp_path / "out")
    complaint(capsys, 66, ["cannot be read"], tmp_path, "--output", tmp_path / "out")


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda text: "", ["is empty"]),
        (lambda text: text.replace(",host\n", ",node\n", 1), ["line 1", "column 15 is 'node', not 'host'"]),
        (lambda text: text.replace(",2,ns_per_op,", ",two,ns_per_op,"), ["workers is 'two'"]),
        (lambda text: text + text.splitlines()[1] + "\n", ["the same value as in line 2"]),
    ],
)
def test_bad_csv(capsys, tmp_path, whole, change, words):
    """`CSVReaderTests` has all that can be wrong."""
    complaint(capsys, 65, ["bad.csv", *words], make(tmp_path, change(whole)), "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_not_text(capsys, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"\xff\xfe\x00\n")
    complaint(capsys, 65, ["line 1", "not a result of schema 2"], path, "--output", tmp_path / "out")
    (tmp_path / "bad.csv.gz").write_bytes(b"no gzip")
    complaint(capsys, 65, ["gzip"], tmp_path / "bad.csv.gz", "--output", tmp_path / "out")


def test_bad_environment(capsys, tmp_path, whole):
    path = make(tmp_path, whole)
    make(tmp_path, "{}", "bad.env.json")
    complaint(capsys, 65, ["bad.env.json"], path, "--output", tmp_path / "out")
    make(tmp_path, "not json", "bad.env.json")
    complaint(capsys, 65, ["bad.env.json"], path, "--output", tmp_path / "out")
    make(tmp_path, "[" * 100_000, "bad.env.json")
    complaint(capsys, 65, ["bad.env.json"], path, "--output", tmp_path / "out")


def test_environment_of_the_wrong_kind(capsys, tmp_path, csv, whole):
    """`RunRecordTests` has all that can be wrong."""
    path = make(tmp_path, whole)
    with open(csv.removesuffix(".csv") + ".env.json", encoding="utf-8") as file:
        make(tmp_path, json.dumps(json.load(file) | {"seed": -1}), "bad.env.json")
    complaint(capsys, 65, ["bad.env.json", "not the environment"], path, "--output", tmp_path / "out")
    assert published(["--opbench", opbench(), "--root", str(tmp_path), "publish", str(path)]) == 65
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists() and not (tmp_path / "results").exists()


def test_environment_of_another_run(capsys, tmp_path):
    nothing = {"excluded_blocks": [], "failures": []}
    paths = [synthetic.write(tmp_path / f"{run}.csv", blocks=1, run=run, outcome=nothing) for run in ("a", "b")]
    (tmp_path / "a.env.json").write_bytes((tmp_path / "b.env.json").read_bytes())
    complaint(
        capsys, 65, ["rows of run a", "a.env.json is of run b", "--resume"], paths[0], "--output", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_nothing_that_counts(capsys, tmp_path):
    def one_cell(writer):
        writer.cell("overhead/external-add", "ops=1", [("stealing", 2)], [("ns_per_op", "ns", lambda d, w: 1.0)])

    excluded = [{"benchmark": "overhead/external-add", "block": block, "params": "ops=1"} for block in range(1, 3)]
    path = synthetic.write(
        tmp_path / "lost.csv", blocks=2, filling=one_cell, outcome={"excluded_blocks": excluded, "failures": []}
    )
    complaint(capsys, 65, ["no row counts"], path, "--output", tmp_path / "out")


def test_allocators_are_not_mixed(capsys, tmp_path):
    nothing = {"excluded_blocks": [], "failures": []}
    paths = [synthetic.write(tmp_path / f"{run}.csv", blocks=1, run=run, outcome=nothing) for run in ("a", "b")]
    record = tmp_path / "b.env.json"
    record.write_text(record.read_text().replace("system (glibc 2.36)", "jemalloc (5.3)"))
    complaint(capsys, 65, ["jemalloc", "not comparable"], *paths, "--output", tmp_path / "out")


def test_the_same_run_twice(capsys, tmp_path, csv, whole):
    copy = make(tmp_path, whole, "copy.csv")
    beside = csv.removesuffix(".csv") + ".env.json"
    make(tmp_path, open(beside, encoding="utf-8").read(), "copy.env.json")
    complaint(capsys, 65, ["holds"], csv, copy, "--output", tmp_path / "out")


def test_bad_validation(capsys, tmp_path, csv):
    complaint(
        capsys, 66, ["validate.txt"], csv, "--validation", tmp_path / "validate.txt", "--output", tmp_path / "out"
    )
    other = make(tmp_path, "something else", "validate.txt")
    complaint(
        capsys, 65, ["not the report of opbench validate"], csv, "--validation", other, "--output", tmp_path / "out"
    )


def test_output_that_cannot_be(capsys, tmp_path, csv):
    file = make(tmp_path, "a file", "file")
    complaint(capsys, 73, ["cannot write", "file"], csv, "--output", file)
    complaint(capsys, 73, ["/proc/x"], csv, "--output", "/proc/x")
    assert file.read_text() == "a file"


def test_earlier_results_stay(capsys, tmp_path, csv):
    (tmp_path / "report.html").write_text("earlier")
    assert report(str(tmp_path / "no.csv"), "--output", str(tmp_path)) == 66
    assert os.listdir(tmp_path) == ["report.html"] and (tmp_path / "report.html").read_text() == "earlier"


def test_reference_that_was_not_measured(capsys, tmp_path, csv):
    words = ["nothing", "stealing"]
    complaint(capsys, 64, words, csv, "--reference", "nothing", "--output", tmp_path / "out")


def test_without_environment_and_packed(capsys, tmp_path, whole):
    """Both are said or simply work; neither is an error."""
    make(tmp_path, "", "x").unlink()
    path = tmp_path / "packed.csv.gz"
    path.write_bytes(gzip.compress(whole.encode()))
    out = tmp_path / "out"
    assert report(str(path), "--output", str(out), "--no-pictures") == 0
    assert "no .env.json" in capsys.readouterr().err
    assert sorted(os.listdir(out)) == ["packed.csv.gz", "report.html"]
    assert (out / "packed.csv.gz").read_bytes() == path.read_bytes()
