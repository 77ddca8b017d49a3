"""Puts the page together and writes it, after the copies of the CSV files that it links to. Python gives data to the
templates in `templates/`; whatever stands on the page is escaped there."""

import base64
import gzip
import json
import os
from importlib import resources

import jinja2
from plotly.offline import get_plotlyjs

from ..files import replace
from ..findings import findings, loss_words, only_one
from . import (
    ablation_section,
    chart_section,
    environment_section,
    explained_section,
    fork_section,
    header_section,
    simulation_section,
    table_section,
    validity_section,
)
from .copies import MARK, PAGE

# What makes numbers, in the order of the page.
_KINDS = ("measured", "explained", "simulated")
# Nothing is fetched and nothing is sent: the browser is told to refuse, too.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write(facts, charts, missing, validation, copies, folder):
    """Writes `report.html` and what is to lie beside it."""
    for path, content in copies.files:
        replace(path, content)
    replace(os.path.join(folder, PAGE), document(facts, charts, missing, validation, copies))


def document(facts, charts, missing, validation, copies):
    """Returns the page as a text."""
    plots, scripts, context, data = [], ["unpack.js", "plots.js"], dict.fromkeys(_KINDS), {}
    titles = {kind: ", ".join(source.name for source in facts.sources_of(kind)) for kind in _KINDS}
    links = {kind: [link for link in copies.links if link.kind == kind] for kind in _KINDS}
    by_kind = {kind: [chart for chart in charts if chart.kind == kind] for kind in _KINDS}
    if facts.measured:
        context["measured"] = _measured(facts, by_kind["measured"], missing, validation, plots) | {"links": links["measured"]}
        data["rows"] = table_section.rows(facts.measured)
        scripts.append("table.js")
    if facts.explained:
        context["explained"] = explained_section.section(facts.explained, by_kind["explained"])
    if facts.simulated:
        context["simulated"] = simulation_section.section(facts.simulated, by_kind["simulated"])
    for kind in _KINDS[1:]:
        if context[kind]:
            context[kind] |= {
                "charts": [chart_section.chart_of(chart, plots) for chart in by_kind[kind]],
                "links": links[kind],
            }
    data |= {"looks": chart_section.looks(charts), "plots": plots}
    return _ENVIRONMENT.get_template("page.html").render(
        context,
        title="; ".join(
            ("" if kind == "measured" or facts.measured else "opbench, ") + f"{prefix}: {titles[kind]}"
            for kind, prefix in zip(_KINDS, ("opbench", "explained", "simulated"))
            if titles[kind]
        ),
        policy=_POLICY,
        copies={"mark": MARK, "content": copies.content},
        style=_script("style.css"),
        data={"plotly": _packed(get_plotlyjs())} | {name: _packed(compact(part)) for name, part in data.items()},
        scripts=[_script(name) for name in scripts],
        swatches=chart_section.SWATCHES,
    )


def compact(document):
    """Returns JSON without spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(content):
    """Returns what is large, for the page's own script to unpack: a third of its size."""
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


def _measured(facts, charts, missing, validation, plots):
    """Returns what the sections about measured results show."""
    results = facts.measured
    is_about_changes = bool(results.has_general_view)
    # What is said of subjects is said without the changes of their strategies.
    subjects = results.defaults
    sentences = findings(results)
    if subjects is not results and all(arm.subject.is_ours for arm in subjects.arms):
        sentences = [finding for finding in sentences if finding.is_choice]
    families = chart_section.families(charts, is_about_changes, plots)
    has_summary = bool(sentences) or subjects is results
    contents = [(family["name"], family["title"]) for family in families]
    contents += [("summary", "Which subject")] if has_summary else []
    contents += [("environment", "Environment"), ("validity", "Validity"), ("table", "All numbers")]
    contents += [("explained", explained_section.TITLE)] if facts.explained else []
    contents += [("simulated", simulation_section.TITLE)] if facts.simulated else []
    return {
        "findings": sentences,
        "only_one": only_one(subjects),
        "losses": [loss_words(loss) for loss in results.losses or []],
        "has_summary": has_summary,
        "is_about_changes": is_about_changes,
        "ablation": ablation_section.section(results.ablation) if results.ablation else None,
        "forks": fork_section.section(results.general),
        "families": families,
        "has_overview": any(family["name"] == "overview" for family in families),
        "toggles": chart_section.subjects(charts),
        "contents": contents,
        **header_section.section(results),
        "environments": environment_section.section(results),
        "validity": validity_section.section(results, missing, validation),
        "table": table_section.section(results),
        "failures": results.failures,
    }
