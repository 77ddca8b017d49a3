"""The page is one whole document that fetches nothing and shows hostile text as text."""

import base64
import gzip
import html.parser
import json
import os
import re

import pytest
import synthetic

from asking import report as ask

VOID = {"meta", "link", "input", "br", "img"}


class Outline(html.parser.HTMLParser):
    """Elements that are open, and everything an address stands in."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.tags, self.ids, self.scripts, self.inside = [], [], [], [], {}, None

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.tags.append(tag)
        self.addresses += [own[name] for name in ("src", "href", "action", "srcset", "poster") if name in own]
        if "id" in own:
            self.ids.append(own["id"])
        if tag == "script":
            self.inside = own.get("id", f"script-{len(self.scripts)}")
            self.scripts[self.inside] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[self.inside] += data


@pytest.fixture(scope="module")
def folder(csv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert ask(csv, "--output", str(folder), "--no-pictures") == 0
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def outline_of(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and len(outline.ids) == len(set(outline.ids))
    return outline


@pytest.fixture(scope="module")
def outline(page):
    return outline_of(page)


def test_it_is_one_file_with_its_csv(folder):
    assert sorted(os.listdir(folder)) == ["report.html", "whole.csv", "whole.env.json"]


def test_nothing_is_fetched(outline):
    assert all(address.startswith(("#", "./", "data:")) for address in outline.addresses), outline.addresses
    assert "./whole.csv" in outline.addresses
    assert {"iframe", "object", "embed", "form"}.isdisjoint(outline.tags)


def test_places_that_are_linked_exist(outline):
    assert {address[1:] for address in outline.addresses if address.startswith("#")} <= set(outline.ids)


def test_hostile_text_is_text(page, outline):
    assert "<img" not in page and "onerror=alert(1)>" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;/script&gt;&lt;img" in page
    assert outline.tags.count("img") == 0
    assert "Invented CPU &lt;b&gt;" in page


def test_the_data_is_json(outline, results):
    rows = unpacked(outline, "rows")
    assert len(rows) == sum(len(line.cells) for line in results.lines)
    assert any(synthetic.HOSTILE.replace("=", "_") in row[1] for row in rows)
    assert len(unpacked(outline, "plots")) == sum(1 for one in outline.ids if one.startswith("plot-"))


def unpacked(outline, name):
    return json.loads(gzip.decompress(base64.b64decode(outline.scripts[name])))


def test_it_begins_with_the_picture_and_a_sentence_each(page):
    body = page[page.index("<body") :]
    places = [
        body.index(one) for one in ('class="lead"', 'id="toggles"', 'id="in-short"', 'id="plot-0"', 'id="plot-1"')
    ]
    places += [body.index(one) for one in ('id="summary"', 'id="environment"', 'id="table"')]
    assert places == sorted(places)
    lead = re.search(r'<p class="lead">(.*?)</p>', body).group(1)
    assert "of the two backends you can choose: stealing." in lead
    assert re.search(r"Stealing is [0-9.]+ times as fast as foundation \[", lead)
    # Whatever is faster than these stands right below.
    assert body.index("rayon&#39;s time") < places[1]
    # Of the caption there is one sentence before the picture, the rest is asked for.
    notes = re.findall(r'</h[23]>\s*<p class="note">([^<]*)</p>', body)
    assert len(notes) > 10 and all(re.search(r"\. [A-Z]", one) is None for one in notes)


def test_labels_of_pictures_are_whole_sentences(page):
    labels = re.findall(r'aria-label="([^"]*)"', page)
    assert len(labels) > 30 and not [one for one in labels if ", ." in one or ",." in one or one.endswith(",")]


def test_one_backend_has_no_badge(tmp_path, page):
    """Nothing was there to choose, so nothing is sure; where something was, it is said."""
    one = measured(tmp_path / "a", "a")
    assert report(one, "--output", tmp_path / "out") == 0
    alone = (tmp_path / "out/report.html").read_text()
    assert '<span class="badge' not in alone and "Only one subject to choose, stealing," in alone
    assert page.count('<span class="badge') > 4


def test_it_says_what_does_not_count(page):
    for words in (
        "2 of ",
        "blocks",
        "killed by signal 11",
        "No report of <code>opbench validate</code>",
        "interval wider than ±5 %, or ±15 % beyond a ratio of 3 (~)",
    ):
        assert words in page
    assert "/somewhere/" not in page


def test_validation_beside_the_result_is_found(tmp_path, csv, root):
    copy = tmp_path / "run.csv"
    copy.write_bytes(open(csv, "rb").read())
    (tmp_path / "validate.txt").write_text((root / "results/validate.txt").read_text())
    assert ask(str(copy), "--output", str(tmp_path / "out"), "--no-pictures") == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "A/A: the same subject under two names was called different in" in page


def test_beside_the_result_itself(tmp_path, csv):
    """The folder of the result may be that of the report: the CSV is not copied onto itself."""
    copy = tmp_path / "run.csv"
    copy.write_bytes(open(csv, "rb").read())
    assert ask(str(copy), "--output", str(tmp_path), "--no-pictures") == 0
    assert sorted(os.listdir(tmp_path)) == ["report.html", "run.csv"]
    assert copy.read_bytes() == open(csv, "rb").read()


def measured(folder, run, seed=7, name="run.csv", **options):
    """A result in a folder of its own."""

    def fill(writer):
        arms = [("stealing", 2), ("foundation", 2)]
        writer.cell("overhead/external-add", "ops=1", arms, [("ns_per_op", "ns", lambda d, w: 100 * d)])

    folder.mkdir(exist_ok=True)
    nothing = {"excluded_blocks": [], "failures": []}
    return synthetic.write(folder / name, blocks=2, seed=seed, run=run, filling=fill, outcome=nothing, **options)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def report(*arguments):
    return ask(*arguments, "--no-pictures")


def test_results_of_one_name_stand_side_by_side(tmp_path):
    """The folder of one result is that of the report: it stays, and the other gets another name beside it."""
    one, other = measured(tmp_path / "a", "a"), measured(tmp_path / "b", "b", seed=8)
    before = contents(tmp_path / "b")
    assert report(one, other, "--output", tmp_path / "b") == 0
    after = contents(tmp_path / "b")
    assert sorted(after) == ["other-run.csv", "other-run.env.json", "report.html", "run.csv", "run.env.json"]
    assert {name: after[name] for name in before} == before
    assert {name.removeprefix("other-"): after[name] for name in after if "other-" in name} == contents(tmp_path / "a")


def test_a_packed_result_has_an_environment_of_its_own(tmp_path):
    one, other = measured(tmp_path / "a", "a"), measured(tmp_path / "b", "b", seed=8)
    packed = tmp_path / "b/run.csv.gz"
    packed.write_bytes(gzip.compress(other.read_bytes()))
    assert report(one, packed, "--output", tmp_path / "out") == 0
    after = contents(tmp_path / "out")
    assert after["run.env.json"] == (tmp_path / "a/run.env.json").read_bytes()
    assert after["other-run.env.json"] == (tmp_path / "b/run.env.json").read_bytes()


def refused(capsys, folder, words, *arguments):
    before = contents(folder)
    # What has been said before.
    capsys.readouterr()
    assert report(*arguments, "--output", folder) == 73
    lines = [line for line in capsys.readouterr().err.splitlines() if "no .env.json" not in line]
    assert len(lines) == 1 and words in lines[0]
    assert contents(folder) == before


def test_measured_data_is_not_replaced(tmp_path, capsys):
    one, other = measured(tmp_path / "a", "a"), measured(tmp_path / "b", "b", seed=8)
    refused(capsys, tmp_path / "b", "run.csv is there already and no copy of", one)
    # Nor when a report lies beside it, which did not put it there.
    assert report(other, "--output", tmp_path / "b") == 0
    refused(capsys, tmp_path / "b", "run.csv is there already and no copy of", one)
    (tmp_path / "b/run.csv").unlink()
    refused(capsys, tmp_path / "b", "run.env.json is there already and no copy of", one)
    # It would be taken for the environment of that result.
    (tmp_path / "a/run.env.json").unlink()
    refused(capsys, tmp_path / "b", "run.env.json is there already and no copy of", one)


def test_a_result_is_not_replaced_by_the_page(tmp_path, capsys):
    one = measured(tmp_path / "a", "a", name="report.html", with_environment=False)
    refused(capsys, tmp_path / "a", "would be written over", one)


def test_an_earlier_copy_is_replaced(tmp_path, capsys):
    out = tmp_path / "out"
    for seed in (7, 8, 9):
        one = measured(tmp_path / "a", "a", seed=seed)
        assert report(one, "--output", out) == 0
        assert {name: content for name, content in contents(out).items() if name != "report.html"} == contents(
            tmp_path / "a"
        )
    # Somebody else's file in its place is none.
    measured(out, "b", seed=10)
    refused(capsys, out, "run.csv is there already", one)


def test_the_first_lines_say_when_and_where_and_what_is_better(page):
    line = re.search(r'id="occasion">(.*?)</p>', page).group(1)
    assert "measured on 2026-01-01, with 2 CPUs of an Invented CPU &lt;b&gt;, Linux 6.1." in line
    assert "Less time is better" in line and "further left" in line


def test_the_end_repeats_why_a_cell_failed(page):
    footer = page[page.index("<footer") : page.index("</footer>")]
    assert "was not measured, or failed." in footer
    assert "foundation@2 failed: the process was killed by signal 11" in footer


def test_the_page_is_small(page):
    """What draws is a third of its size."""
    assert len(page) < 2_300_000
