"""What is published says what its CSV says, and the checker finds whatever does not."""

import gzip
import json
import os
import re
import shutil

import pytest
import synthetic

from opbench_report.data import results as result_files
from opbench_report.published import headline, texts
from opbench_report.published.__main__ import main

README = f"# opbench\n\nBefore.\n\n{texts.BEGIN}\n{texts.END}\n\nAfter.\n"


@pytest.fixture()
def checkout(tmp_path):
    (tmp_path / "README.md").write_text(README)
    return tmp_path


@pytest.fixture(scope="module")
def original(csv, tmp_path_factory):
    """A checkout with published results, made once; tests that change something take a copy."""
    root = tmp_path_factory.mktemp("original")
    (root / "README.md").write_text(README)
    assert main(["--root", str(root), "publish", csv]) == 0
    return root


@pytest.fixture()
def published(original, tmp_path):
    return shutil.copytree(original, tmp_path / "copy")


def check(checkout, capsys, *options):
    code = main(["--root", str(checkout), "check", *options])
    return code, capsys.readouterr().err.splitlines()


def test_everything_is_there(published, csv):
    assert sorted(os.listdir(published / "results")) == [
        "SUMMARY.md",
        "figures",
        "reference.csv.gz",
        "reference.env.json",
    ]
    assert sorted(os.listdir(published / "results/figures")) == ["overhead.svg", "overview.svg"]
    assert gzip.decompress((published / "results/reference.csv.gz").read_bytes()) == open(csv, "rb").read()
    for name in os.listdir(published / "results/figures"):
        assert os.path.getsize(published / "results/figures" / name) < 300_000


def test_the_machine_paths_stay_at_home(published):
    record = json.loads((published / "results/reference.env.json").read_text())
    assert record["arguments"] == ["opbench", "run", "--backend", "all"]


def test_readme_has_the_table_and_two_figures(published):
    readme = (published / "README.md").read_text()
    assert readme.startswith("# opbench\n\nBefore.\n") and readme.endswith("\n\nAfter.\n")
    shown = texts.between(readme)
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 7 and rows[-1].startswith("| geometric mean of all times | x0.")
    assert shown.count("](results/figures/") == 2 and shown.count("scripts/plot results/reference.csv.gz") == 2
    assert all(row.count("|") == rows[0].count("|") for row in rows)


def test_agreement(published, capsys):
    assert check(published, capsys) == (0, [])


def test_nothing_yet(checkout, capsys):
    assert check(checkout, capsys) == (0, [])


@pytest.mark.parametrize(
    "name, change",
    [
        (
            "README.md",
            lambda text: text.replace("| geometric mean of all times | x0.", "| geometric mean of all times | x9."),
        ),
        ("README.md", lambda text: text.replace(texts.END, "")),
        ("results/SUMMARY.md", lambda text: text + "And more.\n"),
        ("results/figures/overhead.svg", lambda text: re.sub("sha256:[0-9a-f]{64}", "sha256:" + 64 * "0", text)),
        ("results/figures/overview.svg", lambda text: "<svg/>"),
    ],
)
def test_a_change_by_hand_is_found(published, capsys, name, change):
    path = published / name
    path.write_text(change(path.read_text()))
    code, lines = check(published, capsys)
    assert code == 1 and len(lines) == 1 and name.rsplit("/", 1)[-1] in lines[0]


def test_another_csv_is_found_everywhere(published, capsys, tmp_path_factory):
    other = synthetic.write(tmp_path_factory.mktemp("other") / "other.csv", seed=8)
    (published / "results/reference.csv.gz").write_bytes(gzip.compress(open(other, "rb").read(), mtime=0))
    code, lines = check(published, capsys)
    assert code == 1 and [line.split()[1] for line in lines] == [
        "README.md",
        "results/SUMMARY.md",
        "results/figures/overview.svg",
        "results/figures/overhead.svg",
    ]
    assert check(published, capsys, "--write") == (0, [])


def test_missing_results_are_found(published, capsys):
    (published / "results/reference.csv.gz").unlink()
    code, lines = check(published, capsys)
    assert code == 1 and "there is no results/reference.csv.gz" in lines[0]


def test_what_cannot_be_published(checkout, capsys, csv, tmp_path):
    lonely = tmp_path / "lonely.csv"
    lonely.write_bytes(open(csv, "rb").read())
    assert main(["--root", str(checkout), "publish", str(lonely)]) == 65
    assert main(["--root", str(checkout), "publish", str(tmp_path / "no.csv")]) == 66
    assert main(["--root", str(checkout), "publish"]) == 64
    assert len(capsys.readouterr().err.splitlines()) == 3
    assert not (checkout / "results").exists() and (checkout / "README.md").read_text() == README


def test_a_readme_without_a_place_leaves_everything_as_it_was(published, capsys, csv, tmp_path_factory):
    other = synthetic.write(tmp_path_factory.mktemp("other") / "other.csv", seed=8)
    readme = published / "README.md"
    for text in (readme.read_text().replace(texts.END, ""), f"{texts.END}\n{texts.BEGIN}\n", None):
        readme.unlink() if text is None else readme.write_text(text)
        before = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}
        assert main(["--root", str(published), "publish", str(other)]) == 65
        assert main(["--root", str(published), "check", "--write"]) == 65
        assert [("README.md" in line) for line in capsys.readouterr().err.splitlines()] == [True, True]
        assert {path: path.read_bytes() for path in published.rglob("*") if path.is_file()} == before


def test_a_validation_goes_with_its_results(published, csv, root, tmp_path_factory):
    validation = published / "results/validate.txt"
    shutil.copy(root / "results/validate.txt", validation)
    # The same rows once more are the results that it belongs to, and others are not.
    packed = tmp_path_factory.mktemp("packed") / "packed.csv.gz"
    packed.write_bytes(gzip.compress(open(csv, "rb").read()))
    shutil.copy(csv.removesuffix(".csv") + ".env.json", packed.parent / "packed.env.json")
    assert main(["--root", str(published), "publish", str(packed)]) == 0 and validation.exists()
    other = str(synthetic.write(tmp_path_factory.mktemp("other") / "other.csv", seed=8))
    again = ["--root", str(published), "publish", other]
    assert main([*again, "--validation", str(validation)]) == 0 and validation.exists()
    assert main(["--root", str(published), "publish", csv]) == 0 and not validation.exists()


@pytest.mark.parametrize("params, shown", [("ops=1000", "-"), ("ops=10000", "failed"), ("", "failed")])
def test_only_the_cell_that_failed_is_called_so(tmp_path, params, shown):
    def fill(writer):
        times = [("ns_per_op", "ns", lambda d, w: 100 * d)]
        writer.cell("overhead/external-add", "ops=10000", [("stealing", 2)], times)
        writer.cell("forkjoin/skynet", "join=counter;leaves=1000", [("stealing", 2), ("foundation", 2)], times)

    failure = {"benchmark": "overhead/external-add", "params": params, "backend": "foundation", "workers": 2}
    outcome = {"excluded_blocks": [], "failures": [{**failure, "reason": "no reason"}]}
    results = result_files.read([str(synthetic.write(tmp_path / "some.csv", filling=fill, outcome=outcome))])
    row = next(line for line in headline.table(results).splitlines() if "external-add" in line)
    assert row.endswith(f"| {shown} |")
