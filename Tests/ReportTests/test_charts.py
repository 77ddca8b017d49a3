"""Charts show the numbers of their cells, and say what is missing."""

import itertools
import json
import math
import re

import pytest
import synthetic
from asking import facts_beside, facts_of

from opbench_report import charts, findings, subjects
from opbench_report.charts.chart import Guide
from opbench_report.charts.ticks import is_crowded, limits, ticks
from opbench_report.facts import Record
from opbench_report.published import headline


def chart(built, name):
    return next(one for one in built[0] if one.name == name)


def test_a_whole_result_gives_every_chart(built):
    assert [one.name for one in built[0]] == [
        "overview",
        "overhead",
        "cost-curves",
        "cpu-cost",
        "footprint",
        "scaling",
        "dependencies",
        "granularity",
        "replay",
        "rank-error",
        "wait-by-level",
        "cancellation",
        "latency",
        "forkjoin",
        "blocking",
    ]
    # Nothing but the changes of strategies, which a run of their own measures.
    assert [one.name for one in built[1]] == ["ablation"]


def test_overhead_shows_medians_intervals_and_ratios(built, results):
    panel = next(panel for panel in chart(built, "overhead").panels if panel.title == "external-add")
    line = results.line("overhead/external-add", "ops=10000", "ns_per_op")
    assert [series.arm.subject.name for series in panel.series] == [
        "stealing",
        "threadpool",
        "stealing-bare",
        "foundation",
        "raw-dispatch",
        "rayon",
    ]
    for series in panel.series:
        cell = line.cells[series.arm]
        (mark,) = series.marks
        assert (mark.x, mark.x_low, mark.x_high) == (cell.value, cell.low, cell.high)
        assert ("x" in mark.label) == (series.arm.subject.name != "foundation")


def test_metg_lies_on_the_curve(built, results):
    (panel,) = chart(built, "granularity").panels
    for series in panel.series:
        metg = results.select("dependencies/metg", "metg50_ns")[0].cells[series.arm].value
        (special,) = [mark for mark in series.marks if mark.label]
        curve = [mark for mark in series.marks if not mark.label]
        assert special.x == metg and special.y == 0.5 and len(curve) == 14
        # By the definition of the synthetic sweep: granularity g has efficiency g / (g + overhead), METG is twice the
        # overhead.
        for mark in curve:
            assert mark.y == pytest.approx((mark.x - metg / 2) / mark.x, abs=0.05)


def test_replay_has_both_bounds(built):
    (panel,) = chart(built, "replay").panels
    assert [guide.at for guide in panel.guides] == [1, pytest.approx(0.55, rel=0.1)]


def test_scaling_has_a_mark_per_number_of_workers(built):
    (panel,) = chart(built, "scaling").panels
    assert {series.arm.subject.name for series in panel.series} == {"stealing", "threadpool"}
    assert all([mark.x for mark in series.marks] == [1, 2] for series in panel.series)


def test_cpu_cost_is_a_row_for_each_subject(built, results):
    """As many marks as subjects, however many benchmarks, and each the mean of the family."""
    own = chart(built, "cpu-cost")
    assert [panel.title for panel in own.panels][:2] == ["overhead: time", "overhead: CPU time"]
    for panel in own.panels:
        assert all(len(series.marks) == 1 for series in panel.series)
        assert len({series.arm.subject for series in panel.series}) == len(panel.series) > 1
    lines = results.select(family="forkjoin", metric="cpu_ns_per_op")
    (line,), panel = lines, next(panel for panel in own.panels if panel.title == "forkjoin: CPU time")
    for series in panel.series:
        ratio, (mark,) = line.cells[series.arm].ratio, series.marks
        assert mark.x == pytest.approx(ratio.value) and mark.x_low < mark.x < mark.x_high
        busy = float(re.search(r"([0-9.]+) CPUs busy", mark.detail).group(1))
        # As the synthetic times have it.
        assert busy == pytest.approx(1.6, rel=0.05)


def test_without_foundation_there_is_no_cpu_cost(tmp_path):
    def fill(writer):
        times = [("ns_per_op", "ns", lambda d, w: 100 * d), ("cpu_ns_per_op", "ns", lambda d, w: 160 * d)]
        writer.cell("forkjoin/fib", "n=15", [("stealing", 2), ("threadpool", 2)], times)

    path = synthetic.write(tmp_path / "alone.csv", filling=fill, outcome={"excluded_blocks": [], "failures": []})
    missing = charts.build_all(facts_of(path))[1]
    assert any(one.name == "cpu-cost" and "beside foundation" in one.lacks for one in missing)


def test_axes_say_their_scale_and_their_better_side(built):
    axes = {one.name: one.panels[0].x if one.form == "dots" else one.panels[0].y for one in built[0]}
    assert axes["overview"].note == axes["overhead"].note == "log scale, ← less is better"
    assert axes["granularity"].note == axes["replay"].note == "more is better →"
    assert chart(built, "granularity").panels[0].x.note == "log scale, ← less is better"
    # Low priorities ought to wait.
    assert "better" not in axes["wait-by-level"].note
    for one in built[0]:
        for axis in (axis for panel in one.panels for axis in (panel.x, panel.y) if axis is not None):
            assert axis.log == ("log scale" in axis.note)


def test_missing_data_names_the_run_that_gives_it(tmp_path):
    def little(writer):
        writer.cell(
            "overhead/external-add",
            "ops=1",
            [("stealing", 2), ("foundation", 2)],
            [("ns_per_op", "ns", lambda d, w: 5.0 * d)],
        )

    path = synthetic.write(tmp_path / "little.csv", filling=little, outcome={"excluded_blocks": [], "failures": []})
    made, missing = charts.build_all(facts_of(path))
    assert [one.name for one in made] == ["overview", "overhead"]
    for one in missing:
        assert re.match("opbench (run|ablate) ", one.command) and "\n" not in str(one) and one.lacks in str(one)


def test_results_with_different_workers_keep_all_their_subjects(tmp_path):
    """The widest arm is chosen on each line: a subject that had fewer workers in one of two runs is still there."""

    def run(name, workers, benchmark):
        def fill(writer):
            arms = [(subject, workers) for subject in ("stealing", "threadpool", "foundation")]
            for size in (10, 20):
                writer.cell(benchmark, f"n={size}", arms, [("ns_per_op", "ns", lambda d, w: 100 * d)])

        nothing = {"excluded_blocks": [], "failures": []}
        return str(synthetic.write(tmp_path / f"{name}.csv", run=name, filling=fill, outcome=nothing))

    paths = [run("wide", 4, "overhead/external-add"), run("narrow", 2, "forkjoin/fib")]
    facts = facts_of(*paths)
    made = {chart.name: chart for chart in charts.build_all(facts)[0]}
    subjects_of = lambda name, panel: [str(series.arm) for series in made[name].panels[panel].series]
    for name, workers, panels in (("overhead", 4, 2), ("forkjoin", 2, 2)):
        wanted = [f"{subject}@{workers}" for subject in ("stealing", "threadpool", "foundation")]
        assert [subjects_of(name, panel) for panel in range(panels)] == [wanted] * panels
    assert [subjects_of("cost-curves", panel)[0] for panel in (0, 1)] == ["stealing@4", "stealing@2"]
    # No mean over both runs: none of these arms was measured in both.
    assert [subjects_of("overview", panel) for panel in range(3)] == [
        ["stealing@2", "threadpool@2"],
        ["stealing@2", "threadpool@2"],
        ["stealing@4", "threadpool@4"],
    ]
    topics = {one.topic: one for one in findings.findings(facts.measured)}
    assert topics["Fork and join"].choice == topics["Many small operations"].choice == "stealing"


def test_panels_that_share_ticks_share_their_scale(built, tmp_path):
    def fill(writer):
        for subject, mean, most in (("stealing", 2, 60), ("foundation", 200, 300)):
            readings = [(name, "operations", lambda d, w, at=at: at) for name, at in _errors(mean, most)]
            writer.cell("priority/rank-error", "ops=9", [(subject, 2)], readings)

    path = synthetic.write(tmp_path / "errors.csv", filling=fill, outcome={"excluded_blocks": [], "failures": []})
    errors = charts.build_all(facts_of(path))
    assert [panel.x.log for panel in chart(errors, "rank-error").panels] == [True, True]
    for one in (one for one in errors[0] + built[0] if one.form == "dots"):
        scales = {(panel.x.label, panel.x.unit, panel.x.log) for panel in one.panels}
        assert len(scales) == len({scale[:2] for scale in scales}), one.name


def _errors(mean, most):
    return (("rank_error_mean", mean), ("rank_error_max", most))


# Every role, and as many subjects of each as there are now.
MANY = [("ours", 3), ("bare", 3), ("standingReference", 2), ("reference", 3), ("baseline", 1), ("peer", 3)]


def many():
    """(names by role, the subjects of a program with many subjects)."""
    names = {role: [f"{role}-{place}" for place in range(count)] for role, count in MANY}
    names["bare"] = [f"{name}-bare" for name in names["ours"]]
    records = [{"name": name, "role": role, "summary": ""} for role, own in names.items() for name in own]
    return names, listed(records, names["standingReference"][0])


def listed(records, reference=None):
    """Subjects as a document of facts lists them."""
    return subjects.Subjects([Record(record) for record in records], reference)


def test_looks_differ_without_colour():
    names, own = many()
    looks = [own[name].look for names in names.values() for name in names]
    for a, b in itertools.combinations(looks, 2):
        assert (a.marker, a.hollow) != (b.marker, b.hollow)
    for queue, bare in zip(names["ours"], names["bare"]):
        assert own[bare].look.light == own[queue].look.light and own[bare].look.hollow


def test_what_stands_side_by_side_looks_different():
    """The one that this came from, by all that tells them apart; and the others by their colour."""
    names, own = many()
    one, other = own[names["standingReference"][1]].look, own[names["peer"][1]].look
    assert one.dash != other.dash and {one.marker, other.marker} != {"v", ">"}
    usual = [own[name] for role in ("ours", "standingReference", "peer") for name in names[role]]
    for a, b in itertools.combinations(usual, 2):
        for paper in ("light", "dark"):
            least = 40 if {a.look, b.look} == {one, other} else 18
            colours = [_lab(getattr(subject.look, paper)) for subject in (a, b)]
            assert math.dist(*colours) >= least, (a, b, paper)


def test_a_subject_looks_the_same_whatever_else_was_measured():
    records = [{"name": name, "role": "ours", "summary": ""} for name in ("a", "b", "c")]
    measured = [record | {"was_measured": record["name"] == "c"} for record in records]
    assert listed(measured)["c"].look == listed(records)["c"].look


def test_subjects_that_no_result_describes_are_drawn_like_any_other():
    names = [f"s{place:02}" for place in range(30)]
    looks = [subject.look for subject in listed([{"name": name, "role": ""} for name in names])]
    assert len(set(looks[:10])) == 10 and len(looks) == 30
    # Beside a program that describes others, they stand last.
    both = listed([{"name": "z", "role": "ours"}, {"name": "a", "role": ""}])
    assert both["z"] < both["a"] and both["z"].look != both["a"].look


def described(tmp_path, change=None):
    """A result of one scenario with three times in it, whose environment is changed, or is not there."""

    def fill(writer):
        times = [(f"{name}_ns", "ns", lambda d, w, at=at: at * d) for name, at in (("zeit", 5), ("dauer", 7))]
        times.append(("anteil", "ratio", lambda d, w: 1 / d))
        for subject in ("stealing", "raw-dispatch", "foundation"):
            for block in range(1, writer.blocks + 1):
                writer.process += 1
                for name, unit, value in times:
                    number = value(synthetic.SUBJECTS[subject][0], 2)
                    writer.add("overhead/x", "", (subject, 2), (name, unit, number), block, 1)

    nothing = {"excluded_blocks": [], "failures": []}
    path = synthetic.write(tmp_path / "own.csv", filling=fill, outcome=nothing, with_environment=change is not None)
    if change:
        beside = tmp_path / "own.env.json"
        record = json.loads(beside.read_text())
        change(record)
        beside.write_text(json.dumps(record))
    return str(path)


def test_facts_are_those_of_the_results(tmp_path):
    def change(record):
        record["reference"] = "raw-dispatch"
        record["primary_times"] = {"overhead/x": "dauer_ns"}
        record["metrics"] = {"dauer_ns": {"words": "how long", "better": "more"}, "anteil": {"words": "how even"}}
        record["subjects"].reverse()

    facts = facts_of(described(tmp_path, change))
    results = facts.measured
    (line,) = results.primary_lines()
    assert (line.metric, line.words, line.better) == ("dauer_ns", "how long", "more")
    assert results.line("overhead/x", "", "anteil").better is None
    assert [arm.subject.name for arm in results.arms] == ["raw-dispatch", "foundation", "stealing"]
    assert {cell.ratio.against.subject.name for cell in line.cells.values() if cell.ratio} == {"raw-dispatch"}
    (overview,) = [chart for chart in charts.build_all(facts)[0] if chart.name == "overview"]
    assert overview.title == "How much of raw-dispatch's time does each subject take?"


def test_results_without_facts_are_shown_by_rules(tmp_path):
    def fill(writer):
        times = [("ns_per_op", "ns", lambda d, w: 100 * d), ("anteil", "ratio", lambda d, w: 1 / d)]
        writer.cell("overhead/x", "ops=9", [(name, 2) for name in ("stealing", "raw-dispatch", "foundation")], times)

    path = synthetic.write(tmp_path / "own.csv", filling=fill, with_environment=False)
    facts = facts_of(path)
    results = facts.measured
    assert results.reference is None and [line.metric for line in results.primary_lines()] == ["ns_per_op"]
    assert {line.metric: line.better for line in results.lines} == {"ns_per_op": "less", "anteil": None}
    made, missing = charts.build_all(facts)
    assert [chart.name for chart in made] == ["overhead"] and "x is the" not in made[0].caption
    assert "no result names the subject to compare with" in str(next(chart for chart in missing if chart.name == "overview"))
    assert [finding.choice for finding in findings.findings(results)] == ["stealing", "stealing"]
    # Who asks for a reference gets ratios.
    facts = facts_beside("raw-dispatch", path)
    assert "overview" in [chart.name for chart in charts.build_all(facts)[0]]
    cells = [cell for line in facts.measured.lines for cell in line.cells.values()]
    assert {str(cell.ratio.against) for cell in cells if cell.ratio} == {"raw-dispatch@2"}


def test_a_program_of_ones_own_stands_beside_nothing(tmp_path):
    def change(record):
        record["reference"] = "stealing"
        record["subjects"] = [{"name": "stealing", "role": "ours", "summary": "this program", "gives_up": []}]
        record["primary_times"] = {"overhead/x": "zeit_ns"}

    path = described(tmp_path, change)
    lines = [line for line in open(path, encoding="utf-8") if ",raw-dispatch," not in line and ",foundation," not in line]
    open(path, "w", encoding="utf-8").write("".join(lines))
    facts = facts_of(path)
    assert [finding.is_choice for finding in findings.findings(facts.measured)] == [False, False]
    made, missing = charts.build_all(facts)
    assert [one.name for one in made] == ["overhead"]
    assert "nothing was measured beside stealing" in next(one for one in missing if one.name == "overview").lacks


def test_no_name_of_a_subject_or_metric_is_known_here(root):
    """They are the business of the programs that measure; a chart names the metrics that it shows, and no more."""
    record = json.loads((root / "results/reference.env.json").read_text(encoding="utf-8"))
    # "threads" is a unit as well.
    known = [one["name"] for one in record["subjects"] if one["name"] != "threads"]
    assert len(known) >= 15
    names = re.compile("[\"'`](" + "|".join(map(re.escape, known)) + ")[\"'`]")
    package = root / "Benchmarks/report/opbench_report"
    files = [one for kind in ("py", "js", "css") for one in package.rglob(f"*.{kind}")]
    assert len(files) > 40
    # An article about three things names the three.
    files.remove(package / "published/which.py")
    for path in [*files, *(root / "scripts" / name for name in ("plot", "results/reference"))]:
        assert not names.search(path.read_text(encoding="utf-8")), path
    for name in ("subjects.py", "facts.py", "charts/chart.py"):
        assert not re.search(r"[a-z]_ns\b(?<!work_ns)|_per_op", (package / name).read_text(encoding="utf-8")), name


def test_one_more_subject_changes_no_look(root):
    """A look follows from the role and the place in that role, so the figures stay the same when one is added behind
    them."""
    record = json.loads((root / "results/reference.env.json").read_text(encoding="utf-8"))
    known, reference = record["subjects"], record["reference"]
    before = listed(known, reference)
    for role in ("ours", "reference", "peer"):
        place = 1 + max(place for place, subject in enumerate(known) if subject["role"] == role)
        added = {"name": "one-more", "role": role, "summary": ""}
        after = listed([*known[:place], added, *known[place:]], reference)
        for subject in known:
            assert after[subject["name"]].look == before[subject["name"]].look, (role, subject["name"])


def _lab(colour):
    """CIE L*a*b*, in which distances are as large as they look."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_stand_out_from_the_paper():
    _, own = many()
    for name, look in ((subject.name, subject.look) for subject in own):
        # What WCAG 2.1 asks of graphics.
        assert contrast(look.light, "#ffffff") >= 3, name
        assert contrast(look.dark, "#14171b") >= 3, name


def test_a_guide_below_another_has_its_label_below():
    guides = [Guide("y", at, "") for at in (0.5, 0.95, 1)]
    assert [is_crowded(one, guides, (0, 1.05)) for one in guides] == [False, True, False]


# As a document of facts has them.
UNITS = {
    "ns": [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [0, " ns"]],
    "bytes": [[1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [0, " B"]],
    "bytes/s": [[1e9, " GB/s"], [1e6, " MB/s"], [1e3, " kB/s"], [0, " B/s"]],
    "items/s": [[1e9, " G/s"], [1e6, " M/s"], [1e3, " k/s"], [0, " /s"]],
    "percent": [[0, " %"]],
}


@pytest.mark.parametrize(
    "low, high, log",
    [(3, 9000, True), (100, 130, True), (0, 1, False), (0, 0, False), (-2, 5, False), (1e-5, 1e8, True), (7, 7, True)],
)
@pytest.mark.parametrize("unit", ["ns", "bytes", "bytes/s", "items/s", "ratio", "percent"])
def test_ticks(low, high, log, unit):
    ends = limits([low, high], log)
    assert ends[0] <= low and ends[1] >= high and ends[0] < ends[1]
    found = ticks(*ends, log, UNITS.get(unit, ()))
    # What stands side by side must be short: round numbers, in a unit that suits them.
    assert all(len(text) <= 10 for _, text in found), found
    assert 1 <= len(found) <= 7 and all(ends[0] <= place <= ends[1] for place, _ in found)
    assert len({text for _, text in found}) == len(found)
    assert all(math.isfinite(place) for place, _ in found)


def test_means_of_a_panel_are_over_the_same_benchmarks(tmp_path):
    """rayon has only the benchmark in which everybody is fast beside the reference: its own mean would be x0.01 beside
    x0.1 of stealing, and it takes half of stealing's time."""

    def fill(writer):
        for benchmark, names in (
            ("forkjoin/fib", {"stealing": 2, "threadpool": 3, "rayon": 1, "foundation": 100}),
            ("overhead/external-add", {"stealing": 50, "threadpool": 60, "foundation": 100}),
        ):
            for name, factor in names.items():
                writer.cell(benchmark, "n=1", [(name, 2)], [("ns_per_op", "ns", lambda d, w, factor=factor: factor)])

    path = synthetic.write(tmp_path / "some.csv", filling=fill, outcome={"excluded_blocks": [], "failures": []})
    facts = facts_of(path)
    results, overview = facts.measured, next(chart for chart in charts.build_all(facts)[0] if chart.name == "overview")
    panels = {one.title: {str(series.arm.subject): series.marks[0] for series in one.series} for one in overview.panels}
    assert list(panels["all benchmarks"]) == ["stealing", "threadpool"]
    assert panels["all benchmarks"]["stealing"].x == pytest.approx(0.1, rel=0.1)
    assert list(panels["each beside stealing"]) == ["rayon"]
    mark = panels["each beside stealing"]["rayon"]
    assert mark.x == pytest.approx(0.5, rel=0.1) and mark.label.endswith("(1)")
    assert "of stealing's time" in mark.detail
    # In the family of that one benchmark all have the same.
    assert "rayon" in panels["forkjoin"]
    rows = headline.table(results).splitlines()
    assert rows[-2].startswith("| geometric mean of all times, 2 benchmarks | x0.") and rows[-2].endswith(" | 1 | - |")
    assert rows[-1].startswith("| the same to `stealing`, over what both have | - | - | - | x0.") and "of 1" in rows[-1]
