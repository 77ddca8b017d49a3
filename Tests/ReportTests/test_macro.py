"""The page about the image pipeline says what its rows say."""

import json

import pytest
import synthetic
from asking import opbench
from test_published import check

from opbench_report.published import macro
from opbench_report.published.__main__ import main as published_main
from opbench_report.published.program import Program

# Milliseconds from visible to shown at the 99th percentile.
ARMS = {
    "stealing": 500, "tasks": 1_000, "foundation": 505, "tasks-ordered": 515, "without-limit": 750, "without-cancelling": 4_000,
    "without-priorities": 650,
}  # fmt: skip


def fill(writer):
    for params in ("network=wifi", "network=lte"):
        for block in range(1, writer.blocks + 1):
            for arm, time in ARMS.items():
                writer.process += 1
                slower = (2 if params.endswith("lte") else 1) * (1 + block / 1_000)
                for name, unit, number in (
                    ("ns_per_op", "ns", 6e9),
                    ("shown_p50", "ms", time / 2 * slower),
                    ("shown_p99", "ms", time * slower),
                    ("shown_in_100ms", "ratio", 0.05),
                    ("threads_peak", "count", 12),
                    ("cpu_time", "s", 1.6 if arm == "tasks-ordered" else 2),
                ):
                    writer.add("pictures/session", params, (arm, 1), (name, unit, number), block, 1, count=1)
        writer.cells += [f"pictures/session on {arm}@1 ({params})" for arm in ARMS]


@pytest.fixture()
def sessions(tmp_path):
    path = synthetic.write(tmp_path / "sessions.csv", blocks=8, filling=fill)
    beside = tmp_path / "sessions.env.json"
    record = json.loads(beside.read_text())
    record["arguments"] = ["/somewhere/macrobench", "run", "--subject", "stealing,tasks"]
    record["reference"] = "stealing"
    record["subjects"] = [{"name": arm, "role": "ours", "summary": arm} for arm in ARMS]
    record["metrics"] |= {name: {"words": name, "better": "less"} for name in ("shown_p50", "shown_p99")}
    beside.write_text(json.dumps(record))
    return str(path)


def main(*arguments):
    return published_main(["--opbench", opbench(), *map(str, arguments)])


def row(page, heading, name):
    """Returns the cells of a row of the first table behind a heading, by the words of the columns."""
    lines = page.split(f"## {heading}\n", 1)[1].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return next(dict(zip(table[0], cells)) for cells in table[1:] if cells[0] == name)


def test_the_page_has_each_session_and_each_arm(sessions, tmp_path):
    root = tmp_path / "checkout"
    root.mkdir()
    assert main("--root", root, "macro", sessions) == 0
    page = (root / "results/macro/README.md").read_text()
    # The page begins with what the numbers teach.
    lesson = page.splitlines()[2]
    assert all(part in lesson for part in ("x8.00", "x1.30", "x2.00", "within 3 %", "x0.800")), lesson
    assert "Made by `macrobench run --subject stealing,tasks`" in page
    assert row(page, "A scroll on Wi-Fi", "`tasks`")["p99"].endswith("(x2.00 [2.00, 2.00])")
    assert row(page, "A scroll on LTE", "`stealing`")["p99"].startswith("1005 ms")
    assert "x" not in row(page, "A scroll on Wi-Fi", "`stealing`")["p99"]
    # A feature that is left out stands in a table of its own, beside the pipeline with everything.
    with pytest.raises(StopIteration):
        row(page, "A scroll on Wi-Fi", "`without-limit`")
    assert row(page, "Without a feature of the pipeline", "without limit")["p99"].endswith("(x1.50 [1.50, 1.50])")
    assert row(page, "Without a feature of the pipeline", "with everything")["threads"].startswith("12")
    # Nobody measured decodings here.
    assert "decoded for nothing" not in page
    assert (root / "results/macro/shown.svg").stat().st_size > 1_000


def test_the_checker_finds_a_page_that_says_something_else(sessions, tmp_path, capsys):
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "README.md").write_text("# opbench\n")
    main("--root", root, "macro", sessions)
    page = root / "results/macro/README.md"
    page.write_text(page.read_text().replace("x2.00", "x1.00"))
    capsys.readouterr()
    code, lines = check(root, capsys)
    assert code == 1 and any("results/macro/README.md is not what the rows beside it say" in line for line in lines)
    check(root, capsys, "--write")
    assert not [line for line in check(root, capsys)[1] if "macro" in line]


def test_other_results_are_refused(csv, tmp_path, capsys):
    assert main("--root", tmp_path, "macro", csv) == 65
    assert "no session of macrobench was measured here" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_each_panel_has_the_arms_and_the_reference(sessions):
    chart = macro.chart(Program(opbench()).facts(sessions))
    assert [panel.title for panel in chart.panels] == [
        "A scroll on Wi-Fi: p50",
        "A scroll on Wi-Fi: p99",
        "A scroll on LTE: p50",
        "A scroll on LTE: p99",
    ]
    assert all([guide.label for guide in panel.guides] == ["stealing"] for panel in chart.panels)
    assert {chart.name_of(series.arm) for series in chart.panels[0].series} == set(ARMS)
