"""How each subject looks, everywhere: one colour (for light and for dark paper), one marker, one line style.

Colours are from the palettes of Okabe and Ito and of Tol, which the colour-blind can tell apart; what is printed grey
is told apart by marker and line style. A backend without operations wears the colour of its queue, hollow and dashed.
"""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    light: str
    dark: str
    # Names of matplotlib and of plotly.
    marker: str
    symbol: str
    dash: str
    hollow: bool = False

    @property
    def plotly_symbol(self):
        return self.symbol + ("-open" if self.hollow else "")

    @property
    def matplotlib_dash(self):
        return {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (9, 3))}[self.dash]


_LOOKS = {
    "stealing": Look("#0072b2", "#4db1ee", "o", "circle", "solid"),
    "threadpool": Look("#00805c", "#2fc79a", "s", "square", "solid"),
    "dispatch": Look("#d55e00", "#ff8a3d", "^", "triangle-up", "solid"),
    "deterministic": Look("#aa4499", "#e087d3", "p", "pentagon", "solid"),
    "stealing-bare": Look("#0072b2", "#4db1ee", "o", "circle", "dash", True),
    "threadpool-bare": Look("#00805c", "#2fc79a", "s", "square", "dash", True),
    "dispatch-bare": Look("#d55e00", "#ff8a3d", "^", "triangle-up", "dash", True),
    "foundation": Look("#1a1a1a", "#f2f2f2", "D", "diamond", "dash"),
    "raw-dispatch": Look("#a86f00", "#f0b93a", "v", "triangle-down", "dot"),
    "task-group": Look("#b0508a", "#eb9cc9", "P", "cross", "dashdot"),
    "nio": Look("#2384b8", "#8ed0f5", "X", "x", "dashdot"),
    "serial": Look("#6b6b6b", "#b3b3b3", "_", "line-ew-open", "dot", True),
    "threads": Look("#882255", "#e07ba9", ">", "triangle-right", "dot"),
    "tbb": Look("#332288", "#a99cf2", "<", "triangle-left", "dashdot"),
    "tbb-flow": Look("#7a4fe0", "#8f7bff", "<", "triangle-left", "dash", True),
    "rayon": Look("#c2104c", "#ff6b81", "*", "star", "longdash"),
    "go": Look("#117a75", "#5fd3cc", "h", "hexagon", "dashdot"),
}
_NAMES = list(_LOOKS)
# For a backend that is added later: always the same of these.
_SPARE = [
    Look("#7b3294", "#cf9be0", "8", "octagon", "dash"),
    Look("#8c510a", "#dfb27a", "d", "diamond-tall", "dash"),
    Look("#4d4d9f", "#a3a3ee", "H", "hexagon2", "dash"),
]

OURS = ("stealing", "threadpool", "dispatch", "deterministic")
PEERS = ("tbb", "tbb-flow", "rayon", "go")


def look(subject):
    return _LOOKS.get(subject) or _SPARE[zlib.crc32(subject.encode()) % len(_SPARE)]


def dark_colours():
    """The colour on dark paper for each on light paper."""
    return {one.light: one.dark for one in (*_LOOKS.values(), *_SPARE)}


def order(subject, workers=0):
    """A sort key: ours, the bare ones, the references, other languages, and whatever is new before the references."""
    place = _NAMES.index(subject) if subject in _LOOKS else _NAMES.index("foundation") - 0.5
    return (place, subject, workers)


def is_ours(subject):
    """Whether it is a backend of this library under the operation layer, so that it can be chosen."""
    return subject in OURS or not (subject in _LOOKS or subject.startswith("control") or subject == "empty")
