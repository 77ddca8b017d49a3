"""Puts the page together and writes it, after the copies of the CSV files that it links to. Python gives data to the
templates in `templates/`; whatever stands on the page is escaped there."""

import base64
import gzip
import json
import os
from importlib import resources

import jinja2
from plotly.offline import get_plotlyjs

from ..data.ablation import ablation
from ..files import replace
from ..findings import findings, only_one
from . import (
    ablation_section,
    chart_section,
    environment_section,
    header_section,
    simulation_section,
    summary_section,
    table_section,
    validity_section,
)
from .copies import MARK, PAGE

# Nothing is fetched and nothing is sent: the browser is told to refuse, too.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write(results, charts, missing, validation, simulated, copies, folder):
    """Writes `report.html` and what is to lie beside it. `results` or `simulated` is None where there are none."""
    for path, content in copies.files:
        replace(path, content)
    replace(os.path.join(folder, PAGE), document(results, charts, missing, validation, simulated, copies))


def document(results, charts, missing, validation, simulated, copies):
    """The page as a text."""
    data, scripts, titles = {}, ["unpack.js"], []
    count = len(results.sources) if results else 0
    # What was measured and what was simulated are linked apart.
    measured, other = copies.links[:count], copies.links[count:]
    context = {"measured": None, "simulated": None}
    if results:
        plots = []
        context["measured"] = _measured(results, charts, missing, validation, measured, plots, bool(simulated))
        data |= {"looks": chart_section.looks(charts), "plots": plots, "rows": table_section.rows(results)}
        scripts += ["plots.js", "table.js"]
        titles.append("opbench: " + ", ".join(source.name for source in results.sources))
    if simulated:
        context["simulated"] = simulation_section.section(simulated) | {"links": other}
        data[simulation_section.DATA] = simulation_section.document(simulated)
        scripts.append("simulation.js")
        names = ", ".join(source.name for source in simulated.sources)
        titles.append(f"simulated: {names}" if results else f"opbench, simulated: {names}")
    return _ENVIRONMENT.get_template("page.html").render(
        context,
        title="; ".join(titles),
        policy=_POLICY,
        copies={"mark": MARK, "content": copies.content},
        style=_script("style.css"),
        data={"plotly": _packed(get_plotlyjs())} | {name: _packed(compact(own)) for name, own in data.items()},
        scripts=[_script(name) for name in scripts],
        swatches=chart_section.SWATCHES,
    )


def compact(document):
    """JSON without spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(content):
    """What is large, for the page's own script to unpack: a third of its size."""
    return base64.b64encode(gzip.compress(content.encode("utf-8"), mtime=0)).decode("ascii")


def _script(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _templates(name):
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


# A name that no template is given is a mistake, and not an empty text.
_ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FunctionLoader(_templates),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _measured(results, charts, missing, validation, links, plots, is_beside_simulated):
    """What the sections about measured results show."""
    is_about_changes = results.general is not results
    # What is said of subjects is said without the changes of their strategies.
    subjects = results.defaults
    sentences = findings(subjects)
    if subjects is not results and all(arm.subject.is_ours for arm in subjects.arms):
        sentences = [finding for finding in sentences if finding.is_choice]
    families = chart_section.families(charts, is_about_changes, plots)
    has_summary = bool(sentences) or subjects is results
    contents = [(family["name"], family["title"]) for family in families]
    contents += [("summary", "Which subject")] if has_summary else []
    contents += [("environment", "Environment"), ("validity", "Validity"), ("table", "All numbers")]
    contents += [("simulated", simulation_section.TITLE)] if is_beside_simulated else []
    changes = ablation(results)
    return {
        "findings": sentences,
        "only_one": only_one(subjects),
        "losses": summary_section.losses(subjects),
        "has_summary": has_summary,
        "is_about_changes": is_about_changes,
        "ablation": ablation_section.section(changes) if changes else None,
        "families": families,
        "has_overview": any(family["name"] == "overview" for family in families),
        "toggles": chart_section.subjects(charts),
        "contents": contents,
        **header_section.section(results),
        "environments": environment_section.section(results),
        "validity": validity_section.section(results, missing, validation),
        "table": table_section.section(results),
        "links": links,
        "failures": [cell for _, cell in results.failures],
    }
