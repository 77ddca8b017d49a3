"""The document of facts, as `opbench report` hands it over: what was measured and simulated, with every number and its
text.

Nothing is computed here. Places in the document's lists become what stands there: an arm, a line.
"""

import functools
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import NamedTuple

from .complaint import BAD_INPUT, NO_INPUT, Complaint
from .subjects import Subject, Subjects

SCHEMA = 3
# What holds places in the list of arms, and what holds places in the list of lines.
_ARMS = set("against ahead arm base beside best change choice nearest other others ours rivals".split())
_LINES = {"line", "lines"}


# Names that results give, which stand for nothing in these lists.
_NAMES = {"numbers", "parameters"}


class Record(dict):
    """An object of the document, by attribute. What the document does not say is None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __hash__(self):
        return id(self)


class Arm(NamedTuple):
    """A subject at a worker count: a column of the comparison."""

    subject: Subject
    workers: int

    def __str__(self):
        return f"{self.subject}@{self.workers}"


def widest(arms):
    """Returns the arm with the most workers of each subject: what pictures show unless they are about workers."""
    most = {}
    for arm in arms:
        most[arm.subject] = max(most.get(arm.subject, arm), arm)
    return sorted(most.values())


@dataclass(eq=False)
class Line:
    """A metric of a scenario over all arms; `cells` is by arm."""

    facts: Record
    cells: dict = field(default_factory=dict)

    def __getattr__(self, name):
        return getattr(self.facts, name)

    @property
    def main_arms(self):
        """Returns the widest arm of each subject that has a number here: results of several runs need not have the same
        workers."""
        return widest(self.cells)


@dataclass(frozen=True)
class Source:
    """A file that was read, with what the document says of it."""

    facts: Record

    def __getattr__(self, name):
        return getattr(self.facts, name)

    @property
    def record(self):
        """Returns the environment beside the rows; None where there is none."""
        return self.facts.environment

    @functools.cached_property
    def raw(self):
        """Returns what is in the file, packed or not."""
        return read_bytes(self.path)

    @functools.cached_property
    def environment_bytes(self):
        """Returns what is in the file of the environment; None where there is none."""
        return read_bytes(self.environment_path) if self.environment_path and self.record is not None else None

    @property
    def digest(self):
        return hashlib.sha256(self.raw).hexdigest()


class Measured:
    """What was measured. `lines` and `arms` are those of a view: everything, or without the changes of strategies."""

    def __init__(self, facts, sources):
        self.facts, self.sources = facts, sources
        self.subjects = Subjects(facts.subjects, facts.reference)
        self._arms = [Arm(self.subjects[arm.subject], arm.workers) for arm in facts.arms]
        self._lines = [Line(line) for line in facts.lines]
        for part in facts.values():
            self._resolve(part)
        for line in self._lines:
            line.cells = {cell.arm: cell for cell in line.facts.cells}
        self.arms, self.lines = self._arms, self._lines

    def _resolve(self, part):
        """Puts arms and lines where the document has their places."""
        if isinstance(part, list):
            for own in part:
                self._resolve(own)
        if isinstance(part, dict):
            for key, own in part.items():
                if key in _NAMES:
                    continue
                known = self._arms if key in _ARMS else self._lines if key in _LINES else None
                if known and isinstance(own, list) and all(isinstance(place, int) for place in own):
                    part[key] = [known[place] for place in own]
                elif known and isinstance(own, int) and key != "lines":
                    part[key] = known[own]
                else:
                    self._resolve(own)

    def __getattr__(self, name):
        return getattr(self.facts, name)

    @functools.cached_property
    def general(self):
        """Returns what the pictures of all subjects show: without the changes of strategies, where there are too many
        of them."""
        return self._view("is_general") if self.has_general_view else self

    @functools.cached_property
    def defaults(self):
        """Returns what the sentences about subjects are about: without the changes of strategies, which are judged
        among themselves."""
        return self._view("is_default") if self.has_default_view else self

    def _view(self, name):
        view = Measured.__new__(Measured)
        view.__dict__ |= {key: self.__dict__[key] for key in ("facts", "sources", "subjects", "_arms", "_lines")}
        view.arms = [arm for arm, facts in zip(self._arms, self.facts.arms) if facts[name]]
        kept = set(view.arms)
        lines = [Line(line.facts, {arm: cell for arm, cell in line.cells.items() if arm in kept}) for line in self._lines]
        view.lines = [line for line in lines if line.cells]
        return view

    @property
    def variants(self):
        """Returns the subjects with a strategy of their own."""
        return sorted({arm.subject for arm in self.arms if arm.subject.variant})

    def line(self, benchmark, params, metric):
        """Returns a line, or None."""
        return next((line for line in self.select(benchmark, metric) if line.params == params), None)

    def select(self, benchmark=None, metric=None, family=None):
        """Returns lines by exact benchmark, metric and family, in the order of their parameters."""
        return [
            line
            for line in self.lines
            if benchmark in (None, line.benchmark) and metric in (None, line.metric) and family in (None, line.family)
        ]

    def primary_lines(self, family=None):
        """Returns the lines of the one time that stands for each benchmark."""
        return [line for line in self.select(family=family) if line.is_primary]


class Facts(NamedTuple):
    """The whole document. Of what was not measured, or not simulated, there is None."""

    sources: list
    measured: Measured | None
    simulated: Record | None
    # A part for each file of explain.
    explained: list
    # How the numbers of each unit are scaled, for axes.
    units: dict

    def sources_of(self, kind):
        return [source for source in self.sources if source.kind == kind]


def read_bytes(path):
    """Returns what is in a file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise Complaint(NO_INPUT, f"{path}: there is no such file") from None
    except OSError as error:
        raise Complaint(NO_INPUT, f"{path}: cannot be read as a file ({error.strerror})") from None


def read(path):
    """Returns the document at a path, which may be a pipe."""
    return parsed(read_bytes(path), path)


def parsed(content, path):
    """Returns the document in these bytes; throws one line where they are none."""
    try:
        document = json.loads(content, object_hook=Record)
        schema = document.schema
    except (ValueError, AttributeError, RecursionError):
        raise Complaint(BAD_INPUT, f"{path}: not the facts that opbench report hands over") from None
    if schema != SCHEMA:
        raise Complaint(BAD_INPUT, f"{path}: facts of schema {schema}, not {SCHEMA}: the program and the report belong together")
    sources = [Source(source) for source in document.sources]
    measured = [source for source in sources if source.kind == "measured"]
    results = Measured(document.measured, measured) if document.measured else None
    return Facts(sources, results, document.simulated, document.explained or [], document.units)


def path_beside(csv):
    """Returns where the environment of a CSV lies."""
    return os.fspath(csv).removesuffix(".gz").removesuffix(".csv") + ".env.json"
