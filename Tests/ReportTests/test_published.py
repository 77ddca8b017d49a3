"""What is published says what its CSV says, and the checker finds whatever does not."""

import gzip
import json
import os
import re
import shutil

import pandas
import pytest
import synthetic

from opbench_report.data import results as result_files
from opbench_report.data.statistics import Estimate
from opbench_report.published import glance, headline, texts
from opbench_report.published.__main__ import main

GLANCE, GLANCE_END = texts.marks("glance")
README = f"# opbench\n\nBefore.\n\n{GLANCE}\n{GLANCE_END}\n\nAfter.\n"


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


def test_readme_has_one_figure_and_the_summary_has_the_table(published):
    readme = (published / "README.md").read_text()
    assert readme.startswith("# opbench\n\nBefore.\n") and readme.endswith("\n\nAfter.\n")
    assert readme.count("](results/figures/") == 1
    assert "](results/figures/overview.svg)" in texts.between(readme, "glance")
    shown = (published / "results/SUMMARY.md").read_text()
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 8 and re.match(r"\| geometric mean of all times, \d+ benchmarks \| x0\.", rows[-2])
    assert all(row.count("|") == rows[0].count("|") for row in rows)
    # The ratio with its interval first, the time as context; the mark is the ratio's.
    cells = [cell.strip() for row in rows[2:-2] for cell in row.split("|")[2:-1]]
    number = r"[0-9.]+(e-[0-9]+)?"
    ratios = [
        one for one in cells if re.fullmatch(rf"x{number}( \[{number}, {number}\]~?)? \({number}( [nµm]?s)?\)", one)
    ]
    others = [one for one in cells if one not in ratios]
    assert len(ratios) > 10 and any("]~ (" in one for one in ratios) and any("] (" in one for one in ratios)
    assert all(re.fullmatch(rf"-|failed|{number}( [nµm]?s)?", one) for one in others), others
    assert "](figures/overhead.svg)" in shown and "](figures/overview.svg)" in shown and "](results/" not in shown
    assert shown.count("scripts/plot results/reference.csv.gz") == 2


def test_readme_begins_with_three_ratios_that_the_csv_says(published, csv):
    """Worked out anew from the rows: the ratio of the medians of each block, and the median over blocks."""
    text = texts.between((published / "README.md").read_text(), "glance").splitlines()[0]
    said = re.findall(r"is (\S+) times as fast \[(\S+), (\S+)\]", text)
    assert len(said) == 3 and text.startswith("Beside ")
    frame = pandas.read_csv(csv)
    frame["cell"] = frame.family + "/" + frame.benchmark
    for numbers, cell, params in zip(
        said, ("overhead/external-add", "dependencies/chain"), ("ops=10000", "length=1000")
    ):
        rows = frame[(frame.cell == cell) & (frame.params == params) & (frame.metric == "ns_per_op")]
        medians = rows[rows.workers == 2].groupby(["backend", "block"]).value.median()
        ratio = (medians["foundation"] / medians["stealing"]).median()
        low, middle, high = (float(numbers[place]) for place in (1, 0, 2))
        assert middle == pytest.approx(ratio, rel=0.01) and low < middle < high
    assert re.search(r" over all \d+ benchmarks \(geometric mean\)\.", text)
    # Two or three sentences, the last of which says where the numbers come from.
    assert len(re.findall(r"\.(?= |$)", text)) <= 3 and "results/SUMMARY.md" in text


def test_readme_says_who_is_faster(published, csv):
    """`rayon` is, with 0.8 of the cost; the bare pool is too, and is nothing to choose; the others are slower."""
    text = texts.between((published / "README.md").read_text(), "glance").splitlines()[0]
    said = re.search(r"both have \(their number in parentheses\), `stealing` takes (.*? \(\d+\))\.", text).group(1)
    subjects = re.findall(r"x(\S+) \[(\S+), (\S+)\] of `(\S+)`'s time", said)
    assert [one[3] for one in subjects] == ["rayon"]
    assert all(1 < float(low) <= float(middle) <= float(high) for middle, low, high, _ in subjects)


@pytest.mark.parametrize(
    "ratio, words",
    [
        (Estimate(0.05, 0.04, 0.0625, 6), "is 20.0 times as fast [16.0, 25.0]"),
        (Estimate(0.05, None, None, 5), "is 20.0 times as fast"),
        (Estimate(1.5, 1.25, 2, 6), "takes 1.50 times as long [1.25, 2.00]"),
        (Estimate(0.9, 0.8, 1.1, 6), "takes as much time, as far as can be told,"),
    ],
)
def test_a_ratio_in_words(ratio, words):
    assert glance._words(ratio) == words


def test_no_ratio_is_claimed_that_was_not_measured(tmp_path):
    def fill(writer):
        writer.cell("overhead/external-add", "ops=10000", [("stealing", 2)], [("ns_per_op", "ns", lambda d, w: 100)])

    results = result_files.read([str(synthetic.write(tmp_path / "some.csv", filling=fill))])
    assert glance.sentences(results, "results") == ""


def test_agreement(published, capsys):
    assert check(published, capsys) == (0, [])


def test_nothing_yet(checkout, capsys):
    assert check(checkout, capsys) == (0, [])


@pytest.mark.parametrize(
    "name, change",
    [
        (
            "results/SUMMARY.md",
            lambda text: re.sub(r"(\| geometric mean of all times, \d+ benchmarks \| x)0\.", r"\g<1>9.", text),
        ),
        ("README.md", lambda text: text.replace(GLANCE_END, "")),
        ("README.md", lambda text: text.replace(GLANCE, "")),
        ("README.md", lambda text: re.sub(r" is [0-9]", " is 9", text, count=1)),
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
    reversed_marks = f"{GLANCE_END}\n{GLANCE}\n"
    for text in (readme.read_text().replace(GLANCE, ""), readme.read_text().replace(GLANCE_END, ""), reversed_marks, None):
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
