"""The picture of slowdowns against loads."""

import asking
import pytest
import synthetic

from opbench_report import charts

NOTHING = {"excluded_blocks": [], "failures": []}
ARMS = [("stealing", 1), ("stealing", 2), ("raw-dispatch", 2)]


def fill(writer):
    """Slowdowns that grow with the load, in two kinds of services, above those of a queue without cost."""
    for service, times in (("fixed", 1), ("bimodal", 10)):
        for load in (70, 10):
            params = f"load={load};long=same;service={service}"
            own = [("slowdown_p999", "ratio", lambda d, w, load=load, times=times: load * times * d)]
            ideal = [("ideal_slowdown_p999", "ratio", lambda d, w, load=load, times=times: load * times / 10 / w)]
            writer.cell("latency/slowdown", params, ARMS, own + ideal)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return synthetic.write(tmp_path_factory.mktemp("slowdown") / "slowdown.csv", filling=fill, outcome=NOTHING)


@pytest.fixture(scope="module")
def chart(path):
    return next(own for own in charts.build_all(asking.facts_of(path))[0] if own.name == "slowdown")


def test_a_panel_for_each_kind_of_requests(chart):
    assert [panel.title for panel in chart.panels] == ["service=bimodal", "service=fixed"]
    panel = chart.panels[1]
    names = [str(series.arm) for series in panel.series]
    assert names == ["stealing@2", "raw-dispatch@2", "queue without cost@2"]
    assert all([mark.x for mark in series.marks] == [10, 70] for series in panel.series)
    assert [guide.at for guide in panel.guides] == [10] and panel.y.better == "less"


def test_the_queue_without_cost_has_as_many_servers(chart):
    # With one worker the queue would be twice as high.
    assert [mark.y for mark in chart.panels[1].series[-1].marks] == pytest.approx([0.5, 3.5], rel=0.1)


def test_the_page_has_the_picture(path, tmp_path):
    assert asking.report(path, "--output", tmp_path / "made") == 0
    assert 'id="chart-slowdown"' in (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "made" / "slowdown.svg").exists()
