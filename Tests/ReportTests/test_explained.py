"""What `opbench explain` writes: its pictures, its section of the page, and what is refused."""

import gzip

import asking
import pytest
from test_page import outline_of, unpacked

from opbench_report import charts

HEADER = "explained,benchmark,parameters,subject,workers,name,words,value,low,high,even,simulated"
CELL = "dependencies/graph,pattern=tree;work_ns=0,stealing,2"
ROWS = (
    f"activity,{CELL},body,runs bodies,0.75,,,,",
    f"activity,{CELL},asleep,sleeps,0.25,,,,",
    f"part,{CELL},add,an operation is added,2.5,2,3,0.7,1.9",
    f"part,{CELL},wake,a <b>thread</b> is woken,0.01,-0.02,0.04,0.2,",
    f"part,{CELL},steal,a job is taken,,,,0.1,0.3",
)


def write(folder, *rows, header=HEADER, name="explained.csv"):
    path = folder / name
    path.write_text("".join(f"{line}\r\n" for line in (header, *rows)), newline="")
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("explained"), *ROWS)


def test_each_part_has_its_interval_and_each_activity_its_share(path):
    worth, time = charts.explained.build_all(asking.facts_of(path))
    assert [panel.title for panel in (*worth.panels, *time.panels)] == [
        "dependencies/graph pattern=tree;work_ns=0 on stealing@2"
    ] * 2
    marks = {worth.name_of(series.arm): series.marks[0] for series in worth.panels[0].series}
    # What was not measured has no mark.
    assert list(marks) == ["add", "wake"]
    assert (marks["add"].x, marks["add"].x_low, marks["add"].x_high) == (2.5, 2, 3)
    assert marks["add"].label.startswith("2.5") and worth.panels[0].x.better == "more"
    assert [series.marks[0].x for series in time.panels[0].series] == [0.75, 0.25]
    looks = {chart.name_of(arm): arm.subject.look for chart in (worth, time) for arm in chart.arms}
    assert len(set(looks.values())) == len(looks) == 4


@pytest.mark.parametrize("beside", [[], ["csv"]])
def test_the_page_has_a_section(path, tmp_path, request, beside):
    others = [request.getfixturevalue(name) for name in beside]
    assert asking.report(*others, path, "--output", tmp_path / "made") == 0
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    outline = outline_of(page)
    assert page.count('id="explained"') == 1 and "./explained.csv" in outline.addresses
    assert page.index('id="chart-explained-worth"') < page.index('id="chart-explained-time"')
    # Names in a result are text, and a part is no subject that a box hides.
    assert "a &lt;b&gt;thread&lt;/b&gt; is woken" in page and "<b>thread" not in page
    keys = [series["subject"] for plot in unpacked(outline, "plots") for band in plot.get("bands", []) for series in band["series"]]
    assert "explained add" in keys and "add" not in keys
    # The plots have no names beside the marks: a box has the mark and the name.
    assert all(page.count(f'data-subject="explained {name}"') == 1 for name in ("add", "wake", "body", "asleep"))
    assert (tmp_path / "made" / "explained-worth.svg").exists()
    assert "2.50 % [2.00 %, 3.00 %]" in page
    assert "#explained" in outline.addresses


@pytest.mark.parametrize(
    "rows, words",
    [
        ((), "has a header and no rows"),
        ((ROWS[0].replace("activity", "other"),), "line 2: this is no row of opbench explain"),
        ((ROWS[0].replace(",2,", ",0,"),), "line 2: this is no row of opbench explain"),
        ((ROWS[0].replace("0.75", "nan"),), "line 2: a number is none"),
        ((ROWS[2].replace(",2,3,", ",3,2,"),), "line 2: an interval has two ends"),
        ((ROWS[2].replace(",2,3,", ",2,,"),), "line 2: an interval has two ends"),
        ((ROWS[0], ROWS[1].replace("stealing", "threadpool")), "line 3: a file explains one benchmark on one subject"),
    ],
)
def test_bad_rows_are_one_line(tmp_path, capsys, rows, words):
    assert asking.report(write(tmp_path, *rows), "--output", tmp_path / "out") == 65
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and words in lines[0], lines
    assert not (tmp_path / "out").exists()


def test_a_packed_file_is_read(path, tmp_path):
    packed = tmp_path / "explained.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [part.saving for part in asking.facts_of(packed).explained[0].parts] == [2.5, 0.01, None]


def test_another_version_is_refused(tmp_path, capsys):
    path = write(tmp_path, ROWS[0], header=HEADER.replace("words", "text"))
    assert asking.report(path, "--output", tmp_path / "out") == 65
    assert "no rows of this version's opbench explain" in capsys.readouterr().err
