"""Simulated rows on the page of a report: a section of their own, which says everywhere that it is simulated."""

import json
import re

import pytest
from test_browser import CHROMIUM, DRIVER, Browser
from test_page import Outline, unpacked
from test_simulation import DEFAULT, FAST, HEADER, SLOW, row, text

from opbench_report.command import main
from opbench_report.data.simulation import Simulation
from opbench_report.page import simulation_section
from opbench_report.simulated import Simulated

HOSTILE = "stealing(<img src=x onerror=alert(1)>)"


def sweep(backend=DEFAULT):
    """Rows of six granularities on 64 workers; half of the time goes to tasks between the third and the fourth."""
    lines = []
    for work, utilisation in ((1600, 0.95), (800, 0.9), (400, 0.6), (200, 0.4), (100, 0.2), (50, 0.1)):
        values = row(backend, 64, 1, work).split(",")
        values[HEADER.index("graph")] = "tree"
        values[HEADER.index("work_ns")], values[HEADER.index("utilisation")] = str(work), str(utilisation)
        lines.append(",".join(values))
    return "\r\n".join([",".join(HEADER), *lines]) + "\r\n"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Two files: strategies at 2 and 64 workers, and a sweep of granularities."""
    folder = tmp_path_factory.mktemp("simulated")
    makespans = {DEFAULT: {2: 1000, 64: 100}, SLOW: {2: 900, 64: 130}, FAST: {2: 1000, 64: 100}, HOSTILE: {2: 1, 64: 1}}
    (folder / "s.csv").write_text(text(makespans), newline="")
    (folder / "metg.csv").write_text(sweep(), newline="")
    return [str(folder / "s.csv"), str(folder / "metg.csv")]


def made(folder, *files):
    assert main([*files, "--output", str(folder), "--no-pictures"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    return page, outline


@pytest.fixture(scope="module")
def alone(simulated, tmp_path_factory):
    return made(tmp_path_factory.mktemp("alone"), *simulated)


def test_the_section_has_sentences_tables_and_what_is_left_out(alone):
    page, _ = alone
    assert "Simulated: more workers than this machine has" in page and "The model leaves out memory" in page
    assert f"<code>{SLOW}</code> is faster than <code>{DEFAULT}</code> with 2 virtual workers" in page
    # Half of the logarithm between 400 and 200, on 64 workers of one task each.
    assert "18.1 µs" in page
    assert 'download>s.csv</a> (24 rows)' in page and 'download>metg.csv</a> (6 rows)' in page


def test_every_title_caption_legend_and_head_says_simulated(alone):
    page, _ = alone
    page = page.split("<body>")[1].split("<script")[0]
    found = re.findall(
        r"<(h[1-6]|caption|figcaption|legend|thead|summary)\b[^>]*>(.*?)</\1>",
        page,
    )
    words = [content for _, content in found]
    # The script writes the captions of pictures over a choice.
    words = [one for one in words if one]
    assert len(words) > 10
    assert [one for one in words if "imulated" not in one] == []
    for heads in re.findall(r"<thead>(.*?)</thead>", page):
        assert all("simulated" in one for one in re.findall(r"<th[^>]*>(.*?)</th>", heads))


def test_what_was_measured_is_the_same_with_simulated_rows_beside_it(csv, simulated, tmp_path):
    page, outline = made(tmp_path / "both", csv, *simulated)
    plain, without = made(tmp_path / "one", csv)
    for name in ("plots", "rows"):
        assert unpacked(outline, name) == unpacked(without, name)
    assert outline.scripts["looks"] == without.scripts["looks"]
    measured = page.split('<section id="simulated"')[0]
    assert SLOW not in measured and "s.csv" not in measured.split("</head>")[1]
    assert "imulated" not in plain.split("<style>")[0] and 'id="simulated"' not in plain
    assert 'href="#simulated"' in page


def test_names_are_text(alone, simulated):
    page, outline = alone
    assert "img" not in outline.tags
    assert "&lt;img src=x" in page
    document = json.loads(json.dumps(simulation_section.document(Simulated(simulated))))
    assert HOSTILE in document["names"]


def test_the_data_of_the_pictures(simulated):
    document = simulation_section.document(Simulated(simulated))
    assert document["names"][0] == DEFAULT and sorted(document["names"]) == sorted([DEFAULT, SLOW, FAST, HOSTILE])
    assert [(graph, [grain for grain, _ in grains]) for graph, grains in document["graphs"]] == [
        ("fft (steps=4, width=8)", ["10 µs a task"])
    ]
    marks = dict(document["graphs"][0][1][0][1])
    # Workers; efficiency, least and most; shares of work, path and scheduler; seeds.
    assert marks[0][0] == [2, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 3]
    assert [mark[0] for mark in marks[0]] == [2, 64]
    (title, counts, [[name, [[workers, nanoseconds, words]]]]), = document["sweeps"]
    assert (title, counts, name, workers, words) == ("tree (steps=4, width=8)", [64], DEFAULT, 64, "18.1 µs")
    assert nanoseconds == pytest.approx(64 * 200 * 2**0.5)


def test_a_sweep_is_kept_out_of_the_comparison(simulated):
    compared, sweeps = Simulation(simulated).parts()
    assert {place.graph for place in compared.values} == {"fft"} and {place.graph for place in sweeps.values} == {"tree"}
    assert compared.backends == [DEFAULT, SLOW, FAST, HOSTILE] and sweeps.backends == [DEFAULT]


def test_a_sweep_alone_and_one_strategy_alone(simulated, tmp_path):
    page, _ = made(tmp_path / "sweep", simulated[1])
    assert "METG(50 %), simulated" in page and "change places" not in page
    (tmp_path / "one.csv").write_text(text({SLOW: {8: 100}}), newline="")
    page, _ = made(tmp_path / "one", str(tmp_path / "one.csv"))
    assert "opbench simulate --metg" in page and "All strategies" not in page


def test_pictures_have_names_of_their_own(simulated, tmp_path, capsys):
    assert main([simulated[0], "--output", str(tmp_path), "--no-page"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["simulated-efficiency.svg", "simulated-limits.svg"]
    assert all("imulated" in path.read_text() for path in tmp_path.iterdir())
    assert "2 simulated pictures as SVG" in capsys.readouterr().err


def refused(capsys, words, *arguments):
    before = capsys.readouterr()
    assert main([str(one) for one in arguments]) in (64, 65), before
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    assert words in lines[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda whole: "", "is empty"),
        (lambda whole: whole.split("\r\n")[0] + "\r\n", "has a header and no simulated rows"),
        (lambda whole: whole.replace("simulated,1,", "simulated,2,", 1), "line 2: this is no simulated row"),
        (lambda whole: whole.replace(",steals,", ",", 1), "simulate of schema 1: there is no column steals"),
        (lambda whole: whole.split("\r\n", 1)[1], "no rows of opbench simulate of schema 1"),
        (lambda whole: whole[:-9], "the last line is cut off"),
        (lambda whole: whole.replace(",2,1,a test,", ",0,1,a test,", 1), "workers is 0, which no simulation gives"),
        (lambda whole: whole.replace(",2,1,a test,", ",2.5,1,a test,", 1), "line 2: workers is 2.5"),
        (lambda whole: whole.replace(",1000.1", ",nan", 1), "line 2: makespan_ns is nan"),
        (lambda whole: whole.replace(",1000.1", ",0", 1), "line 2: makespan_ns is 0"),
        (lambda whole: whole + whole.split("\r\n")[1] + "\r\n", "a second row for stealing with seed 1"),
    ],
)
def test_bad_input_is_one_line(capsys, csv, tmp_path, change, words):
    path = tmp_path / "bad.csv"
    path.write_text(change(text({DEFAULT: {2: 1000, 64: 100}})), newline="")
    refused(capsys, words, path, "--output", tmp_path / "out")
    refused(capsys, words, csv, path, "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options_for_measured_results_are_refused(capsys, simulated, tmp_path):
    words = "is for results of opbench run, and all files here are simulated"
    refused(capsys, f"--reference {words}", *simulated, "--reference", DEFAULT, "--output", tmp_path / "out")
    refused(capsys, f"--validation {words}", *simulated, "--validation", "x.txt", "--output", tmp_path / "out")


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium here: the section was not tried in a browser")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_draws_what_is_chosen(alone, simulated, tmp_path, width, dark):
    made(tmp_path, *simulated)
    browser = Browser((tmp_path / "report.html").as_uri(), width, 900, dark, drawn="simulated")
    try:
        assert [one for one in browser.driver.get_log("browser") if one["level"] in ("SEVERE", "WARNING")] == []
        assert browser.ask("document.documentElement.scrollWidth") <= width
        lines = "document.getElementById('simulated-efficiency').data.length"
        assert browser.ask(lines) == 4
        browser.ask("document.querySelector('#simulated input[data-strategy=\"1\"]').click()")
        browser.wait(f"{lines} === 3")
        bands = browser.ask("document.getElementById('simulated-limits').data.map(one => [one.name, one.y])")
        assert [name for name, _ in bands] == ["work, simulated", "critical path, simulated", "scheduler, simulated"]
        assert browser.ask("document.getElementById('simulated-metg-0').data[0].text") == ["18.1 µs"]
        assert browser.ask("document.querySelectorAll('#simulated-numbers tbody tr').length") == 4
        assert browser.ask("document.querySelectorAll('img').length") == 0
        select = "document.getElementById('simulated-strategy')"
        browser.ask(f"(s => {{ s.value = 2; s.dispatchEvent(new Event('change')); }})({select})")
        title = "document.getElementById('simulated-limits-title').textContent"
        name = browser.ask(f"{select}.selectedOptions[0].textContent")
        assert browser.ask(title) == f"What limits {name}, simulated: fft (steps=4, width=8), 10 µs a task"
    finally:
        browser.driver.quit()
