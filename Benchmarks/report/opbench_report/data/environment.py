"""`X.env.json` beside `X.csv`: the machine, what the program says of its subjects and metrics, and the blocks and cells
that do not count."""

import json
import os

from ..complaint import BAD_INPUT, Complaint
from . import parameters


def path_beside(csv):
    """Where the environment of a CSV lies."""
    name = str(csv).removesuffix(".gz")
    return name.removesuffix(".csv") + ".env.json"


def read(path):
    """(the bytes of the file, the document in it), or (None, None) when there is no such file."""
    if not os.path.exists(path):
        return None, None
    try:
        with open(path, "rb") as file:
            raw = file.read()
        document = json.loads(raw.decode("utf-8"))
        # Half of a surrogate pair can be written in JSON, and in nothing that is made from it.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
        is_ours = _is_environment(document)
    except (OSError, ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise Complaint(BAD_INPUT, f"{path}: not the environment that opbench writes beside a result")
    return raw, document


def _is_environment(document):
    """Whether everything that is read without a further look is what it must be."""
    outcome = document.get("outcome") if isinstance(document, dict) else None
    if not isinstance(outcome, dict):
        return False
    kinds = {
        "effort": dict,
        "arguments": list,
        "subjects": list,
        "reference": str,
        "metrics": dict,
        "primary_times": dict,
    }
    return (
        all(isinstance(document[key], kind) for key, kind in kinds.items() if key in document)
        and all(_is_block(one) for key in ("excluded_blocks", "disturbed_blocks") for one in _list(outcome, key))
        and all(_is_failure(one) for one in _list(outcome, "failures"))
        and all(_has(one, {"name": str, "role": str, "summary": str}) for one in document.get("subjects", []))
        and all(_is_metric(one) for one in document.get("metrics", {}).values())
        and all(isinstance(one, str) for one in document.get("primary_times", {}).values())
    )


def _list(outcome, key):
    """What stands there; something else than a list holds one thing that is no block and no failure."""
    found = outcome.get(key, [])
    return found if isinstance(found, list) else [None]


def _is_metric(one):
    return _has(one, {"words": str}) and one.get("better") in (None, "less", "more")


def _is_block(one):
    return _has(one, {"benchmark": str, "params": str, "block": int}) and parameters.parse(one["params"]) is not None


def _is_failure(one):
    kinds = {"benchmark": str, "params": str, "backend": str, "workers": int, "reason": str}
    return _has(one, kinds) and parameters.parse(one["params"]) is not None


def _has(one, kinds):
    return isinstance(one, dict) and all(isinstance(one.get(key), kind) for key, kind in kinds.items())
