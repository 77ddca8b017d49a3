"""What forks cost and gain: the picture of where forking pays, and the two tables below the pictures."""

import asking
import pytest
import synthetic

from opbench_report import charts
from opbench_report.page import fork_section

NOTHING = {"excluded_blocks": [], "failures": []}
ARMS = [("stealing", 2), ("rayon", 2)]


def fill(writer):
    """Forks that pay from some work on, more for a dearer subject, and a tree whose time a second worker halves."""
    least, more = ([("break_even_ns", "ns", lambda d, w, ns=ns: ns * d)] for ns in (400, 4000))
    for origin in ("worker", "outside"):
        params = f"from={origin}"
        writer.cell("forkjoin/break-even", params, ARMS, least, detail=f"bodies=2;{params}")
        writer.cell("forkjoin/break-even", params, ARMS[:1], more, detail=f"bodies=1024;{params}")
        writer.cell("forkjoin/break-even", params, ARMS[:1], least)
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


def test_the_least_work_that_pays_against_bodies(results):
    own = chart_of(results)
    assert [panel.title for panel in own.panels] == ["from a worker", "from outside"]
    panel = own.panels[0]
    assert panel.x.names == [(2, "2"), (1024, "1,024")]
    # Forks of rayon pay for two bodies, and for more at no size.
    assert [(str(series.arm), [mark.x for mark in series.marks]) for series in panel.series] == [
        ("stealing@2", [2, 1024]),
        ("rayon@2", [2]),
    ]
    first, second = panel.series[0].marks
    assert first.detail.startswith("2 bodies: ") and first.y_low < first.y < first.y_high
    assert second.y == pytest.approx(10 * first.y, rel=0.1)


def test_other_results_have_neither(built, facts):
    assert chart_of(facts) is None and not any(own.name == "break-even" for own in built[1])
    assert fork_section.section(facts.measured) is None


def test_the_tables_hold_each_subject_that_forks(results):
    costs, starts = fork_section.section(results.measured)
    ((title, arm, fork, over, gain, whole),) = costs["rows"]
    assert (title, arm) == ("fib fork n=25", "stealing@2")
    # A quarter of one worker's time is the plain recursion, and a second worker halves that time.
    assert float(fork.split()[0]) == pytest.approx(0.25, rel=0.05)
    assert float(gain.removeprefix("x").split()[0]) == pytest.approx(2, rel=0.05)
    assert float(whole.split()[0]) == pytest.approx(0.5, rel=0.05)
    # These rows have no time beyond the plain recursion.
    assert over == ""
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
    assert asking.report(csv, "--no-pictures", "--output", tmp_path / "made") == 0
    assert "smallest problem that pays" not in (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
