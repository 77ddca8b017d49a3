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
from test_browser import CHROMIUM, DRIVER, opened
from test_page import Outline

from opbench_report import charts, decisions, findings, paper
from opbench_report.charts import shades
from opbench_report.charts.heat import percent_words
from opbench_report.command import main, source_line
from opbench_report.data import ablation as data
from opbench_report.data import results as result_files
from opbench_report.data.geometric_mean import geometric_mean, widened
from opbench_report.data.ratio_words import share
from opbench_report.data.statistics import Estimate, paired_ratio
from opbench_report.data.strategies import given_up, variant, words
from opbench_report.published import ablation as published
from opbench_report.published.__main__ import main as publish
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
    return result_files.read([str(changes.write(folder / "run.csv", **options))])


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Six changes whose worth is known, and two of an extra: more than the pictures of all subjects show."""
    return str(changes.write(tmp_path_factory.mktemp("changes") / "changes.csv", extra=EXTRA))


@pytest.fixture(scope="module")
def ablated(measured):
    return result_files.read([measured])


@pytest.fixture(scope="module")
def found(ablated):
    return data.ablation(ablated)


def change(table, text):
    return next(one for one in table.changes if one.text == text)


def test_names():
    assert variant("pool(own=lifo;steal=upto:8)") == ("pool", (("own", "lifo"), ("steal", "upto:8")))
    assert variant("pool(own=lifo;steal=upto:8)").text == "own=lifo;steal=upto:8"
    assert variant("pool-bare(own=lifo)").base == "pool-bare"
    for name in (
        "pool",
        "pool()",
        "pool(own)",
        "pool(own=)",
        "pool(=lifo)",
        "(own=lifo)",
        "pool(own=lifo",
        "pool(own=lifo;)",
        "",
    ):
        assert variant(name) is None
    assert given_up("a queue, with own=lifo; gives up row 20 of the contract") == (20,)
    assert given_up("a queue; gives up rows 3, 20 and 21 of the contract") == (3, 20, 21) and given_up("a queue") == ()


def test_words_for_a_number():
    record = {
        "strategies": {
            "pool": [
                {
                    "name": "own",
                    "summary": "which",
                    "usual": "fifo",
                    "choices": [
                        {"text": "lifo", "summary": "the newest; gives up row 20 of the contract"},
                        {
                            "text": "lifo:N",
                            "summary": "the oldest at every Nth turn (N from 2 to 9); gives up row 20 of the contract",
                        },
                        {"text": "N", "summary": "after N jobs"},
                    ],
                }
            ]
        }
    }
    own = words([record])["pool", "own"]
    assert own.of("lifo") == "the newest" and own.of("other") == "" and own.of("lifo:x") == ""
    assert [own.of(f"lifo:{n}") for n in (2, 3, 11, 21, 100)] == [
        f"the oldest at every {nth} turn" for nth in ("2nd", "3rd", "11th", "21st", "100th")
    ]
    assert own.of("1000") == "after 1000 jobs"


def test_known_effects_are_found(found):
    table = found.tables[0]
    assert str(table.base) == "stealing@2" and not table.is_extra
    assert table.columns == [None, "dependencies", "forkjoin", "latency", "overhead"]
    verdicts = {one.text: (table.verdict(one), table.verdicts(one)) for one in table.changes}
    assert verdicts["own=lifo"][0] == "better" and verdicts["own=lifo"][1]["forkjoin"] == "better"
    assert verdicts["steal=half"] == ("worse", dict.fromkeys(table.family_names, "worse"))
    assert verdicts["waking=all"][0] == "mixed"
    assert {verdicts[one][0] for one in ("own=lifo:8", "steal=upto:4")} <= {"same", "open"}
    # What is noisy is not said to be anything, least of all the same.
    assert verdicts["priorities=ignored"] == ("open", dict.fromkeys(table.family_names, "open"))
    for text, worth in changes.WORTH.items():
        for family in table.family_names:
            own = table.families[change(table, text), family]
            truth = worth.get(family, 1.0)
            assert own.low <= truth <= own.high, (text, family)
            assert own.ratio == pytest.approx(truth, rel=0.3 if text in changes.NOISY else 0.03)
    whole = table.families[change(table, "steal=half"), None]
    assert whole.verdict == "worse" and whole.benchmarks == 8 and whole.blocks == 30


def test_intervals_are_widened_for_all_comparisons(found):
    table = found.tables[0]
    # Six changes in four families and the whole; and the extra, which has one family, with a change for each of two
    # pools.
    assert found.of_families.comparisons == 6 * 5 + 2
    assert found.of_scenarios.comparisons == 6 * 9 + 2 * 2
    one = change(table, "own=lifo")
    lines = [line for line in table.lines if line.family == "latency"]
    logs = data._logarithms(lines[0], one, table.base)
    own, alone = table.families[one, "latency"], paired_ratio(list(logs.values()))
    assert own.ratio == alone.median and own.low < alone.low and own.high > alone.high
    assert own.half == pytest.approx(math.log(alone.high / alone.low) / 2)
    series = [
        (line.benchmark, data._logarithms(line, one, table.base)) for line in table.lines if line.family == "forkjoin"
    ]
    ends = [math.exp(end) for end in widened(geometric_mean(series), found.of_families.confidence, 29)]
    assert [table.families[one, "forkjoin"].low, table.families[one, "forkjoin"].high] == pytest.approx(ends)


def test_a_wider_confidence_is_a_wider_interval():
    mean = geometric_mean(
        [(name, {block: 0.01 * ((block * 7 + place) % 5) for block in range(12)}) for place, name in enumerate("ab")]
    )
    alone = widened(mean, 0.95, 11)
    assert [math.exp(end) for end in alone] == pytest.approx([mean.low, mean.high])
    widths = [high - low for low, high in (widened(mean, confidence, 11) for confidence in (0.95, 0.99, 0.9999))]
    assert widths == sorted(widths) and widths[2] > 1.8 * widths[0]
    # Of fewer blocks, the more so.
    low, high = widened(mean, 0.9999, 5)
    assert high - low > widths[2]


def test_equals_are_never_sure(tmp_path):
    """Thirty changes that change nothing, on noise: at 95 % each, some of 150 would be."""
    worth = {f"outside={place}": {} for place in range(1, 31)}
    equal = data.ablation(read(tmp_path, worth=worth, blocks=20, noise=0.1))
    assert equal.of_families.comparisons == 150
    assert not [key for key, own in equal.tables[0].families.items() if own.is_sure]
    assert not [key for key, own in equal.tables[0].scenarios.items() if own.is_sure]


def test_too_few_blocks_decide_nothing(tmp_path):
    """The widened interval needs more than eight blocks of a single scenario; of one with five there is none at all."""
    blocks = lambda scenario, strategy: {"forkjoin/fib": 8, "forkjoin/skynet": 5}.get(scenario[0], 30)
    table = data.ablation(read(tmp_path, blocks=blocks)).tables[0]
    own = change(table, "steal=half")
    few, fewer = (table.scenarios[own, key] for key in (("forkjoin/fib", "n=15"), ("forkjoin/skynet", "leaves=1000")))
    assert few.low > 1 and few.verdict == "open" and not few.is_wide_enough
    assert fewer.low is None and fewer.verdict == "open" and fewer.half is None
    # The family is what the scenario with enough blocks says.
    family = table.families[own, "forkjoin"]
    assert (family.benchmarks, family.blocks) == (1, 8) and family.verdict == "open"
    assert table.families[own, None].verdict == "worse" and table.families[own, None].benchmarks == 7
    assert table.blocks() == (5, 30)


def test_each_number_of_workers_stands_for_itself(found):
    assert [(str(table.base), table.is_extra) for table in found.tables] == [
        ("stealing@2", False),
        ("threadpool@2", False),
        ("stealing@8", True),
    ]
    threadpool, extra = found.tables[1:]
    assert [one.text for one in threadpool.changes] == ["order=fifo"] and threadpool.columns == ["overhead"]
    # Beside the pool of its own, not beside the reference.
    assert threadpool.families[threadpool.changes[0], "overhead"].ratio == pytest.approx(1, rel=0.03)
    assert extra.families[extra.changes[0], "overhead"].ratio == pytest.approx(0.75, rel=0.03)


def test_pairs_stand_last_and_a_change_without_its_default_nowhere(tmp_path):
    worth = {"own=lifo;steal=half": {}, "own=lifo": {}, "steal=half": {}}
    table = data.ablation(read(tmp_path, worth=worth, blocks=6, extra=(("threadpool(order=fifo)", 2, 1.0),))).tables[-1]
    assert [(name, [one.text for one in group]) for name, group in table.decisions] == [
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
    results = result_files.read(list(map(str, paths)))
    (table,) = data.ablation(results).tables
    assert [one.text for one in table.changes] == ["own=lifo", "own=lifo;steal=half"]
    worths = [table.families[one, "forkjoin"] for one in table.changes]
    assert [(own.blocks, own.verdict) for own in worths] == [(12, "better"), (10, "better")]
    assert worths[1].ratio == pytest.approx(0.7, rel=0.03)


def test_a_result_of_more_workers_than_cpus_is_an_extra(tmp_path):
    results = read(tmp_path, blocks=6, cpus=1)
    (table,) = data.ablation(results).tables
    assert table.is_extra and results.general is results
    many = read(tmp_path, blocks=6, cpus=1, worth={f"outside={place}": {} for place in range(1, 9)})
    assert [str(arm) for arm in many.general.arms] == ["stealing@2"] and charts.build_all(many)[0]


def test_sizes_are_without_noise(found):
    table = found.tables[0]
    size = lambda text: data.size([table.families[change(table, text), name] for name in table.family_names])
    assert size("steal=half") == pytest.approx(0.2, abs=0.02)
    assert size("steal=upto:4") < 0.01 and size("priorities=ignored") < 0.1 and data.size([]) is None


def test_a_sentence_for_each_change(found):
    table = found.tables[0]
    said = {one.text: decisions.sentence(table, one) for one in table.changes}
    interval = r"\[\d+(\.\d)?, \d+(\.\d)?\]"
    rest = r"(, the same on [a-z, ]+)?(, no sure difference on \d of 4 families)?\."
    assert re.fullmatch(rf"own=lifo: (19|20|21) % less time on forkjoin {interval}{rest}", said["own=lifo"])
    assert said["steal=half"].count(" % more time on ") == 4 and "no sure" not in said["steal=half"]
    # What is less stands first.
    assert said["waking=all"].index("less time on latency") < said["waking=all"].index("more time on overhead")
    assert said["priorities=ignored"] == "priorities=ignored: no sure difference on any of 4 families."
    assert decisions.verdict_words(table, change(table, "steal=half")) == "worse in 4 of 4, better in none"
    assert decisions.verdict_words(table, change(table, "waking=all")) == "better in 1 of 4, worse in 1"
    short = decisions.in_short(found)
    assert short.startswith("Of 6 changes of stealing, 1 is better in some kind of work and worse in none")
    # It gives up a row.
    assert "Better without giving anything up" not in short
    said = decisions.comparisons(found)
    assert "widened for 32 comparisons (Bonferroni, 99.84 % each)" in said and "for 58 (99.91 % each)" in said
    assert decisions.daggers(found) == {(20,): "†"} and "† gives up row 20 of the contract" in decisions.legend(found)
    assert found.meaning(table, change(table, "own=lifo:8")) == "the newest, and the oldest at every 8th turn"


@pytest.mark.parametrize(
    "ratio, what, said",
    [
        ((0.88, 0.85, 0.92), "time", "12 % less time [8, 15]"),
        ((1.05, 1.02, 1.081), "time", "5.0 % more time [2.0, 8.1]"),
        ((2.0, 1.8, 2.2), "time", "2.00 times as long [1.80, 2.20]"),
        ((0.5, 0.4, 0.8), "time", "2.00 times as fast [1.25, 2.50]"),
        ((0.5, 0.4, 0.8), "CPU time", "2.00 times less CPU time [1.25, 2.50]"),
        ((0.88, None, None), "time", "12 % less time"),
    ],
)
def test_a_share_in_words(ratio, what, said):
    assert "".join(share(Estimate(*ratio, 6), what)) == said


def test_numbers_in_cells():
    texts = [percent_words(one) for one in (1, 1.004, 0.88, 1.2, 2.9, 3.1, 0.31, 12.3, 0.996)]
    assert texts == ["0", "0", "−12", "+20", "+190", "×3.1", "×0.31", "×12", "0"]
    assert [shades.step(one) for one in (1, 1.02, 0.98, 1.05, 0.95, 3, 1 / 3)] == [0, 0, 0, 1, -1, 5, -5]


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


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


def test_the_picture_shows_the_cells(ablated, found):
    own = next(one for one in charts.build_all(ablated)[0] if one.name == "ablation")
    panel, table = own.panels[0], found.tables[0]
    assert panel.columns == ["all", *table.family_names] and panel.breaks == [1]
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
            paper.render(one, tmp_path, source_line(ablated))
    svg = (tmp_path / "ablation.svg").read_text(encoding="utf-8")
    for text in ("own=lifo †", "−20", "+20", "dependencies", "mean size, %", "per cent more time →", "gives up row 20"):
        assert text in svg, text
    # Each colour in it has its dark one, and each text that is not on a strong step has the ink's.
    style = svg[svg.index("prefers-color-scheme: dark") :].partition("</style>")[0]
    used = {light for light, _ in (*shades.STEPS, *shades.GREYS) if f"fill: {light}" in svg}
    assert len(used) > 8 and all(f'"fill: {light}"]' in style for light in used)
    before = (tmp_path / "ablation.svg").read_bytes()
    paper.render(
        next(one for one in charts.build_all(ablated)[0] if one.name == "ablation"), tmp_path, source_line(ablated)
    )
    assert (tmp_path / "ablation.svg").read_bytes() == before


def test_many_changes_are_left_out_of_the_other_pictures(ablated, tmp_path):
    assert len(ablated.variants) == 7
    general = ablated.general
    # Nor do workers beyond the CPUs stand for a subject.
    assert [str(arm) for arm in general.arms] == ["stealing@2", "threadpool@2"]
    assert set(general.rows.backend) == {"stealing", "threadpool"} and set(general.rows.workers) == {2}
    for one in charts.build_all(ablated)[0]:
        assert not [arm for arm in one.arms if arm.subject.variant]
    assert [one.choice for one in findings.findings(general) if one.is_choice] == ["stealing", "stealing"]
    few = read(tmp_path, worth={"own=lifo": {}, "steal=half": {}}, blocks=6)
    assert few.general is few and [str(arm) for arm in few.defaults.arms] == ["stealing@2"]
    assert {str(arm) for one in charts.build_all(few)[0] for arm in one.arms} == {
        "stealing@2",
        "stealing(own=lifo)@2",
        "stealing(steal=half)@2",
    }


def test_changes_have_the_hue_of_their_default():
    names = ["a", "b", *(f"a(own={place})" for place in range(6)), "b(own=1)", "c(own=1)"]
    known = {"subjects": [{"name": name, "role": "ours", "summary": ""} for name in names]}
    own = Subjects([known], names)
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
    alone = Subjects([{"subjects": known["subjects"][:2]}], [])
    assert [own[name].look for name in "ab"] == [alone[name].look for name in "ab"]
    assert own["c(own=1)"].look is not None


@pytest.fixture(scope="module")
def folder(measured, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert main([measured, "--output", str(folder), "--no-pictures"]) == 0
    return folder


def outline_of(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and len(outline.ids) == len(set(outline.ids))
    return outline


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
    assert "widened for 32 comparisons" in body and "better in 1 of 4, worse in none" in body
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
    assert main([str(path), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "backends you can choose" not in page and "nothing else was measured" not in page
    assert re.search(r'<p class="lead">Of 2 changes of stealing, 1 is better', page) and 'id="summary"' not in page
    assert 'data-subject="stealing(own=lifo)"' in page and "are left out of the pictures" not in page
    assert page.index('id="overview"') < page.index('id="ablation"')


def test_without_changes_there_is_no_section(ablated, tmp_path, measured):
    plain = tmp_path / "plain.csv"
    plain.write_text("".join(line for line in open(measured, encoding="utf-8") if "(" not in line), encoding="utf-8")
    assert main([str(plain), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert 'id="ablation"' not in page and 'href="#ablation"' not in page and "opbench ablate --output X.csv" in page


@pytest.mark.parametrize("count", [1, 7])
def test_hostile_names_are_shown_and_never_obeyed(tmp_path, count):
    worth = {HOSTILE: {"overhead": 1.3}} | {f"steal=upto:{place}": {} for place in range(1, count)}
    path = changes.write(tmp_path / "hostile.csv", worth=worth, blocks=12, scenarios=changes.SCENARIOS[:4])
    assert main([str(path), "--output", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    outline = outline_of(page)
    assert "img" not in outline.tags and html.escape(HOSTILE) in page
    svg = (tmp_path / "out/ablation.svg").read_text(encoding="utf-8")
    assert "&lt;/script&gt;&lt;img" in svg and "<img" not in svg
    assert publish(["--root", str(tmp_path), "ablation", str(path)]) == 0
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
    assert main([str(path), "--output", str(tmp_path / "out"), "--no-pictures"]) == 65
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_words_the_names_stand_alone(tmp_path):
    ablated = read(tmp_path, blocks=6, strategies={})
    own = data.ablation(ablated)
    assert own.meaning(own.tables[0], own.tables[0].changes[0]) == ""
    assert "`own=lifo`:" in published.page(ablated)


@pytest.fixture()
def checkout(measured, tmp_path):
    assert publish(["--root", str(tmp_path), "ablation", measured]) == 0
    (tmp_path / "README.md").write_text("<!-- glance:begin -->\n<!-- glance:end -->\n")
    return tmp_path


def check(checkout, capsys, *options):
    capsys.readouterr()
    code = publish(["--root", str(checkout), "check", *options])
    return code, capsys.readouterr().err.splitlines()


def test_what_is_published(checkout, measured, ablated, found):
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
        decisions.comparisons(found),
        "### `own`, stealing with 2 workers\n\nWhich of its own jobs a worker runs next; by default `fifo`.",
        "* `own=lifo` (the newest): ",
        "families. It gives up row 20.",
        "## The changes of stealing with 8 workers, more than the 2 CPUs",
        "### Decisions of others that were not measured here",
    ):
        assert said in text, said
    rows = [line for line in text.splitlines() if line.startswith("| `steal=half`")]
    assert len(rows) == 1 and rows[0].count("**x1.") == 5 and "worse in 4 of 4, better in none" in rows[0]


def test_what_others_published_stands_beside_ours(tmp_path, found):
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
    own = read(tmp_path, worth=worth, scenarios=scenarios, noise=0.005)
    text = published.page(own)
    lines = {line.split("]")[0][3:]: line for line in text.splitlines() if line.startswith("* [")}
    assert len(lines) == len(published.PRIOR) == 9
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
    noisy = read(tmp_path, worth=worth, scenarios=scenarios, noise=0.5)
    assert "**no sure difference here**." in published.page(noisy)
    for prior in published.PRIOR:
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
    assert publish(["--root", str(checkout), "ablation", str(other), str(more)]) == 0
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
        assert publish(["--root", str(checkout), "ablation", str(path)]) in (65, 66)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "no change of a strategy was measured" in lines[0]
    assert {one.name: one.read_bytes() for one in (checkout / "results/ablation").iterdir()} == before


def test_targets_know_the_default_from_its_changes(tmp_path):
    from opbench_report.targets import Run

    assert Run(str(changes.write(tmp_path / "run.csv", blocks=6))).ours == ["stealing", "threadpool"]


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
def test_the_heat_map_in_a_browser(request, name, found):
    own = request.getfixturevalue(name)
    assert [entry for entry in own.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    # A mark for each sure cell, every cell under the pointer, and no wider than the screen.
    table = found.tables[0]
    assert own.ask(f"{PLOT}.data[2].x.length") == sum(one.is_sure for one in table.families.values()) >= 9
    sizes = len(table.decisions) + len(table.family_names)
    assert own.ask(f"{PLOT}.data[0].customdata.length") == len(table.families) + sizes
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
