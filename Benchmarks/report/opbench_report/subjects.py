"""What was measured, as the results say it, and how each looks everywhere: one colour (for light and for dark paper),
one marker, one line style.

A subject's look follows from its role and its place among those of its role. A program names all its subjects in its
results, so a subject looks the same in every report.

Colours are from the palettes of Okabe and Ito and of Tol, which the colour-blind can tell apart; what is printed grey
is told apart by marker and line style. A subject without operations wears the colour of its queue, hollow and dashed.
A subject with a strategy of its own has the hue of the subject on its default strategy, darker or lighter, and other
markers.
"""

from dataclasses import dataclass, field, replace
from itertools import chain


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


# By role, in the order in which they are given away.
_PALETTES = {
    "ours": (
        Look("#0072b2", "#4db1ee", "o", "circle", "solid"),
        Look("#00805c", "#2fc79a", "s", "square", "solid"),
        Look("#d55e00", "#ff8a3d", "^", "triangle-up", "solid"),
        Look("#aa4499", "#e087d3", "p", "pentagon", "solid"),
    ),
    "reference": (
        Look("#a86f00", "#f0b93a", "v", "triangle-down", "dot"),
        Look("#b0508a", "#eb9cc9", "P", "cross", "dashdot"),
        Look("#2384b8", "#8ed0f5", "X", "x", "dashdot"),
        Look("#882255", "#e07ba9", ">", "triangle-right", "dot"),
    ),
    "peer": (
        Look("#332288", "#a99cf2", "<", "triangle-left", "dashdot"),
        Look("#7a4fe0", "#8f7bff", "<", "triangle-left", "dash", True),
        Look("#c2104c", "#ff6b81", "*", "star", "longdash"),
        Look("#117a75", "#5fd3cc", "h", "hexagon", "dashdot"),
        Look("#7b3294", "#cf9be0", "8", "octagon", "dash"),
        Look("#8c510a", "#dfb27a", "d", "diamond-tall", "dash"),
        Look("#4d4d9f", "#a3a3ee", "H", "hexagon2", "dash"),
        Look("#3f6b00", "#a8d14f", "D", "diamond", "longdash", True),
        Look("#5c3a9e", "#c3b0ff", ">", "triangle-right", "longdash", True),
        Look("#a34700", "#ffb066", "^", "triangle-up", "dashdot", True),
        Look("#00605a", "#7fe0cf", "s", "square", "dashdot", True),
        Look("#6d4c41", "#c8a99c", "8", "octagon", "dot", True),
        Look("#9a2d6e", "#e59cc8", "d", "diamond-tall", "dot", True),
        Look("#1f5fa8", "#86b8f7", "v", "triangle-down", "dash", True),
        Look("#b03a2e", "#f5968c", "h", "hexagon", "dot", True),
        Look("#2d7d32", "#84d488", "p", "pentagon", "dashdot", True),
    ),
    "baseline": (Look("#6b6b6b", "#b3b3b3", "_", "line-ew", "dot", True),),
}
# What is no subject, such as a queue that costs nothing.
COMPUTED = _PALETTES["baseline"][0]
# What the others are compared with.
_COMPARED = Look("#1a1a1a", "#f2f2f2", "D", "diamond", "dash")
# Where a role has more subjects than looks.
_SPARE = (
    Look("#5d6d1e", "#c3d36a", "o", "circle", "dot", True),
    Look("#7d5ba6", "#d0b3f5", "H", "hexagon2", "dot", True),
)
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
# How many looks take turns.
_IN_TURN = 8
_EVERY = (*chain.from_iterable(_PALETTES.values()), *_SPARE)


# Of subjects with a strategy of their own, by turns: how far to black or white, the marker and its symbol, the line.
_TURNS = (
    (-0.3, "^", "triangle-up", "dash"),
    (0.25, "s", "square", "dot"),
    (-0.5, "D", "diamond", "dashdot"),
    (0.25, "v", "triangle-down", "longdash"),
    (-0.3, "p", "pentagon", "dot"),
    (-0.5, "X", "x", "dash"),
    (0.25, "o", "circle", "dashdot"),
)
# Less than white or black paper, so that a shade stands out from it.
_MOST_LUMINANCE, _LEAST_LUMINANCE = 0.29, 0.16


def _shaded(look, turn):
    """Returns a look of one hue with another, in another lightness and with another marker."""
    turns = [looks for looks in _TURNS if looks[1] != look.marker]
    share, marker, symbol, dash = turns[turn % len(turns)]
    light, dark = look.light, look.dark
    # What would come too near to the paper goes the other way.
    for amount in (share, -abs(share)):
        light = _mixed(look.light, amount)
        if _luminance(light) <= _MOST_LUMINANCE:
            break
    for amount in (share, abs(share)):
        dark = _mixed(look.dark, amount)
        if _luminance(dark) >= _LEAST_LUMINANCE:
            break
    return replace(look, light=light, dark=dark, marker=marker, symbol=symbol, dash=dash)


def _mixed(colour, amount):
    """Returns a colour mixed with white, or with black where the amount is below 0."""
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    end = 255 if amount > 0 else 0
    return "#" + "".join(f"{round(part + (end - part) * abs(amount)):02x}" for part in parts)


def _luminance(colour):
    """Returns how light a colour is, as WCAG 2.1 has it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def looks_in_turn(count):
    """Returns looks for things of one kind, such as the strategies of a simulation: of many, those with one colour
    differ in their line."""
    first = [look for look in _EVERY if not look.hollow][:_IN_TURN]
    return [replace(first[place % _IN_TURN], dash=_DASHES[(place // _IN_TURN + place) % len(_DASHES)]) for place in range(count)]


def dark_colours():
    """Returns the colour on dark paper for each on light paper."""
    looks = (*_EVERY, _COMPARED)
    shades = [_shaded(look, turn) for look in looks for turn in range(len(_TURNS))]
    return {look.light: look.dark for look in (*shades, *looks)}


@dataclass(frozen=True, order=True)
class Subject:
    """Sorted by its place among all subjects of the results."""

    place: int
    name: str
    look: Look = field(compare=False)
    # What the document of facts says of it.
    facts: dict = field(compare=False, repr=False)

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "facts"), name)

    def __str__(self):
        return self.name

    @property
    def is_shown_always(self):
        """Returns whether it stands in a table of a few."""
        return self.is_ours or self.is_reference or self.role in ("standingReference", "reference", "peer")


class Subjects:
    """All that the document of facts lists, by name."""

    def __init__(self, listed, reference=None):
        looks = _looks(listed, reference)
        self._by_name = {
            facts["name"]: Subject(place, facts["name"], looks[facts["name"]], facts) for place, facts in enumerate(listed)
        }

    def __getitem__(self, name):
        return self._by_name[name]

    def __iter__(self):
        return iter(self._by_name.values())


def _looks(listed, reference):
    """Returns a look for each, by name: from the palette of its role, and then whatever is left."""
    looks, bases = {}, {facts["name"]: facts["variant"]["base"] for facts in listed if facts.get("variant")}
    plain = [facts for facts in listed if facts["name"] not in bases]
    for facts in plain:
        name, role = facts["name"], facts["role"]
        if name == reference and role != "ours":
            looks[name] = _COMPARED
        elif role != "bare":
            palette = _PALETTES.get("reference" if role == "standingReference" else role, ())
            # A subject without a role is drawn like any other.
            left = chain(palette, _SPARE if palette else (), _EVERY)
            looks[name] = next((look for look in left if look not in looks.values()), _EVERY[-1])
    for facts in plain:
        if facts["role"] == "bare":
            # It has the name of its queue, with something behind it.
            queue = next((name for name in list(looks) if facts["name"].startswith(name + "-")), None)
            looks[facts["name"]] = replace(looks.get(queue, _SPARE[0]), dash="dash", hollow=True)
    turns = {}
    for name, base in bases.items():
        turns[base] = turns.get(base, -1) + 1
        looks[name] = _shaded(looks.get(base, _SPARE[0]), turns[base])
    return looks
