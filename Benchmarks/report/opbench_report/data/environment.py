"""`X.env.json` beside `X.csv`: the machine, and the blocks and cells that do not count."""

import json
import os

from ..complaint import BAD_INPUT, Complaint


def path_beside(csv):
    """Where the environment of a CSV lies."""
    name = str(csv).removesuffix(".gz")
    return name.removesuffix(".csv") + ".env.json"


def read(path):
    """The document, or None when there is no such file."""
    if not os.path.exists(path):
        return None
    complaint = Complaint(BAD_INPUT, f"{path}: not the environment that opbench writes beside a result")
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        outcome = document["outcome"]
        for block in outcome.get("excluded_blocks", []) + outcome.get("disturbed_blocks", []):
            block["benchmark"], block["params"], int(block["block"])
        for cell in outcome.get("failures", []):
            cell["benchmark"], cell["params"], cell["backend"], int(cell["workers"]), cell["reason"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise complaint from None
    return document
