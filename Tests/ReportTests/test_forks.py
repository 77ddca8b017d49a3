"""What forks cost and gain: the picture of where forking pays, and the two tables below the pictures."""

import asking
import pytest
import synthetic

from opbench_report import charts
from opbench_report.page import fork_section

NOTHING = {"excluded_blocks": [], "failures": []}
ARMS = [("stealing", 2), ("rayon", 2)]
PROBLEMS = [(bodies, body) for bodies in (2, 1024) for body in (0, 1000, 100000) if bodies * body <= 1e7]


def fill(writer):
    """Bodies whose join costs 100 ns times the dearness, and whose time a second worker halves."""

    def ratio(bodies, body):
        serial = bodies * (body + 1)
        return lambda dearness, workers: (bodies * 100 * dearness + serial / 2) / serial

    for origin in ("worker", "outside"):
        params = f"from={origin}"
        for bodies, body in PROBLEMS:
            detail = f"bodies={bodies};body_ns={body};{params}"
            metrics = [("time_over_serial", "ratio", ratio(bodies, body))]
            writer.cell("forkjoin/break-even", params, ARMS, metrics, detail=detail)
        writer.cell(
            "forkjoin/break-even", params, ARMS, [("break_even_ns", "ns", lambda d, w: 400 * d)], detail=f"bodies=2;{params}"
        )
        writer.cell("forkjoin/break-even", params, ARMS[:1], [("break_even_ns", "ns", lambda d, w: 400 * d)])
        writer.cell("forkjoin/break-even", params, ARMS, [("worst_loss", "ratio", lambda d, w: 200 * d)])
    both = [("stealing", 1), *ARMS]
    times = [("ns_per_op", "ns", lambda d, w: 8 * d / w), ("speedup", "ratio", lambda d, w: 0.25 * w / d)]
    writer.cell("forkjoin/fib", "join=fork;n=25", both, times)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return synthetic.write(tmp_path_factory.mktemp("forks") / "forks.csv", filling=fill, outcome=NOTHING)


@pytest.fixture(scope="module")
def results(path):
    return asking.facts_of(path)


def chart_of(facts):
    return next((own for own in charts.build_all(facts)[0] if own.name == "break-even"), None)


def test_a_panel_for_each_number_of_bodies(results):
    own = chart_of(results)
    assert [panel.title for panel in own.panels] == [
        "2 bodies, from=worker",
        "1,024 bodies, from=worker",
        "2 bodies, from=outside",
        "1,024 bodies, from=outside",
    ]
    panel = own.panels[0]
    assert [(guide.kind, guide.at) for guide in panel.guides] == [("y", 1)]
    assert [str(series.arm) for series in panel.series] == ["stealing@2", "rayon@2"]
    # What has no work has a place on the logarithmic axis, and is named for what it is.
    assert [mark.x for mark in panel.series[0].marks] == [0.3, 1000, 100000]
    assert panel.x.names[0] == (0.3, "0") and len({own.x.ends for own in chart_of(results).panels}) == 1
    assert panel.series[0].marks[0].detail.startswith("0 ns: ")
    first, _, last = panel.series[0].marks
    assert first.y > 50 and last.y == pytest.approx(0.5, rel=0.1)
    assert first.y_low < first.y < first.y_high


def test_other_results_have_neither(built, facts):
    assert chart_of(facts) is None and not any(own.name == "break-even" for own in built[1])
    assert fork_section.section(facts.measured) is None


def test_the_tables_hold_each_subject_that_forks(results):
    costs, starts = fork_section.section(results.measured)
    ((title, arm, fork, gain, whole),) = costs["rows"]
    assert (title, arm) == ("fib fork n=25", "stealing@2")
    # A quarter of one worker's time is the plain recursion, and a second worker halves that time.
    assert float(fork.split()[0]) == pytest.approx(0.25, rel=0.05)
    assert float(gain.removeprefix("x").split()[0]) == pytest.approx(2, rel=0.05)
    assert float(whole.split()[0]) == pytest.approx(0.5, rel=0.05)
    assert "[" in fork and "[" in gain and "[" in whole
    assert [row[:2] for row in starts["rows"]] == [
        ("from=outside", "stealing@2"),
        ("from=outside", "rayon@2"),
        ("from=worker", "stealing@2"),
        ("from=worker", "rayon@2"),
    ]
    by_arm = {row[:2]: row[2:] for row in starts["rows"]}
    smallest, loss = by_arm["from=worker", "stealing@2"]
    assert smallest.endswith(" ns") and "[" in smallest and "[" in loss
    # A subject without such a number says so.
    assert by_arm["from=worker", "rayon@2"][0] == "never"


def test_the_page_has_them_below_the_pictures(path, tmp_path):
    assert asking.report(path, "--output", tmp_path / "made") == 0
    page = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    order = ('id="chart-break-even"', "What a fork costs and a worker gains", "smallest problem that pays")
    places = [body.index(words) for words in order]
    assert places == sorted(places)
    assert (tmp_path / "made" / "break-even.svg").exists() and body.count('<th scope="row">from=outside</th>') == 2


def test_results_without_forks_have_no_tables(csv, tmp_path):
    assert asking.report(csv, "--output", tmp_path / "made") == 0
    assert "smallest problem that pays" not in (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
