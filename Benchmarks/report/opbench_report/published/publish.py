"""Puts a result into `results/`: packed, with its environment, the summary, the figures, and the parts of README.md."""

import os

from .. import paper
from ..charts import build_all
from ..command import source_line
from ..complaint import BAD_INPUT, CANNOT_CREATE, Complaint
from ..files import replace
from ..page import validation
from . import texts, which
from .kept import keep, record_of, rows_of


def publish(program, csv, report, root):
    """`report` is a validate.txt, or None."""
    if not program.facts(csv).measured:
        raise Complaint(BAD_INPUT, f"{csv}: nothing of it was measured")
    record_of(csv)
    if report:
        # Refuses anything else before something is written.
        text = validation.find(report, csv).text
    _readme(root)
    which.check(program, csv, root)
    folder = os.path.join(root, "results")
    published, rows = os.path.join(folder, texts.CSV), rows_of(csv)
    are_new = _rows(published) != rows
    try:
        os.makedirs(folder, exist_ok=True)
        keep(csv, published)
        if report:
            replace(os.path.join(folder, "validate.txt"), text)
        elif are_new and os.path.exists(os.path.join(folder, "validate.txt")):
            # It says of other numbers whether they are to be believed.
            os.remove(os.path.join(folder, "validate.txt"))
        write_texts(program, root)
        which.write(program, root)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write into {folder}: {error.strerror or error}") from None


def write_texts(program, root):
    """Writes everything that follows from the CSV in `results/`."""
    readme = _readme(root)
    folder = os.path.join(root, "results")
    facts = program.facts(os.path.join(folder, texts.CSV))
    results, (charts, _) = facts.measured, build_all(facts)
    os.makedirs(os.path.join(folder, "figures"), exist_ok=True)
    for chart in charts:
        if chart.name in texts.FIGURES:
            paper.render(chart, os.path.join(folder, "figures"), source_line(facts.sources), kinds=("svg",))
    replace(os.path.join(folder, "SUMMARY.md"), texts.summary(results, charts))
    replace(os.path.join(root, "README.md"), texts.replaced(readme, texts.parts(results, charts, "results")))


def _readme(root):
    """README.md, which must have a place for results: asked for before anything is written."""
    path = os.path.join(root, "README.md")
    try:
        with open(path, encoding="utf-8") as file:
            readme = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Complaint(BAD_INPUT, f"{path}: {error}") from None
    if lacking := texts.lacking(readme):
        raise Complaint(BAD_INPUT, f"{path} {lacking} to put the results between")
    return readme


def _rows(path):
    """The rows that are published already; None where there are none that can be read."""
    try:
        return rows_of(path)
    except Complaint:
        return None
