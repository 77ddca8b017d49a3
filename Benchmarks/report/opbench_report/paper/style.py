"""One look for all figures."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

from ..charts import shades  # noqa: E402
from ..subjects import dark_colours  # noqa: E402

INK = "#222222"
FAINT = "#d5d5d5"
WIDTH = 7.4
# Of bands above one another.
HATCHES = ("", "//", "xx")

PARAMETERS = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    # Said in each text, so that the dark mode finds it.
    "text.color": INK,
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.labelsize": 7.5,
    "axes.edgecolor": "#888888",
    "axes.linewidth": 0.6,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 6.8,
    "ytick.labelsize": 6.8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    # Text stays text: it can be found and read aloud, and a figure of all subjects stays small.
    "svg.fonttype": "none",
    # A name with a dollar sign is no formula.
    "text.parse_math": False,
    # The same picture gets the same bytes.
    "svg.hashsalt": "opbench",
}


# What the colours of paper and ink become where a reader wants it dark.
_DARK = {"#ffffff": "#14171b", INK: "#e8eaed", FAINT: "#3a424b", "#888888": "#a9b1ba"}


def for_the_web(svg):
    """Verdana has the widths of DejaVu Sans, on machines that lack it; the colours follow the reader's system."""
    svg = svg.replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in sorted((_DARK | dark_colours() | shades.dark_colours()).items())
        for kind in ("fill", "stroke")
        if f"{kind}: {light}".encode() in svg
    )
    style = f'<style type="text/css">@media (prefers-color-scheme: dark){{{rules}}}</style>\n </defs>'
    return svg.replace(b"</defs>", style.encode(), 1)


def marker_style(subject, size=4.6):
    """Returns keywords of a marker: hollow for a subject without operations."""
    look = subject.look
    return {
        "marker": look.marker,
        "markersize": size,
        "color": look.light,
        "markeredgecolor": look.light,
        "markeredgewidth": 1.0,
        "markerfacecolor": "white" if look.hollow else look.light,
    }


def error_style(subject):
    """Returns keywords of an interval."""
    return {"ecolor": subject.look.light, "elinewidth": 1.0, "capsize": 1.8, "capthick": 0.8}


def faint_error_style(subject):
    """Returns keywords of an interval that stands behind its curve."""
    return {"ecolor": subject.look.light + "55", "elinewidth": 0.8, "capsize": 0}


def title_size(text, width):
    """Long titles are set smaller; `width` is what they have, in inches."""
    return min(7.5, max(5, 7.5 * width / (0.073 * max(1, len(text)))))


__all__ = [
    "FAINT",
    "HATCHES",
    "INK",
    "PARAMETERS",
    "WIDTH",
    "error_style",
    "faint_error_style",
    "for_the_web",
    "marker_style",
    "pyplot",
    "title_size",
]
