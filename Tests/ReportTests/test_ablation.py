"""What each decision of a strategy is worth: effects that are known are found, the correction is applied, and
every text, picture and page says the same."""

import colorsys
import gzip
import html
import json
import math
import re
import shutil

import changes
import pytest
import synthetic
from asking import facts_of, opbench, report
from test_browser import CHROMIUM, DRIVER, opened
from test_charts import contrast, luminance
from test_page import outline_of

from opbench_report import charts, decisions, findings, paper
from opbench_report.charts import shades
from opbench_report.command import source_line
from opbench_report.facts import Record
from opbench_report.published import ablation as published
from opbench_report.published import kept, prior_art
from opbench_report.published.__main__ import main as publish
from opbench_report.published.program import Program
from opbench_report.subjects import Subjects

EXTRA = (
    ("stealing", 8, 2.0),
    ("stealing(own=lifo)", 8, 1.5),
    ("threadpool", 2, 1.4),
    ("threadpool(order=fifo)", 2, 1.4),
)
# As such a name could come from anybody.
HOSTILE = "own=</script><img src=x onerror=alert(1)>|`$x_{1}$"


def read(folder, **options):
    return facts_of(changes.write(folder / "run.csv", **options))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Six changes whose worth is known, and two of an extra: more than the pictures of all subjects show."""
    return str(changes.write(tmp_path_factory.mktemp("changes") / "changes.csv", extra=EXTRA))


@pytest.fixture(scope="module")
def ablated(measured):
    return facts_of(measured)


@pytest.fixture(scope="module")
def ablation(ablated):
    return ablated.measured.ablation


def change(table, text):
    return next(one for one in table.changes if one.text == text)


def family_of(change, name):
    return decisions.by_family(change)[name]


def test_known_effects_are_found(ablation):
    table = ablation.tables[0]
    assert str(table.base) == "stealing@2" and not table.is_extra
    assert table.columns == [None, "dependencies", "forkjoin", "latency", "overhead"]
    verdicts = {own.text: own.verdict for own in table.changes}
    assert (verdicts["own=lifo"], verdicts["steal=half"], verdicts["waking=all"]) == ("better", "worse", "mixed")
    assert {verdicts[text] for text in ("own=lifo:8", "steal=upto:4")} <= {"same", "no better", "open"}
    # What is noisy is not said to be anything, least of all the same.
    assert verdicts["priorities=ignored"] == "open"
    for text, worth in changes.WORTH.items():
        for family in table.families:
            own, truth = family_of(change(table, text), family), worth.get(family, 1.0)
            assert own.low <= truth <= own.high, (text, family)
            assert own.ratio == pytest.approx(truth, rel=0.3 if text in changes.NOISY else 0.03)
    whole = family_of(change(table, "steal=half"), None)
    assert whole.verdict == "worse" and whole.benchmarks == 8 and whole.blocks == 30
    # Six changes in four families and the whole; and the extra, which has one family, with a change for each of two
    # pools.
    assert ablation.families.comparisons == 6 * 5 + 2 and ablation.scenarios.comparisons == 6 * 9 + 2 * 2


def test_too_few_blocks_decide_nothing(tmp_path):
    """Six blocks carry a verdict, where most scenarios have one; five have no interval."""
    blocks = lambda scenario, strategy: {"forkjoin/fib": 6, "forkjoin/skynet": 5}.get(scenario[0], 30)
    table = read(tmp_path, blocks=blocks).measured.ablation.tables[0]
    own = change(table, "steal=half")
    few, fewer = (
        next(worth for line, worth in decisions.by_line(own).items() if line.benchmark == name)
        for name in ("forkjoin/fib", "forkjoin/skynet")
    )
    assert few.low > 1 and few.verdict == "worse" and few.is_wide_enough
    assert fewer.low is None and fewer.verdict == "open" and fewer.half is None
    # The family is what the scenario with enough blocks says.
    family, whole = family_of(own, "forkjoin"), family_of(own, None)
    assert (family.benchmarks, family.blocks) == (1, 6)
    assert whole.verdict == "worse" and whole.benchmarks == 7 and table.blocks == [5, 30]


def test_each_number_of_workers_stands_for_itself(ablation):
    assert [(str(table.base), table.is_extra) for table in ablation.tables] == [
        ("stealing@2", False),
        ("threadpool@2", False),
        ("stealing@8", True),
    ]
    threadpool, extra = ablation.tables[1:]
    assert [own.text for own in threadpool.changes] == ["order=fifo"] and threadpool.columns == ["overhead"]
    # Beside the pool of its own, not beside the reference.
    assert family_of(threadpool.changes[0], "overhead").ratio == pytest.approx(1, rel=0.03)
    assert family_of(extra.changes[0], "overhead").ratio == pytest.approx(0.75, rel=0.03)


def test_pairs_stand_last_and_a_change_without_its_default_nowhere(tmp_path):
    worth = {"own=lifo;steal=half": {}, "own=lifo": {}, "steal=half": {}}
    extra = (("threadpool(order=fifo)", 2, 1.0),)
    table = read(tmp_path, worth=worth, blocks=6, extra=extra).measured.ablation.tables[-1]
    assert [(name, [one.text for one in group]) for name, group in decisions.groups(table)] == [
        ("own", ["own=lifo"]),
        ("steal", ["steal=half"]),
        ("", ["own=lifo;steal=half"]),
    ]
    assert str(table.base) == "stealing@2"


def test_pairs_of_another_run_stand_beside_their_own_default(tmp_path):
    """They are in a file of their own, and are paired with the blocks of the default in that file."""
    paths = [
        changes.write(tmp_path / "run.csv", worth={"own=lifo": {"forkjoin": 0.8}}, blocks=12),
        changes.write(
            tmp_path / "run.pairs.csv", worth={"own=lifo;steal=half": {"forkjoin": 0.7}}, blocks=10, seed=2, run="pairs"
        ),
    ]
    (table,) = facts_of(*paths).measured.ablation.tables
    assert [one.text for one in table.changes] == ["own=lifo", "own=lifo;steal=half"]
    worths = [family_of(own, "forkjoin") for own in table.changes]
    assert [(own.blocks, own.verdict) for own in worths] == [(12, "better"), (10, "better")]
    assert worths[1].ratio == pytest.approx(0.7, rel=0.03)


def test_a_result_of_more_workers_than_cpus_is_an_extra(tmp_path):
    results = read(tmp_path, blocks=6, cpus=1).measured
    (table,) = results.ablation.tables
    assert table.is_extra and results.general is results
    many = read(tmp_path, blocks=6, cpus=1, worth={f"outside={place}": {} for place in range(1, 9)})
    assert [str(arm) for arm in many.measured.general.arms] == ["stealing@2"] and charts.build_all(many)[0]


def test_sizes_are_without_noise(ablation):
    sizes = {size.decision: size.share for size in ablation.tables[0].sizes.families.decisions}
    # The root of the mean of the squares over two changes and four families.
    assert sizes["steal"] == pytest.approx(0.14, abs=0.02) and sizes["priorities"] < 0.1


def test_a_sentence_for_each_change(ablation):
    table = ablation.tables[0]
    said = {own.text: decisions.sentence(own) for own in table.changes}
    interval = r"\[\d+(\.\d)?, \d+(\.\d)?\]"
    rest = r"(, the same on [a-z, ]+)?(, no sure difference on \d of 4 families)?\."
    assert re.fullmatch(rf"own=lifo: (19|20|21) % less time on forkjoin {interval}{rest}", said["own=lifo"])
    assert said["steal=half"].count(" % more time on ") == 4 and "no sure" not in said["steal=half"]
    # What is less stands first.
    assert said["waking=all"].index("less time on latency") < said["waking=all"].index("more time on overhead")
    assert said["priorities=ignored"] == "priorities=ignored: no sure difference on any of 4 families."
    assert decisions.verdict_words(change(table, "steal=half")) == "worse in 4 of 4, better in none"
    assert decisions.verdict_words(change(table, "waking=all")) == "better in 1 of 4, worse in 1"
    short = decisions.in_short(ablation)
    assert short.startswith("Of 6 changes of stealing, 1 is better in some kind of work and worse in none")
    # It gives up a row.
    assert "Better without giving anything up" not in short
    said = decisions.comparisons(ablation)
    assert "All 32 intervals of families hold together at 95 %" in said
    assert "(Benjamini and Hochberg, 58 comparisons" in said
    assert decisions.daggers(ablation) == {(20,): "†"} and "† gives up row 20 of the contract" in decisions.legend(ablation)
    assert change(table, "own=lifo:8").meaning == "the newest, and the oldest at every 8th turn"


def test_rows_that_no_verdict_is_made_of_are_not_kept(tmp_path):
    path = changes.write(tmp_path / "run.csv", blocks=6)
    rows = kept.rows_of(path).decode()
    times = [line for line in rows.splitlines(keepends=True) if ",ns_per_op," in line]
    path.write_text(rows + "".join(line.replace(",ns_per_op,", ",cpu_ns_per_op,") for line in times))
    kept.keep(path, str(tmp_path / "kept.csv.gz"), published.FOLDER.is_kept)
    lines = rows.splitlines()
    assert gzip.decompress((tmp_path / "kept.csv.gz").read_bytes()).decode().splitlines() == lines
    assert json.loads((tmp_path / "kept.env.json").read_text())["outcome"]["row_count"] == len(lines) - 1


def test_steps_of_colours():
    assert [shades.step(ratio) for ratio in (1, 1.02, 0.98, 1.05, 0.95, 3, 1 / 3)] == [0, 0, 0, 1, -1, 5, -5]


@pytest.mark.parametrize("place", [0, 1])
def test_numbers_can_be_read_on_every_step(place):
    for step, _ in shades.legend():
        assert contrast(shades.colours(step)[place], shades.ink(step)[place]) >= 4.5, step
    for grey in shades.GREYS:
        assert contrast(grey[place], shades.ON_PAPER[place]) >= 4.5
    colours = [one[place] for one in shades.STEPS]
    assert len(set(colours)) == len(colours)
    # Either side goes one way from the middle.
    lights = [luminance(one) for one in colours]
    assert [lights[:6], lights[5:]] == [
        sorted(side, reverse=turn) for side, turn in zip([lights[:6], lights[5:]], [place, not place])
    ]


def test_the_picture_shows_the_cells(ablated, ablation):
    own = next(one for one in charts.build_all(ablated)[0] if one.name == "ablation")
    panel, table = own.panels[0], ablation.tables[0]
    assert panel.columns == ["all", *table.families] and panel.breaks == [1]
    assert panel.rows == [
        "own=lifo †",
        "own=lifo:8 †",
        "steal=half",
        "steal=upto:4",
        "waking=all",
        "priorities=ignored †",
    ]
    assert [group[:2] for group in panel.groups] == [(0, 2), (2, 4), (4, 5), (5, 6)]
    tile = panel.tiles[2, 1]
    assert tile.mark == "●" and tile.step == 2 and tile.text in ("+19", "+20", "+21")
    assert "steal=half on dependencies: x1.2" in tile.detail and "surely more time" in tile.detail
    assert panel.sizes[0] is None and panel.groups[1][2].share == pytest.approx(0.14, abs=0.02)
    assert [one.title for one in own.panels] == [
        "stealing with 2 workers",
        "threadpool with 2 workers",
        "stealing with 8 workers, more than the 2 CPUs",
    ]
    benchmarks = next(one for one in charts.build_all(ablated)[0] if one.name == "ablation-benchmarks")
    assert benchmarks.panels[0].columns[2:4] == ["graph fft", "graph stencil_1d"] and benchmarks.panels[0].breaks == [
        4,
        6,
        7,
    ]


def test_without_changes_a_run_is_named(built):
    (missing,) = [one for one in built[1] if one.name == "ablation"]
    assert missing.command == "opbench ablate --output X.csv"
    assert not [one for one in built[0] if one.family == "ablation"]


def test_the_picture_in_print(ablated, tmp_path):
    for one in charts.build_all(ablated)[0]:
        if one.family == "ablation":
            paper.render(one, tmp_path, source_line(ablated.sources))
    svg = (tmp_path / "ablation.svg").read_text(encoding="utf-8")
    for text in ("own=lifo †", "−20", "+20", "dependencies", "mean size, %", "per cent more time →", "gives up row 20"):
        assert text in svg, text
    # Each colour in it has its dark one, and each text that is not on a strong step has the ink's.
    style = svg[svg.index("prefers-color-scheme: dark") :].partition("</style>")[0]
    used = {light for light, _ in (*shades.STEPS, *shades.GREYS) if f"fill: {light}" in svg}
    assert len(used) > 8 and all(f'"fill: {light}"]' in style for light in used)
    before = (tmp_path / "ablation.svg").read_bytes()
    paper.render(
        next(one for one in charts.build_all(ablated)[0] if one.name == "ablation"), tmp_path, source_line(ablated.sources)
    )
    assert (tmp_path / "ablation.svg").read_bytes() == before


def test_many_changes_are_left_out_of_the_other_pictures(ablated, tmp_path):
    results = ablated.measured
    assert results.left_out_changes == len(results.variants) == 7
    # Nor do workers beyond the CPUs stand for a subject.
    assert [str(arm) for arm in results.general.arms] == ["stealing@2", "threadpool@2"]
    for chart in charts.build_all(ablated)[0]:
        assert not [arm for arm in chart.arms if arm.subject.variant]
    assert [own.choice for own in findings.findings(results) if own.is_choice] == ["stealing", "stealing"]
    few = read(tmp_path, worth={"own=lifo": {}, "steal=half": {}}, blocks=6)
    assert few.measured.general is few.measured and [str(arm) for arm in few.measured.defaults.arms] == ["stealing@2"]
    assert {str(arm) for chart in charts.build_all(few)[0] for arm in chart.arms} == {
        "stealing@2",
        "stealing(own=lifo)@2",
        "stealing(steal=half)@2",
    }


def test_changes_have_the_hue_of_their_default():
    names = ["a", "b", *(f"a(own={place})" for place in range(6)), "b(own=1)", "c(own=1)"]
    known = [{"name": name, "role": "ours", "variant": {"base": name[0]} if "(" in name else None} for name in names]
    own = Subjects([Record(record) for record in known])
    looks = [own[name].look for name in names if name.startswith("a")]
    assert (
        len({(look.marker, look.light, look.dash) for look in looks}) == 7 and len({look.marker for look in looks}) == 7
    )
    hue = lambda colour: colorsys.rgb_to_hsv(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0]
    for look in looks:
        for paper_colour, mine, base in (
            ("#ffffff", look.light, looks[0].light),
            ("#14171b", look.dark, looks[0].dark),
        ):
            assert hue(mine) == pytest.approx(hue(base), abs=0.02) and contrast(mine, paper_colour) >= 3, look
    # They take no look from others.
    alone = Subjects([Record(record) for record in known[:2]])
    assert [own[name].look for name in "ab"] == [alone[name].look for name in "ab"]
    assert own["c(own=1)"].look is not None


@pytest.fixture(scope="module")
def folder(measured, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert report(measured, "--output", str(folder), "--no-pictures") == 0
    return folder


def test_the_page_begins_with_what_decisions_are_worth(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    outline_of(page)
    places = [
        body.index(one)
        for one in (
            "Of 6 changes of stealing",
            "are left out of the pictures",
            'id="ablation"',
            'class="worth"',
            'id="overview"',
            'id="summary"',
        )
    ]
    assert places == sorted(places)
    assert "All 32 intervals of families" in body and "better in 1 of 4, worse in none" in body
    assert "own: which of its own jobs a worker runs next. By default fifo: the oldest." in body
    assert (
        re.search(r"<th scope=\"row\">own=lifo †<br><small>the newest</small></th>", body) and "<td>row 20</td>" in body
    )
    assert "<li>priorities=ignored: no sure difference on any of 4 families.</li>" in body
    assert "nothing else was measured beside it" not in body
    assert body.count("Measured: stealing@2, threadpool@2; 7 changes of their strategies.") == 1


def test_few_changes_are_in_the_pictures_and_not_among_the_choices(tmp_path):
    """Which of them is best is for the verdicts to say, which are corrected for their number."""
    path = changes.write(tmp_path / "few.csv", worth={"own=lifo": {"forkjoin": 0.8}, "steal=half": {}}, blocks=14)
    assert report(str(path), "--output", str(tmp_path / "out"), "--no-pictures") == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "backends you can choose" not in page and "nothing else was measured" not in page
    assert re.search(r'<p class="lead">Of 2 changes of stealing, 1 is better', page) and 'id="summary"' not in page
    assert 'data-subject="stealing(own=lifo)"' in page and "are left out of the pictures" not in page
    assert page.index('id="overview"') < page.index('id="ablation"')


def test_without_changes_there_is_no_section(ablated, tmp_path, measured):
    plain = tmp_path / "plain.csv"
    plain.write_text("".join(line for line in open(measured, encoding="utf-8") if "(" not in line), encoding="utf-8")
    assert report(str(plain), "--output", str(tmp_path / "out"), "--no-pictures") == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert 'id="ablation"' not in page and 'href="#ablation"' not in page and "opbench ablate --output X.csv" in page


@pytest.mark.parametrize("count", [1, 7])
def test_hostile_names_are_shown_and_never_obeyed(tmp_path, count):
    worth = {HOSTILE: {"overhead": 1.3}} | {f"steal=upto:{place}": {} for place in range(1, count)}
    path = changes.write(tmp_path / "hostile.csv", worth=worth, blocks=12, scenarios=changes.SCENARIOS[:4])
    assert report(str(path), "--output", str(tmp_path / "out")) == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    outline = outline_of(page)
    assert "img" not in outline.tags and html.escape(HOSTILE) in page
    svg = (tmp_path / "out/ablation.svg").read_text(encoding="utf-8")
    assert "&lt;/script&gt;&lt;img" in svg and "<img" not in svg
    assert publish(["--opbench", opbench(), "--root", str(tmp_path), "ablation", str(path)]) == 0
    text = (tmp_path / "results/ablation/README.md").read_text(encoding="utf-8")
    assert "<img" not in text and "|&#" not in text
    head, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {head.count("|")}


@pytest.mark.parametrize(
    "strategies",
    [
        [],
        {"pool": {}},
        {"pool": [{"name": "own"}]},
        {"pool": [{"name": "o", "summary": "", "usual": "", "choices": [1]}]},
    ],
)
def test_words_of_another_form_are_refused(tmp_path, capsys, strategies):
    path = changes.write(tmp_path / "run.csv", blocks=6, strategies=strategies)
    assert report(str(path), "--output", str(tmp_path / "out"), "--no-pictures") == 65
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_words_the_names_stand_alone(tmp_path):
    ablated = read(tmp_path, blocks=6, strategies={})
    assert not ablated.measured.ablation.tables[0].changes[0].meaning
    assert "`own=lifo`:" in published.page(ablated)


@pytest.fixture()
def checkout(measured, tmp_path):
    assert publish(["--opbench", opbench(), "--root", str(tmp_path), "ablation", measured]) == 0
    (tmp_path / "README.md").write_text("<!-- glance:begin -->\n<!-- glance:end -->\n")
    return tmp_path


def check(checkout, capsys, *options):
    capsys.readouterr()
    code = publish(["--opbench", opbench(), "--root", str(checkout), "check", *options])
    return code, capsys.readouterr().err.splitlines()


def test_what_is_published(checkout, measured, ablation):
    folder = checkout / "results/ablation"
    assert sorted(one.name for one in folder.iterdir()) == [
        "README.md",
        "ablation.svg",
        "changes.csv.gz",
        "changes.env.json",
    ]
    assert gzip.decompress((folder / "changes.csv.gz").read_bytes()) == open(measured, "rb").read()
    assert "/somewhere/" not in (folder / "changes.env.json").read_text()
    text = (folder / "README.md").read_text(encoding="utf-8")
    for said in (
        "Made by `opbench ablate --output x.csv` on 2026-01-01, commit 0123456",
        "A cell has 30 to 30 blocks",
        decisions.comparisons(ablation),
        "### `own`, stealing with 2 workers\n\nWhich of its own jobs a worker runs next; by default `fifo`.",
        "* `own=lifo` (the newest): ",
        "families. It gives up row 20.",
        "## The changes of stealing with 8 workers, more than the 2 CPUs",
        "### Decisions of others that were not measured here",
    ):
        assert said in text, said
    rows = [line for line in text.splitlines() if line.startswith("| `steal=half`")]
    assert len(rows) == 1 and rows[0].count("**x1.") == 5 and "worse in 4 of 4, better in none" in rows[0]


def test_what_others_published_stands_beside_ours(tmp_path):
    worth = {"own=lifo": {"forkjoin": 0.8, "strategy": 0.7}, "steal=half": {"strategy": 1.2}}
    worth |= {
        "steal=upto:8": {},
        "waking=all": {},
        "searchers=one": {},
        "outside=16": {},
        "outside=64": {"strategy": 1.3},
        "priorities=multi:2": {},
    }
    scenarios = (
        *changes.SCENARIOS,
        ("strategy/tree-peak", "levels=14"),
        ("strategy/one-producer", "ops=1"),
        ("strategy/burst", "state=busy"),
        ("strategy/burst", "state=idle"),
    )
    def page(noise):
        path = changes.write(tmp_path / "run.csv", worth=worth, scenarios=scenarios, noise=noise)
        return published.page(Program(opbench()).facts(str(path), claims=prior_art.PRIOR))

    text = page(0.005)
    lines = {line.split("]")[0][3:]: line for line in text.splitlines() if line.startswith("* [")}
    assert len(lines) == len(prior_art.PRIOR) == 9
    assert re.search(
        r"Here `own=lifo` takes (19|20|21) % less time \[\d+, \d+\] on `forkjoin/fib`: \*\*agrees\*\*\.$",
        lines["argobots #359"],
    )
    # They found more time, we less; the reason is given.
    assert "on `strategy/tree-peak`: **disagrees**. The bodies" in lines["rayon #360"]
    assert (
        "`steal=half` takes" in lines["verona-rt #48"]
        and "**disagrees**. `steal=upto:8` takes" in lines["verona-rt #48"]
    )
    assert "**disagrees**, it is the same here." in lines["verona-rt #48"] and lines["verona-rt #48"].endswith(
        "no other thief to contend with."
    )
    assert "`strategy/burst`" in lines["taskflow #108"]
    # Looking outside more seldom than every 16 jobs is what they came from; the numbers that are smaller are not.
    assert "`outside=64` takes" in lines["IORingSwift #14"] and "`outside=16`" not in lines["IORingSwift #14"]
    assert lines["IORingSwift #14"].endswith("**agrees**.")
    # Nothing counted the CPU time of an idle pool, and no change turned stealing off.
    assert lines["rayon #746"].endswith("Not measured here.") and lines["zio #574"].endswith("Not measured here.")
    assert "`priorities=multi:2` takes" in lines["Julia #62285"]
    assert "**no sure difference here**." in page(0.5)
    for prior in prior_art.PRIOR:
        assert (
            prior.address.startswith("https://github.com/")
            and prior.address.rsplit("/", 1)[1] == prior.source.rsplit("#", 1)[1]
        )


def test_the_check_finds_what_was_changed(checkout, capsys):
    page, picture = checkout / "results/ablation/README.md", checkout / "results/ablation/ablation.svg"
    assert check(checkout, capsys) == (0, [])
    page.write_text(page.read_text(encoding="utf-8").replace("better in 1 of 4", "better in 4 of 4"), encoding="utf-8")
    picture.write_text("<svg/>")
    code, lines = check(checkout, capsys)
    assert code == 1 and [line.split()[1] for line in lines] == [
        "results/ablation/README.md",
        "results/ablation/ablation.svg",
    ]
    assert check(checkout, capsys, "--write") == (0, []) and check(checkout, capsys) == (0, [])
    (checkout / "results/ablation/changes.csv.gz").unlink()
    code, lines = check(checkout, capsys)
    assert code == 1 and "there is no results/ablation/*.csv.gz" in lines[0]
    shutil.rmtree(checkout / "results/ablation")
    assert check(checkout, capsys) == (0, []) and check(checkout, capsys, "--write") == (0, [])


def test_new_results_replace_the_old_ones(checkout, tmp_path_factory, capsys):
    other = changes.write(tmp_path_factory.mktemp("other") / "other.csv", seed=2, run="r2")
    more = changes.write(tmp_path_factory.mktemp("more") / "more.csv", seed=3, run="r3")
    assert publish(["--opbench", opbench(), "--root", str(checkout), "ablation", str(other), str(more)]) == 0
    assert sorted(one.name for one in (checkout / "results/ablation").iterdir()) == [
        "README.md",
        "ablation.svg",
        "more.csv.gz",
        "more.env.json",
        "other.csv.gz",
        "other.env.json",
    ]
    assert (checkout / "results/ablation/README.md").read_text(encoding="utf-8").count("Made by `opbench ablate") == 2
    assert check(checkout, capsys) == (0, [])


def test_what_is_no_ablation_is_refused_before_anything_is_written(checkout, tmp_path_factory, capsys):
    plain = synthetic.write(tmp_path_factory.mktemp("plain") / "plain.csv", blocks=2)
    lonely = changes.write(tmp_path_factory.mktemp("lonely") / "lonely.csv", blocks=6)
    (lonely.parent / "lonely.env.json").unlink()
    before = {one.name: one.read_bytes() for one in (checkout / "results/ablation").iterdir()}
    capsys.readouterr()
    for path in (plain, lonely, "no.csv"):
        assert publish(["--opbench", opbench(), "--root", str(checkout), "ablation", str(path)]) in (65, 66)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "no change of a strategy was measured" in lines[0]
    assert {one.name: one.read_bytes() for one in (checkout / "results/ablation").iterdir()} == before


browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium here: the page was not tried in a browser")


@pytest.fixture(scope="module")
def desktop(folder):
    yield from opened((folder / "report.html").as_uri(), 1400, 900)


@pytest.fixture(scope="module")
def phone(folder):
    yield from opened((folder / "report.html").as_uri(), 390, 844)


PLOT = "document.querySelector('#chart-ablation .plot')"


@browser
@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_the_heat_map_in_a_browser(request, name, ablation):
    own = request.getfixturevalue(name)
    assert [entry for entry in own.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    # A mark for each sure cell, every cell under the pointer, and no wider than the screen.
    table = ablation.tables[0]
    worths = [worth for change in table.changes for worth in change.families]
    assert own.ask(f"{PLOT}.data[2].x.length") == sum(worth.verdict in ("better", "worse") for worth in worths) >= 9
    sizes = len(decisions.groups(table)) + len(table.families)
    assert own.ask(f"{PLOT}.data[0].customdata.length") == len(worths) + sizes
    assert own.ask(f"{PLOT}.querySelectorAll('.shapelayer path').length") >= 30
    assert own.ask("document.documentElement.scrollWidth") == (1400 if name == "desktop" else 390)
    own.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert own.ask("document.documentElement.scrollWidth") == (1400 if name == "desktop" else 390)
    labels = own.ask(
        f"[...{PLOT}.querySelectorAll('.ytick text')].map(e => e.getBoundingClientRect()).map(r => [r.left,"
        f" r.top, r.bottom])"
    )
    assert len(labels) == 7 and min(left for left, _, _ in labels) >= 0
    assert all(above[2] <= below[1] + 1 for above, below in zip(labels, labels[1:]))


@browser
def test_numbers_stand_in_the_cells_where_they_fit(desktop):
    texts = desktop.ask(f"[...{PLOT}.querySelectorAll('.textpoint text')].map(e => e.textContent)")
    assert len(texts) > 30 and any(one in texts for one in ("+19", "+20", "+21"))


@browser
def test_the_heat_map_follows_the_dark_mode(desktop):
    fills = f"[...new Set({PLOT}.layout.shapes.map(one => one.fillcolor).filter(Boolean))]"
    light = desktop.ask(fills)
    desktop.dark(True)
    desktop.wait(f"JSON.stringify({fills}) !== '{json.dumps(light, separators=(',', ':'))}'")
    dark = dict((*shades.STEPS, *shades.GREYS))
    assert desktop.ask(fills) == list(dict.fromkeys(dark[one] for one in light))
    desktop.dark(False)
