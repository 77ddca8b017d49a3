"""Simulated rows: a section of the page and a published page of their own, which say everywhere that no CPU ran
them."""

import gzip
import json
import re

import pytest
from asking import facts_of, opbench, report
from test_browser import CHROMIUM, DRIVER, Browser
from test_page import outline_of, unpacked

from opbench_report import charts
from opbench_report.page import chart_section
from opbench_report.published import simulation as published
from opbench_report.published.program import Program
from opbench_report.simulated import sentences

HEADER = (
    "kind,schema,graph,sizes,work_ns,backend,workers,seed,model,tasks,edges,makespan_ns,efficiency,utilisation,"
    "total_work_ns,critical_path_ns,limit_work_ns,limit_critical_path_ns,limit_scheduler_ns,steals,failed_searches,"
    "looks_in_vain,lost_races,from_outside,wakes,sleeps,idle_ns,rank_error_mean,rank_error_worst"
).split(",")
DEFAULT, SLOW, FAST = "stealing", "stealing(own=lifo)", "stealing(steal=half)"
HOSTILE = "stealing(<img src=x onerror=alert(1)>)"
COMPARED = {DEFAULT: {2: 1000, 64: 100}, SLOW: {2: 900, 64: 130}, FAST: {2: 1000, 64: 100}}


def row(backend, workers, seed, makespan, **others):
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
        **others,
    }
    return ",".join(str(values[name]) for name in HEADER)


def text(makespans):
    """`makespans[backend]` is {workers: makespan}; three seeds that differ a little."""
    lines = [",".join(HEADER)]
    for backend, by_workers in makespans.items():
        for workers, makespan in by_workers.items():
            lines += [row(backend, workers, seed, makespan * (1 + seed / 10000)) for seed in (1, 2, 3)]
    return "\r\n".join(lines) + "\r\n"


def sweep():
    """Rows of six granularities on 64 workers; half of the time goes to tasks between the third and the fourth."""
    points = ((1600, 0.95), (800, 0.9), (400, 0.6), (200, 0.4), (100, 0.2), (50, 0.1))
    lines = [row(DEFAULT, 64, 1, work, graph="tree", work_ns=work, utilisation=share) for work, share in points]
    return "\r\n".join([",".join(HEADER), *lines]) + "\r\n"


def write(folder, name, content):
    path = folder / name
    path.write_text(content, newline="")
    return str(path)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Two files: strategies at 2 and 64 workers, and a sweep of granularities."""
    folder = tmp_path_factory.mktemp("simulated")
    return [write(folder, "s.csv", text(COMPARED | {HOSTILE: {2: 1, 64: 1}})), write(folder, "metg.csv", sweep())]


@pytest.fixture(scope="module")
def simulated_charts(simulated):
    return charts.simulated.build_all(facts_of(*simulated), is_whole=True)


def made(folder, *files):
    assert report(*files, "--output", folder, "--no-pictures") == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    return page, outline_of(page)


@pytest.fixture(scope="module")
def alone(simulated, tmp_path_factory):
    return made(tmp_path_factory.mktemp("alone"), *simulated)


def test_the_section_has_sentences_tables_and_what_is_left_out(alone):
    page, _ = alone
    assert "Simulated: more workers than this machine has" in page and "The model leaves out memory" in page
    assert f"<code>{SLOW}</code> is faster than <code>{DEFAULT}</code> with 2 virtual workers" in page
    # Half of the logarithm between 400 and 200, on 64 workers of one task each.
    assert "18.1 µs" in page
    assert "download>s.csv</a> (24 rows)" in page and "download>metg.csv</a> (6 rows)" in page


def test_every_title_caption_legend_and_head_says_simulated(alone):
    page, _ = alone
    page = page.split("<body>")[1].split("<script")[0]
    words = re.findall(r"<(?:h[1-6]|caption|figcaption|legend|thead|summary)\b[^>]*>(.*?)</", page)
    # The script writes the captions of pictures over a choice, and a head may begin with an element.
    words = [own for own in words if re.search("[a-z]", re.sub("<[^>]*>", "", own))]
    assert len(words) > 10
    assert [own for own in words if "imulated" not in own] == []
    for heads in re.findall(r"<thead>(.*?)</thead>", page, re.DOTALL):
        assert all("simulated" in own for own in re.findall(r"<th[^>]*>(.*?)</th>", heads))


def test_a_simulated_chart_says_so(simulated_charts):
    for chart in simulated_charts:
        assert chart.simulated and "imulated" in chart.title and "imulated" in chart.caption
        for panel in chart.panels:
            assert all("simulated" in axis.label for axis in (panel.x, panel.y) if axis)


def test_what_was_measured_is_the_same_with_simulated_rows_beside_it(csv, simulated, tmp_path):
    page, outline = made(tmp_path / "both", csv, *simulated)
    plain, without = made(tmp_path / "alone", csv)
    assert unpacked(outline, "rows") == unpacked(without, "rows")
    plots, looks = unpacked(without, "plots"), unpacked(without, "looks")
    assert unpacked(outline, "plots")[: len(plots)] == plots
    assert {name: look for name, look in unpacked(outline, "looks").items() if name in looks} == looks
    measured = page.split('<section id="simulated"')[0]
    assert SLOW not in measured and "s.csv" not in measured.split("</head>")[1]
    assert "imulated" not in plain.split("<style>")[0] and 'id="simulated"' not in plain
    assert 'href="#simulated"' in page


def test_names_are_text(alone):
    page, outline = alone
    assert "img" not in outline.tags
    assert "&lt;img src=x" in page and f"simulated {HOSTILE}" in unpacked(outline, "looks")


def test_the_data_of_the_pictures(simulated_charts):
    efficiency, limits, granularity = simulated_charts
    (panel,) = efficiency.panels
    assert panel.choices == ("fft (steps=4, width=8)", "10 µs a task") and panel.title.startswith("fft, 10 µs a task")
    assert [efficiency.name_of(series.arm) for series in panel.series][0] == DEFAULT
    assert {efficiency.name_of(series.arm) for series in panel.series} == {DEFAULT, SLOW, FAST, HOSTILE}
    assert [(mark.x, mark.y) for mark in panel.series[0].marks] == [(2, 0.5), (64, 0.5)]
    assert "2 workers: 50 %, 50 % to 50 % over 3 seeds" in panel.series[0].marks[0].detail
    # A panel of bands for each strategy.
    assert [own.choices[2] for own in limits.panels] == [efficiency.name_of(series.arm) for series in panel.series]
    bands = {limits.name_of(series.arm): [mark.y for mark in series.marks] for series in limits.panels[0].series}
    assert bands == {"work": [0.5, 0.5], "critical path": [0.25, 0.25], "scheduler": [0.25, 0.25]}
    (tree,) = granularity.panels
    assert tree.title == "tree (steps=4, width=8), 64 workers"
    assert tree.series[0].marks[0].x == pytest.approx(64 * 200 * 2**0.5) and tree.series[0].marks[0].label == "18.1 µs"


def test_a_curve_that_is_never_low_or_never_high_has_words_and_no_mark(tmp_path):
    """Never lost: always above the level. Never reached: always below it."""
    points = (1600, 800, 400, 200, 100)
    lines = [
        row(name, 64, 1, work, graph="tree", work_ns=work, utilisation=share)
        for name, share in ((DEFAULT, 0.9), (SLOW, 0.3))
        for work in points
    ]
    facts = facts_of(write(tmp_path, "s.csv", "\r\n".join([",".join(HEADER), *lines]) + "\r\n"))
    cells = {own.backend: own.cells[0] for own in facts.simulated.sweeps[0].rows}
    assert (cells[DEFAULT].outcome, cells[SLOW].outcome) == ("never lost", "never reached")
    assert cells[DEFAULT].text.startswith("below ") and cells[SLOW].text == "never: 30.0 % at best"
    assert not any(chart.name == "simulated-granularity" for chart in charts.simulated.build_all(facts, is_whole=True))


def test_a_sweep_is_kept_out_of_the_comparison(simulated):
    facts = facts_of(*simulated).simulated
    assert {graph.graph for graph in facts.graphs} == {"fft"} and {own.graph for own in facts.sweeps} == {"tree"}
    assert {move.backend for move in facts.moves} == {SLOW, FAST, HOSTILE}


def test_a_sweep_alone_and_one_strategy_alone(simulated, tmp_path):
    page, _ = made(tmp_path / "sweep", simulated[1])
    assert "METG(50 %), simulated" in page and "change places" not in page
    page, _ = made(tmp_path / "single", write(tmp_path, "single.csv", text({SLOW: {8: 100}})))
    assert "opbench simulate --metg" in page and "All strategies" not in page


def test_pictures_have_names_of_their_own(simulated, tmp_path, capsys):
    assert report(*simulated, "--output", tmp_path, "--no-page") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"simulated-{name}.{kind}" for name in ("efficiency", "granularity", "limits") for kind in ("png", "svg")
    ]
    assert all("imulated" in path.read_text() for path in tmp_path.glob("*.svg"))
    assert "3 pictures as SVG and PNG" in capsys.readouterr().err


def test_looks_of_strategies_differ(simulated_charts):
    looks = [arm.subject.look for arm in simulated_charts[0].arms]
    assert len({(look.light, look.dash) for look in looks}) == len(looks) == 4
    assert set(chart_section.looks(simulated_charts)) > {f"simulated {name}" for name in (DEFAULT, SLOW, FAST)}


# What is refused.


def refused(capsys, words, *arguments):
    before = capsys.readouterr()
    assert report(*arguments) in (64, 65), before
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    assert words in lines[0]


def test_bad_input_is_one_line(capsys, csv, tmp_path):
    """`SimulatedFactsTests` has all that can be wrong."""
    path = write(tmp_path, "bad.csv", text({DEFAULT: {2: 1000, 64: 100}}).replace(",1000.1", ",nan", 1))
    refused(capsys, "line 2: makespan_ns is nan", path, "--output", tmp_path / "out")
    refused(capsys, "line 2: makespan_ns is nan", csv, path, "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_validation_is_of_measured_results(capsys, simulated, tmp_path):
    words = "--validation is for results of opbench run, and no file here is one"
    refused(capsys, words, *simulated, "--validation", "x.txt", "--output", tmp_path / "out")


# What is published.


@pytest.fixture
def results(root, tmp_path):
    record = json.loads((root / "results/simulation/strategies.env.json").read_text())
    record["arguments"] = ["/a/b/opbench", "simulate", "--model", "/a/m.json"]
    (tmp_path / "s.env.json").write_text(json.dumps(record))
    return write(tmp_path, "s.csv", text(COMPARED))


def test_a_strategy_that_changes_places_has_a_sentence(simulated):
    own = [sentence for sentence in sentences(facts_of(*simulated).simulated) if SLOW in sentence]
    assert len(own) == 1
    assert own[0].startswith(f"`{SLOW}` is faster than `{DEFAULT}` with 2 virtual workers (x0.900 [")
    assert "slower than it with 64 (x1.30 [" in own[0]


def test_the_page_and_its_figures_say_that_they_are_simulated(results, tmp_path):
    root, program = tmp_path / "root", Program(opbench())
    published.FOLDER.publish(program, [results], str(root))
    folder = root / published.FOLDER.name
    page = (folder / "README.md").read_text()
    assert "hypotheses until a machine with 16 CPUs" in page
    assert "No CPU ran these tasks" in page and "What the model leaves out" in page
    assert "Of 2 other strategies 1 change places" in page
    assert "opbench simulate --model m.json" in page and "/a/" not in page
    for figure in ("efficiency.svg", "limits.svg"):
        assert "imulated" in (folder / figure).read_text()
    assert published.FOLDER.disagreements(program, str(root)) == []
    (folder / "s.csv.gz").write_bytes(gzip.compress(text({DEFAULT: {2: 1, 64: 2}, SLOW: {2: 1, 64: 3}}).encode()))
    assert len(published.FOLDER.disagreements(Program(opbench()), str(root))) == 3


@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium here: the section was not tried in a browser")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_draws_what_is_chosen(simulated, tmp_path, width, dark):
    made(tmp_path, *simulated)
    browser = Browser((tmp_path / "report.html").as_uri(), width, 900, dark)
    try:
        assert [entry for entry in browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
        assert browser.ask("document.documentElement.scrollWidth") <= width
        lines = "document.getElementById('plot-0').data.filter(one => one.visible).length"
        assert browser.ask(lines) == 4
        browser.ask(f"document.querySelector('#simulated input[data-subject=\"simulated {SLOW}\"]').click()")
        browser.wait(f"{lines} === 3")
        bands = browser.ask("document.getElementById('plot-1').data.map(one => [one.name, one.y])")
        assert [name for name, _ in bands] == ["work, simulated", "critical path, simulated", "scheduler, simulated"]
        assert "18.1 µs" in browser.ask("document.getElementById('plot-2').textContent")
        assert browser.ask("document.querySelectorAll('img').length") == 0
        title = "document.getElementById('plot-1-title').textContent"
        assert browser.ask(title) == f"{DEFAULT}: fft, 10 µs a task (steps=4, width=8)"
        select = "document.querySelectorAll('select[data-plot=\"1\"]')[2]"
        browser.ask(f"(s => {{ s.value = '{SLOW}'; s.dispatchEvent(new Event('change')); }})({select})")
        browser.wait(f"{title} === '{SLOW}: fft, 10 µs a task (steps=4, width=8)'")
        assert browser.ask("getComputedStyle(document.querySelector('.strategies .line')).borderTopWidth") == "3px"
    finally:
        browser.driver.quit()
