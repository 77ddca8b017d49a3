"""A ratio in words, by the kind that the document of facts gives to it
(`Benchmarks/Harness/Comparing/Report/RatioWords.swift`).

A ratio of 0.0258 reads "38.8 times as fast as foundation", and one of 3.75 "3.75 times as long". Where the two are
near, the ratio itself reads better: "x0.920 of foundation's time".
"""

# What takes long. Of anything else one has more or less.
TIMES = ("time", "makespan")


def marked(ratio):
    """Returns a ratio for a table, with `~` behind one whose interval is wide."""
    return ratio.text + ("~" if ratio.is_rough else "")


def compared(ratio, other):
    """Returns words such as "38.8 times as fast as foundation [36.1, 41.0]"."""
    match ratio.words.kind:
        case "fewer":
            return f"{ratio.words.times} times as fast as {other}{_range(ratio)}"
        case "more":
            return f"{ratio.words.times} times as long as {other}{_range(ratio)}"
    return f"{ratio.text} of {other}'s time"


def sentence(ratio, name, other, what="time"):
    """Returns a sentence, such as "tbb is faster: stealing takes 3.75 times as long [3.50, 4.01]"."""
    kind, times = ratio.words.kind, ratio.words.times
    if what not in TIMES:
        match kind:
            case "fewer":
                return f"{other} has {times} times {name}'s {what}{_range(ratio)}"
            case "more":
                return f"{other} has less: {name} has {times} times {other}'s {what}{_range(ratio)}"
        return f"{name} has {ratio.text} of {other}'s {what}"
    match kind:
        case "fewer":
            return f"{name} is {compared(ratio, other)}"
        case "more":
            return f"{other} is faster: {name} takes {times} times as long{_range(ratio)}"
    return f"{name} takes {compared(ratio, other)}"


def share(worth, what="time"):
    """Returns (what a change does to a time, its interval), such as ("12 % less time", " [8, 15]"); far from 1 in
    times."""
    said, ends = worth.share, f" {worth.share.range}" if worth.share.range else ""
    if said.kind == "percent":
        return f"{said.number} % {'less' if said.is_less else 'more'} {what}", ends
    # What is no time has no speed.
    fast, slow = ("times as fast", "times as long") if what in TIMES else (f"times less {what}", f"times the {what}")
    return f"{said.number} {fast if said.is_less else slow}", ends


def _range(ratio):
    return f" {ratio.words.range}" if ratio.words.range else ""
