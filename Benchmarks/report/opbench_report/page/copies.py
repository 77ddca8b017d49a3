"""The CSV files beside the page, which it links to. Measured data may lie in the folder already: of what is there, only
what an earlier page has put there is replaced."""

import hashlib
import os
import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from ..complaint import CANNOT_CREATE, Complaint
from ..facts import path_beside

PAGE = "report.html"
# The element in which a page says what it has put beside itself, by the digests of the files.
MARK = "opbench-copies"


class Link(NamedTuple):
    """A CSV that the page links to. As an address, a name may have characters with a meaning."""

    name: str
    address: str
    rows: int
    # Whether its rows were measured, explained or simulated.
    kind: str


@dataclass(frozen=True)
class Copies:
    # A Link to each CSV.
    links: list
    # (path, bytes) of what has to be written, each CSV with its environment.
    files: list
    # Of what this page or an earlier one has put there, and a later one may replace.
    digests: set

    @property
    def content(self):
        """Returns what the page's element says, for a later page."""
        return " ".join(sorted(self.digests))


def plan(sources, folder):
    """Returns what is to lie beside the page; refuses, before anything is written, what would replace something
    else."""
    at_home = [source for source in sources if _is_same(os.path.dirname(source.path) or ".", folder)]
    taken = {PAGE}.union(*(_names(source.name) for source in at_home))
    earlier = _put_by_earlier_page(os.path.join(folder, PAGE))
    links, files = [], []
    for source in sources:
        name = source.name
        if source not in at_home:
            while not taken.isdisjoint(_names(name)):
                name = "other-" + name
            taken |= _names(name)
            for place, origin, content in (
                (name, source.path, source.raw),
                (path_beside(name), path_beside(source.path), source.environment_bytes),
            ):
                target = os.path.join(folder, place)
                if _is_to_be_written(target, origin, content, earlier):
                    files.append((target, content))
        links.append(Link(name, "./" + quote(name), source.rows, source.kind))
    return Copies(links, files, earlier | {_digest(content) for _, content in files})


def _is_to_be_written(target, origin, content, earlier):
    if not os.path.lexists(target):
        return content is not None
    if _is_same(target, origin):
        return False
    try:
        with open(target, "rb") as file:
            there = file.read()
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"{target} is in the way: {error.strerror}") from None
    if there == content:
        return False
    if content is None or _digest(there) not in earlier:
        raise Complaint(
            CANNOT_CREATE, f"{target} is there already and no copy of {origin}; move it away or take another --output"
        )
    return True


def _names(csv):
    """Returns what a CSV and its environment are called: `X.csv` and `X.csv.gz` share the latter."""
    return {csv, path_beside(csv)}


def _put_by_earlier_page(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            mark = re.search(rf'<meta name="{MARK}" content="([0-9a-f ]*)">', file.read())
    except OSError:
        return set()
    return set(mark.group(1).split()) if mark else set()


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def _is_same(path, other):
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
