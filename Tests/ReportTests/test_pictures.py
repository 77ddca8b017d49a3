"""The pictures are whole files, the same every time, and carry what they were made from."""

import dataclasses
import os
import re
import struct
import xml.etree.ElementTree

import pytest
from asking import report

from opbench_report import paper
from opbench_report.charts.chart import Mark, Series
from opbench_report.command import source_line
from opbench_report.paper.draw import _dots_figure, _grid_figure
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
            if chart.form == "dots":
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
    beside = [{series.arm for panel in pair for series in panel.series} for pair in pairs]
    assert rows == [len(beside[place // 2]) for place in range(len(rows))] and len(set(rows)) > 1
