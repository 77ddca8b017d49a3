"""The parameters of a cell: `key=value;key=value`, sorted by key."""


def parse(text):
    """A dictionary, or None when a pair has no `=`."""
    pairs = {}
    for pair in text.split(";"):
        if not pair:
            continue
        key, equals, value = pair.partition("=")
        if not equals:
            return None
        pairs[key] = value
    return pairs


def text(pairs):
    """The canonical form, which is the identity of a set of parameters."""
    return ";".join(f"{key}={value}" for key, value in sorted(pairs.items()))


def contains(all_of, few):
    """Whether every pair of `few` is among those of `all_of`; both are texts."""
    return (parse(few) or {}).items() <= (parse(all_of) or {}).items()


def number(pairs, key):
    """A parameter as a number, or None."""
    try:
        return float(pairs[key])
    except (KeyError, ValueError):
        return None
