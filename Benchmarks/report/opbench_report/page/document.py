"""Puts the page together and writes it, after the copies of the CSV files that it links to."""

import base64
import gzip
import os
from importlib import resources

from plotly.offline import get_plotlyjs

from ..data.machines import machines
from ..files import replace
from ..findings import findings
from . import (
    ablation_section,
    chart_section,
    environment_section,
    simulation_section,
    summary_section,
    table_section,
    validity_section,
)
from .copies import PAGE
from .html import compact, data, tag, text

# Nothing is fetched and nothing is sent: the browser is told to refuse, too.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
_MADE = tag("p", "Made by <code>opbench report</code>. This page needs no network.")
_ROWS = "The rows behind every number:"
_SIMULATED_ROWS = "The simulated rows behind every number:"


def write(results, charts, missing, validation, simulated, copies, folder):
    """Writes `report.html` and what is to lie beside it. `results` or `simulated` is None where there are none."""
    for path, content in copies.files:
        replace(path, content)
    if results is None:
        page = of_simulated(simulated, copies)
    else:
        page = document(results, charts, missing, validation, simulated, copies)
    replace(os.path.join(folder, PAGE), page)


def of_simulated(simulated, copies):
    """The page as a text, where nothing on it was measured."""
    body = (
        tag("a", "Skip to the pictures", href=f"#{simulation_section.ID}", class_="skip")
        + tag("header", tag("h1", "opbench report, simulated"))
        + tag("main", simulation_section.section(simulated, _files(copies.links, _SIMULATED_ROWS)))
        + tag("footer", _MADE)
    )
    parts = _packed(simulation_section.DATA, compact(simulation_section.document(simulated)))
    title = "opbench, simulated: " + ", ".join(source.name for source in simulated.sources)
    return _whole(title, copies, body, parts + _drawing(["simulation.js"]))


def document(results, charts, missing, validation, simulated, copies):
    """The page as a text."""
    is_about_changes = results.general is not results
    # What is said of subjects is said without the changes of their strategies.
    subjects = results.defaults
    found = findings(subjects)
    if subjects is not results and all(arm.subject.is_ours for arm in subjects.arms):
        found = [one for one in found if one.is_choice]
    below = {"ablation": ablation_section.section(results)}
    pictures, plots = chart_section.sections(charts, summary_section.in_short(found), below, is_about_changes)
    has_summary = bool(found) or subjects is results
    title = "opbench: " + ", ".join(source.name for source in results.sources)
    # What was measured and what was simulated are linked apart.
    measured, other = copies.links[: len(results.sources)], copies.links[len(results.sources) :]
    if simulated:
        title += "; simulated: " + ", ".join(source.name for source in simulated.sources)
    body = (
        tag("a", "Skip to the pictures", href="#toggles", class_="skip")
        + _header(results, found, is_about_changes)
        + _contents(charts, has_summary, is_about_changes, simulated)
        + tag(
            "main",
            _toggles(charts)
            + pictures
            + (summary_section.section(subjects, found) if has_summary else "")
            + environment_section.section(results)
            + validity_section.section(results, missing, validation)
            + table_section.section(results, _files(measured, _ROWS)),
        )
        + (simulation_section.section(simulated, _files(other, _SIMULATED_ROWS)) if simulated else "")
        + tag("footer", validity_section.failures_again(results) + _MADE)
    )
    parts = (
        data("looks", _looks(charts))
        + _packed("plots", compact(plots))
        + _packed("rows", compact(table_section.rows(results)))
    )
    own = ["plots.js", "table.js"]
    if simulated:
        parts += _packed(simulation_section.DATA, compact(simulation_section.document(simulated)))
        own.append("simulation.js")
    return _whole(title, copies, body, parts + _drawing(own))


def _whole(title, copies, body, scripts):
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta'
        f' name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        + copies.mark
        + tag("title", text(title))
        # An icon that is here already, since browsers ask for one.
        + '<link rel="icon" href="data:,">'
        + f"<style>{_own('style.css')}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}{scripts}</body></html>\n'


def _drawing(own):
    """What draws: Plotly, and the page's own scripts."""
    return _packed("plotly", get_plotlyjs()) + "".join(f"<script>{_own(name)}</script>" for name in ("unpack.js", *own))


def _packed(identifier, content):
    """What is large, for the page's own script to unpack: a third of its size. Nothing in it can end the element."""
    content = base64.b64encode(gzip.compress(content.encode("utf-8"), mtime=0)).decode("ascii")
    return f'<script type="application/gzip" id="{identifier}">{content}</script>'


def _own(name):
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _files(links, words):
    items = "".join(
        tag("li", tag("a", text(name), href=target, download=True) + text(f" ({rows:,} rows)"))
        for name, target, rows in links
    )
    return tag("p", text(words)) + tag("ul", items, class_="files")


def _header(results, found, is_about_changes):
    subjects = ", ".join(str(arm) for arm in results.general.arms)
    if results.general is not results:
        subjects += f"; {len(results.variants) - len(results.general.variants)} changes of their strategies"
    return tag(
        "header",
        tag("h1", "opbench report")
        + (ablation_section.lead(results) if is_about_changes or not found else summary_section.first_sentence(found))
        + tag("p", text(" ".join([*_occasions(results), _better(results)])), class_="note", id="occasion")
        + tag("p", text(f"Measured: {subjects}."), class_="note with-room")
        + ablation_section.left_out(results),
    )


def _occasions(results):
    """When and where each result was measured, as far as it is known."""
    for source in results.sources:
        record = source.record or {}
        if several := machines(results, source).sentence:
            when = str(record.get("started_at") or "")[:10]
            yield f"{source.name}: measured{f' on {when}' if when else ''} {several}."
            continue
        when, model, cpus = str(record.get("started_at") or "")[:10], record.get("cpu_model"), record.get("cpus_allowed")
        words = [f"on {when}"] if when else []
        words += [f"with {cpus} CPU{'' if cpus == 1 else 's'}" + (f" of an {model}" if model else "")] if cpus else []
        words += [f"Linux {record['kernel']}"] if record.get("kernel") else []
        if words:
            yield f"{source.name}: measured " + ", ".join(words) + "."


def _better(results):
    if results.reference is None or results.general is not results:
        return "Less time is better."
    return f"Less time is better: in the first picture what stands further left; {results.reference} is at 1."


def _contents(charts, has_summary, is_about_changes, simulated):
    places = [
        *chart_section.links(charts, is_about_changes),
        *([("summary", "Which subject")] if has_summary else []),
        ("environment", "Environment"),
        ("validity", "Validity"),
        ("table", "All numbers"),
        *([(simulation_section.ID, simulation_section.TITLE)] if simulated else []),
    ]
    return tag(
        "nav",
        tag("ul", "".join(tag("li", tag("a", text(title), href=f"#{place}")) for place, title in places)),
        aria_label="Contents",
    )


def _toggles(charts):
    """A box for each subject: what is off is hidden in every plot."""
    boxes = "".join(
        tag(
            "label",
            f'<input type="checkbox" checked data-subject="{text(one.name)}">' + _swatch(one.look) + tag("span", text(one.name)),
        )
        for one in _subjects(charts)
    )
    return tag(
        "div",
        tag("span", "Shown:", aria_hidden="true") + boxes,
        id="toggles",
        role="group",
        aria_label="Shown in the plots",
    )


def _subjects(charts):
    return sorted({series.arm.subject for chart in charts for panel in chart.panels for series in panel.series})


def _looks(charts):
    return {
        one.name: {
            "light": one.look.light,
            "dark": one.look.dark,
            "symbol": one.look.plotly_symbol,
            "dash": one.look.dash,
        }
        for one in _subjects(charts)
    }


_SHAPES = {
    "circle": '<circle cx="8" cy="8" r="5"/>',
    "square": '<rect x="3" y="3" width="10" height="10"/>',
    "diamond": '<path d="M8 2 14 8 8 14 2 8Z"/>',
    "triangle-up": '<path d="M8 3 14 13H2Z"/>',
    "triangle-down": '<path d="M8 13 2 3H14Z"/>',
    "triangle-left": '<path d="M3 8 13 2V14Z"/>',
    "triangle-right": '<path d="M13 8 3 2V14Z"/>',
    "cross": '<path d="M6 2h4v4h4v4h-4v4H6v-4H2V6h4Z"/>',
    "x": '<path d="M4 2 8 6 12 2 14 4 10 8 14 12 12 14 8 10 4 14 2 12 6 8 2 4Z"/>',
    "line-ew": '<path d="M2 7h12v2H2Z"/>',
    "star": '<path d="M8 1l2 5h5l-4 3 2 6-5-4-5 4 2-6-4-3h5Z"/>',
    "hexagon": '<path d="M8 2l5 3v6l-5 3-5-3V5Z"/>',
    "pentagon": '<path d="M8 2l6 5-2 7H4L2 7Z"/>',
}


def _swatch(own):
    """The mark of a subject as the plots draw it."""
    shape = _SHAPES.get(own.symbol, _SHAPES["circle"])
    style = f"--light:{own.light};--dark:{own.dark}"
    return (
        '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"'
        f' class="swatch{" hollow" if own.hollow else ""}" style="{style}">{shape}</svg>'
    )
