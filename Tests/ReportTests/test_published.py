"""What is published says what its CSV says, and the checker finds whatever does not."""

import csv as csv_module
import gzip
import json
import os
import re
import shutil
import statistics

import pytest
import synthetic
from asking import opbench, read

from opbench_report.published import glance, headline, texts, which
from opbench_report.published.__main__ import main as published_main
from opbench_report.published.program import Program

GLANCE, GLANCE_END = texts.marks("glance")
README = f"# opbench\n\nBefore.\n\n{GLANCE}\n{GLANCE_END}\n\nAfter.\n"


def main(arguments):
    return published_main(["--opbench", opbench(), *arguments])


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
    lines = shown.splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("| benchmark |"))
    rows = [line for line in lines[begin:] if line.startswith("|")]
    assert len(rows) == 2 + 8 and re.match(r"\| geometric mean of all times, \d+ benchmarks \| x0\.", rows[-2])
    assert all(row.count("|") == rows[0].count("|") for row in rows)
    # The ratio with its interval first, the time as context; the mark is the ratio's.
    cells = [cell.strip() for row in rows[2:-2] for cell in row.split("|")[2:-1]]
    number = r"[0-9.]+(e-[0-9]+)?"
    ratios = [
        one for one in cells if re.fullmatch(rf"x{number}( \[{number}, {number}\]~?)? \({number}( [nµm]?s)?\)", one)
    ]
    others = [one for one in cells if one not in ratios]
    assert len(ratios) > 10 and any("] (" in one for one in ratios)
    assert all(re.fullmatch(rf"-|failed|{number}( [nµm]?s)?", one) for one in others), others
    assert "](figures/overhead.svg)" in shown and "](figures/overview.svg)" in shown and "](results/" not in shown
    assert shown.count("scripts/plot results/reference.csv.gz") == 2


def cells_of(text):
    """The rows of the first table of a text, without its head, as lists of cells."""
    rows = []
    for line in text.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


def medians(path, benchmark, params):
    """(backend, block) -> the median time of an operation with two workers."""
    values = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv_module.DictReader(file):
            if (row["benchmark"], row["params"], row["metric"], row["workers"]) == (benchmark, params, "ns_per_op", "2"):
                values.setdefault((row["backend"], int(row["block"])), []).append(float(row["value"]))
    return {place: statistics.median(own) for place, own in values.items()}


def test_readme_begins_with_round_words_that_the_csv_says(published, csv):
    """Worked out anew from the rows: the ratio of the medians of each block, and the median over blocks."""
    shown = texts.between((published / "README.md").read_text(), "glance")
    exact = cells_of((published / "results/SUMMARY.md").read_text())
    assert len(cells_of(shown)) == 4 and [row[:3] for row in exact] == cells_of(shown)
    for row, scenario in zip(exact, (("external-add", "ops=10000"), ("chain", "length=1000"))):
        blocks = medians(csv, *scenario)
        excluded = 3 if scenario[0] == "external-add" else 0
        ratio = statistics.median(
            blocks["foundation", block] / time for (name, block), time in blocks.items() if name == "stealing" and block != excluded
        )
        said = re.fullmatch(r"(\S+) times as fast as `foundation` \[(\S+), (\S+)\]", row[3])
        middle, low, high = map(float, said.groups())
        assert row[1] == "the foundation <i>" and middle == pytest.approx(ratio, rel=0.01) and low < middle < high
        word = float(re.fullmatch(r"([\d.]+) times as fast", row[2]).group(1))
        assert low <= word <= high and word == pytest.approx(ratio, rel=0.1)
    assert "[`results/SUMMARY.md`](results/SUMMARY.md) has the intervals" in shown and "on 2026-01-01" in shown


@pytest.fixture()
def four_rows(tmp_path, monkeypatch):
    """Results in which go is level on the whole and tbb and rayon are ahead; numbers and noise are invented."""
    dear = {"stealing": 1.0, "foundation": 20.0, "go": 1.0, "tbb": 0.25, "rayon": 0.2}
    monkeypatch.setattr(synthetic, "SUBJECTS", {name: (one, "closures") for name, one in dear.items()})
    peers = {name: "peer" for name in ("go", "tbb", "rayon")}
    monkeypatch.setattr(synthetic, "ROLES", {"stealing": "ours", "foundation": "standingReference", **peers})

    def fill(writer):
        arms = [(name, 2) for name in dear]
        cost = lambda go: [("ns_per_op", "ns", lambda d, w: 100 * (go if d == 1.0 else d))]
        mine = lambda go, other: [("stealing", 2), ("foundation", 2)] + [("go", 2)] * go + [("tbb", 2), ("rayon", 2)] * other
        writer.cell("overhead/external-add", "ops=10000", mine(False, True), cost(1))
        writer.cell("dependencies/chain", "length=1000", mine(False, False), cost(1))
        for name, factor in (("skynet", 1), ("fib", 2)):
            own = [("ns_per_op", "ns", lambda d, w, factor=factor: 100 * (d if d >= 1 else d / factor))]
            writer.cell(f"forkjoin/{name}", "join=counter", arms, own)
        # Three times as dear with go in one family, a third in the other.
        for family, factor in (("overhead", 3), ("dependencies", 1 / 3)):
            writer.cell(f"{family}/other", "ops=1", [("stealing", 2)], cost(1))
            for block in range(1, writer.blocks + 1):
                writer.process += 1
                for index in range(1, writer.values + 1):
                    value = 100 * factor * writer.random.uniform(0.98, 1.02)
                    writer.add(f"{family}/other", "ops=1", ("go", 2), ("ns_per_op", "ns", value), block, index)

    return read(synthetic.write(tmp_path / "four.csv", filling=fill))


def test_four_rows_with_the_losses(four_rows):
    rows = glance.rows(four_rows)
    assert [(row.work, row.words) for row in rows] == [
        ("add and run a small operation", "20 times as fast"),
        ("a chain of dependencies, for each operation", "20 times as fast"),
        ("all 4 benchmarks that both run", "level on average (adding: 3 times as fast; graphs: 3 times as slow)"),
        ("fork and join", "6 to 7 times as slow on average (`skynet`: 4 times as slow; `fib`: 10 times as slow)"),
    ]
    assert rows[3].beside == "the tbb <i>; the rayon <i>"
    # Each ratio that a word comes from, and the family and benchmark that the words leave out.
    assert re.match(r"x\S+ \[\S+, \S+\] of `go`'s time \(4\); ", rows[2].evidence)
    assert "fork and join: x" in rows[2].evidence
    assert rows[3].evidence.count("`tbb`") == 3 and rows[3].evidence.count("`rayon`") == 3


def test_a_row_needs_all_that_it_compares_with_and_intervals(tmp_path):
    def fill(writer):
        writer.cell("overhead/external-add", "ops=10000", [("stealing", 2)], [("ns_per_op", "ns", lambda d, w: 100)])

    results = read(synthetic.write(tmp_path / "some.csv", filling=fill))
    assert glance.rows(results) == [] and glance.table(results) == ""
    results = read(synthetic.write(tmp_path / "few.csv", blocks=5))
    assert glance.rows(results) == []


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
        ("README.md", lambda text: re.sub(r"[0-9]+ times as fast", "99 times as fast", text, count=1)),
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


def test_another_csv_is_found_everywhere(published, capsys, tmp_path_factory, monkeypatch):
    monkeypatch.setitem(synthetic.SUBJECTS, "foundation", (30.0, "operations"))
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
    results = read(synthetic.write(tmp_path / "some.csv", filling=fill, outcome=outcome))
    row = next(line for line in headline.table(results).splitlines() if "external-add" in line)
    assert row.endswith(f"| {shown} |")


def test_the_numbers_of_a_page_are_those_that_compare_prints(root, tmp_path, capsys):
    """`Which for what` beside the published results: a number of an earlier result is found."""
    page = tmp_path / which.PAGE
    begin, end = texts.marks(which.PART)
    page.parent.mkdir(parents=True)
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "results").mkdir()
    shutil.copy(root / "results/reference.env.json", tmp_path / "results")
    # The rows of the page.
    shown = [f",{row[0].replace('/', ',')}," for row in which._ROWS]
    arms = ["schema,", ",stealing,", ",foundation,", ",task-group,", ",nio,"]
    with gzip.open(root / "results/reference.csv.gz", "rt") as whole, gzip.open(tmp_path / "results/reference.csv.gz", "wt") as part:
        part.writelines(line for line in whole if any(arm in line for arm in arms) and any(name in line for name in [*shown, arms[0]]))
    program = Program(opbench())
    page.write_text("# No place\n")
    assert which.disagreements(program, tmp_path) == [f"{which.PAGE} has no lines {begin} and {end}"]
    page.write_text(f"# Which\n\nBefore.\n\n{begin}\n| old |\n{end}\n\nAfter.\n")
    (line,) = which.disagreements(program, tmp_path)
    assert which.PAGE in line and "'| old |' where '| benchmark | what it asks" in line
    which.write(program, tmp_path)
    written = page.read_text()
    assert which.disagreements(program, tmp_path) == [] and written.startswith("# Which\n\nBefore.") and "\nAfter.\n" in written
    # The numbers are in what the command beside them prints.
    printed = program.compared(str(tmp_path / "results/reference.csv.gz"), "task-group").lines
    row = next(line for line in written.splitlines() if "all_to_all" in line).split(" | ")
    ratio = re.search(r"\((x.*)\)", row[3])[1]
    said = [(line.backend, line.ratio.text, line.a_text) for line in printed if "all_to_all" in line.params]
    assert ("stealing", ratio, row[2]) in said
    # One digit of an earlier result.
    page.write_text(written.replace(ratio, "x1.04 [0.608, 2.69]"))
    (line,) = which.disagreements(program, tmp_path)
    assert "does not show what results/reference.csv.gz says" in line


def test_a_result_without_the_rows_of_a_page_is_refused_before_anything_is_written(published, csv, capsys):
    page = published / which.PAGE
    page.parent.mkdir(parents=True)
    page.write_text("\n".join(texts.marks(which.PART)))
    before = (published / "README.md").read_bytes()
    assert main(["--root", str(published), "publish", csv]) != 0
    assert len(capsys.readouterr().err.splitlines()) == 1 and (published / "README.md").read_bytes() == before
