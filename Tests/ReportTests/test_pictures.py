"""The pictures are whole files, the same every time, and carry what they were made from."""

import dataclasses
import os
import re
import struct
import xml.etree.ElementTree

import pytest
from asking import report

from opbench_report import paper
from opbench_report.charts.chart import Axis, Chart, Guide, Mark, Panel, Series
from opbench_report.charts.heat import Heat, Tile
from opbench_report.command import source_line
from opbench_report.paper.draw import _dots_figure, _grid_figure, _heat_figure
from opbench_report.paper.lines import alike
from opbench_report.paper.style import PARAMETERS, pyplot


@pytest.fixture(scope="module")
def folder(csv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    assert report(csv, "--output", str(folder), "--no-page") == 0
    return folder


def test_every_chart_has_two_files(folder, built):
    wanted = sorted(f"{one.name}.{kind}" for one in built[0] for kind in ("png", "svg"))
    assert sorted(os.listdir(folder)) == wanted


def test_svg_is_well_formed_and_names_its_source(folder, results):
    for name in os.listdir(folder):
        if name.endswith(".svg"):
            content = (folder / name).read_text()
            assert xml.etree.ElementTree.fromstring(content).tag.endswith("svg")
            assert results.sources[0].digest in content
            assert "http" not in content.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
                "http://creativecommons.org", ""
            ).replace("https://matplotlib.org", "")


def test_svg_follows_the_dark_mode(folder):
    """Every colour on it has a rule, so that nothing stays dark on dark."""
    for name in os.listdir(folder):
        if name.endswith(".svg"):
            content = (folder / name).read_text()
            (rules,) = re.findall(r"@media \(prefers-color-scheme: dark\)\{(.*?)\}</style>", content)
            used = set(re.findall(r"(?:fill|stroke): #[0-9a-f]{6}", content.replace(rules, "")))
            assert len(used) > 5 and used == set(re.findall(r'\[style\*="([^"]*)"\]', rules)), name
            # Black is what a text has that names no colour.
            assert not re.search(r"<text(?![^>]*fill: #)", content), name


def test_every_panel_has_tick_labels(built):
    for chart in built[0]:
        with pyplot.rc_context(PARAMETERS):
            figure = _dots_figure(chart) if chart.form == "dots" else _grid_figure(chart)
            figure.canvas.draw()
        assert len(figure.axes) == len(chart.panels)
        for axes in figure.axes:
            labels = [label for label in axes.get_xticklabels() if label.get_text()]
            assert labels, chart.name
            boxes = [label.get_window_extent() for label in labels]
            assert all(a.x1 < b.x0 for a, b in zip(boxes, boxes[1:])), (chart.name, axes.get_title(loc="left"))
        pyplot.close(figure)


@pytest.mark.parametrize("panels", [1, 2, 4])
def test_the_legend_of_metg_has_a_place_of_its_own(built, panels):
    """Also beside a curve that goes far to the right and stays low."""
    (chart,) = [one for one in built[0] if one.name == "granularity"]
    (panel,) = chart.panels
    end = max(mark.x for one in panel.series for mark in one.marks)
    low = Series(panel.series[0].arm, [Mark(end * (1 - step / 20), 0.02 + step / 40) for step in range(10)])
    panel = dataclasses.replace(panel, series=[*panel.series, low])
    chart = dataclasses.replace(chart, panels=[panel] * panels)
    with pyplot.rc_context(PARAMETERS):
        figure = _grid_figure(chart)
        figure.canvas.draw()
        for axes in figure.axes:
            place = axes.get_legend().get_window_extent()
            marks = [axes.transData.transform((mark.x, mark.y)) for one in panel.series for mark in one.marks]
            assert marks and not [mark for mark in marks if place.contains(*mark)]
        pyplot.close(figure)


def test_png_is_large_enough_to_print(folder):
    for name in os.listdir(folder):
        if name.endswith(".png"):
            content = (folder / name).read_bytes()
            width, _ = struct.unpack(">II", content[16:24])
            assert content.startswith(b"\x89PNG") and width >= 1400


def test_the_same_result_gives_the_same_bytes(folder, built, results, tmp_path):
    for chart in built[0]:
        if chart.name in ("overhead", "latency", "granularity"):
            paper.render(chart, tmp_path, source_line(results.sources))
    assert len(os.listdir(tmp_path)) == 6
    for name in os.listdir(tmp_path):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_marks_at_the_same_percentile_stand_side_by_side(built):
    """No mark and no interval hides another."""
    latency = next(one for one in built[0] if one.name == "latency")
    with pyplot.rc_context(PARAMETERS):
        figure = _grid_figure(latency)
        starts = [line.get_xdata()[0] for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
        pyplot.close(figure)
    assert len(starts) == len(latency.panels[0].series) > 2 and len(set(starts)) == len(starts)


def test_a_row_of_panels_has_no_rows_for_subjects_without_a_mark(built):
    overview = next(one for one in built[0] if one.name == "overview")
    with pyplot.rc_context(PARAMETERS):
        figure = _dots_figure(overview)
        rows = [len(axes.get_yticks()) for axes in figure.axes]
        pyplot.close(figure)
    pairs = [overview.panels[at : at + 2] for at in range(0, len(rows), 2)]
    own = [[{series.arm for series in panel.series} for panel in pair] for pair in pairs]
    # Two that differ have rows of their own.
    assert rows == [len(each) for pair in own for each in pair] and len(set(rows)) > 1


def _drawn(chart):
    with pyplot.rc_context(PARAMETERS):
        figure = {"dots": _dots_figure, "heat": _heat_figure}.get(chart.form, _grid_figure)(chart)
        figure.canvas.draw()
        pyplot.close(figure)
    return figure


def _arms(built, count):
    return sorted({series.arm for panel in built[0][0].panels for series in panel.series})[:count]


def _texts(figure):
    return [text.get_text() for text in [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]]


def test_a_panel_ends_with_its_last_subject_level_with_the_names(built):
    arms = _arms(built, 2)
    panels = [
        Panel(title, [Series(arm, [Mark(1.5, label="x1.5")]) for arm in own], Axis("time", "ns", True))
        for title, own in (("both", arms), ("one", arms[:1]), ("other", arms[:1]))
    ]
    figure = _drawn(Chart("c", "f", "t", "", "dots", panels))
    assert "–" not in _texts(figure)
    levels = [axes.transData.transform((1.5, 0))[1] for axes in figure.axes]
    assert max(levels) - min(levels) < 1e-6 and figure.axes[0].get_position().y0 < figure.axes[1].get_position().y0


def test_panels_without_a_subject_in_common_are_no_dashes(built):
    first, second = _arms(built, 2)
    panels = [
        Panel(title, [Series(arm, [Mark(1.5, label="x1.5")])], Axis(f"beside {title}", "ratio", True), guides=[Guide("x", 1, "")])
        for title, arm in (("one", first), ("two", second))
    ]
    figure = _drawn(Chart("c", "f", "t", "", "dots", panels, columns=2))
    assert "–" not in _texts(figure)
    names = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert names == [[str(first)], [str(second)]]
    # The names of the second stand behind the end of the first.
    left, right = figure.axes
    assert right.get_yticklabels()[0].get_window_extent().x0 > left.get_window_extent().x1


def test_a_unit_without_scales_stands_behind_each_tick(built):
    """As the ms of a program's own metric, and what the dashed line is stands there once."""
    (arm,) = _arms(built, 1)
    panels = [
        Panel(title, [Series(arm, [Mark(at, label=f"{at} ms")])], Axis("shown", "ms", True), guides=[Guide("x", 90, "stealing")])
        for title, at in (("p50", 20), ("p99", 3000))
    ]
    figure = _drawn(Chart("c", "f", "t", "", "dots", panels, columns=2, units={"ns": [[0, " ns"]]}))
    ticks = [label.get_text() for axes in figure.axes for label in axes.get_xticklabels()]
    assert len(ticks) > 3 and all(text.endswith(" ms") for text in ticks), ticks
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["p50", "p99"]
    assert any(text.endswith("dashed: stealing)") for text in _texts(figure))


@pytest.mark.parametrize("places", [(0, 1, 2, 4, 8, 16, 32, 64), (1000, 10_000, 100_000, 1_000_000), (15, 25), (0, 5)])
def test_places_of_a_parameter_do_not_collide(built, places):
    from opbench_report.charts import cost_curves
    from opbench_report.facts import Line, Record

    arms = _arms(built, 2)
    lines = []
    for place in places:
        facts = Record(numbers={"size": place}, words="time", unit="ns", better="less", short="b")
        cells = {arm: Record(value=300 + place % 7, low=None, high=None, interval_text="1 ns", n=6) for arm in arms}
        lines.append(Line(facts, cells))
    panel = cost_curves._panel("size", "", lines)
    figure = _drawn(Chart("c", "f", "t", "", "lines", [panel] * 3))
    for axes in figure.axes:
        labels = [label for label in axes.get_xticklabels() if label.get_text()]
        boxes = [label.get_window_extent() for label in labels]
        assert all(a.x1 < b.x0 for a, b in zip(boxes, boxes[1:])), [label.get_text() for label in labels]
        assert len(labels) >= min(4, len(places)) and not [label for label in labels if "e+" in label.get_text()]
        assert len([label for label in axes.get_yticklabels() if label.get_text()]) > 1


def test_curves_that_lie_on_each_other_are_one(built):
    arms = _arms(built, 4)
    curves = [[Mark(2, 0.99), Mark(8, 0.985), Mark(32, 0.97 - 0.2 * place), Mark(128, 0.5)] for place in range(len(arms))]
    panel = Panel("g", [Series(arm, marks) for arm, marks in zip(arms, curves)], Axis("w", log=True), Axis("e", ends=(0, 1.05)))
    simulated = Chart("c", "f", "t", "", "lines", [panel], kind="simulated")
    assert alike(panel, simulated) == 2 and alike(panel, dataclasses.replace(simulated, kind="measured")) == 0
    figure = _drawn(simulated)
    # Left of 32 workers there are only the line for all, and the curves from 8 on.
    (axes,) = figure.axes
    assert sum(min(line.get_xdata()) < 8 for line in axes.get_lines() if len(line.get_xdata())) == 1
    assert "all alike" in [text.get_text() for text in figure.legends[0].get_texts()]
    apart = dataclasses.replace(panel, series=[panel.series[0]])
    assert alike(apart, simulated) == 0


def test_the_key_of_a_heat_map_stands_above_it():
    rows = [f"change={place}" for place in range(60)]
    panel = Heat("with 2 workers", rows=rows, columns=["all", "latency"], legend="● sure.")
    panel.tiles = {(row, column): Tile(1, "+5", "●", "") for row in range(60) for column in range(2)}
    panel.groups, panel.sizes = [(0, 60, None)], [None, None]
    figure = _drawn(Chart("c", "f", "What each decision is worth", "", "heat", [panel]))
    height = figure.get_figheight()
    key = [text.get_position()[1] * height for text in figure.texts if "per cent" in text.get_text() or "●" in text.get_text()]
    title = next(text for text in figure.texts if text.get_text() == "with 2 workers").get_position()[1] * height
    assert len(key) >= 3 and min(key) > title and any("Grey:" in text for text in _texts(figure))
