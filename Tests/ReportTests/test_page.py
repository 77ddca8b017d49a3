"""The page is one whole document that fetches nothing and shows hostile text as text."""

import html.parser
import json
import os
import re

import pytest
import synthetic

from opbench_report.command import main

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
    assert main([csv, "--output", str(folder), "--no-pictures"]) == 0
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    return outline


def test_it_is_one_file_with_its_csv(folder):
    assert sorted(os.listdir(folder)) == ["report.html", "whole.csv", "whole.env.json"]


def test_nothing_is_fetched(outline):
    assert all(address.startswith(("#", "./", "data:")) for address in outline.addresses), outline.addresses
    assert "./whole.csv" in outline.addresses
    assert {"iframe", "object", "embed", "form"}.isdisjoint(outline.tags)


def test_places_that_are_linked_exist_once(outline):
    assert len(outline.ids) == len(set(outline.ids))
    assert {address[1:] for address in outline.addresses if address.startswith("#")} <= set(outline.ids)


def test_hostile_text_is_text(page, outline):
    assert "<img" not in page and "onerror=alert(1)>" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "&lt;/script&gt;&lt;img" in page
    assert outline.tags.count("img") == 0
    assert "Invented CPU &lt;b&gt;" in page


def test_the_data_is_json(outline, results):
    rows = json.loads(outline.scripts["rows"])
    assert len(rows) == sum(len(line.cells) for line in results.lines)
    assert any(synthetic.HOSTILE.replace("=", "_") in row[1] for row in rows)
    assert len(json.loads(outline.scripts["plots"])) == sum(1 for one in outline.ids if one.startswith("plot-"))


def test_it_says_what_does_not_count(page):
    for words in (
        "2 of ",
        "blocks",
        "killed by signal 11",
        "No report of <code>opbench validate</code>",
        "half their interval",
    ):
        assert words in page
    assert "/somewhere/" not in page


def test_validation_beside_the_result_is_found(tmp_path, csv, root):
    copy = tmp_path / "run.csv"
    copy.write_bytes(open(csv, "rb").read())
    (tmp_path / "validate.txt").write_text((root / "results/validate.txt").read_text())
    assert main([str(copy), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "A/A: the same backend under two names was called different in" in page


def test_beside_the_result_itself(tmp_path, csv):
    """The folder of the result may be that of the report: the CSV is not copied onto itself."""
    copy = tmp_path / "run.csv"
    copy.write_bytes(open(csv, "rb").read())
    assert main([str(copy), "--output", str(tmp_path), "--no-pictures"]) == 0
    assert sorted(os.listdir(tmp_path)) == ["report.html", "run.csv"]
    assert copy.read_bytes() == open(csv, "rb").read()
