"""`X.env.json` beside `X.csv`: the machine, what the program says of its subjects and metrics, and the blocks and cells
that do not count."""

import json
import os
import re

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
        document = _earlier_form(json.loads(raw.decode("utf-8")))
        # Half of a surrogate pair can be written in JSON, and in nothing that is made from it.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
        is_ours = _is_environment(document)
    except (OSError, ValueError, RecursionError):
        is_ours = False
    if not is_ours:
        raise Complaint(BAD_INPUT, f"{path}: not the environment that opbench writes beside a result")
    return raw, document


def _earlier_form(document):
    """Brings a document of schema 3 into the form of schema 2, which the rest of the report reads: sentences for fields, and
    the facts of the machines beside those of the run."""
    if not isinstance(document, dict) or document.get("schema") != 3:
        return document
    try:
        machines = document["machines"]
        for key in ("host", "cpu_model", "kernel", "governor"):
            known = dict.fromkeys(machine[key] for machine in machines if machine.get(key) is not None)
            document |= {key: "; ".join(known)} if known else {}
        for key in ("cpus_online", "cpus_allowed", "cpu_quota"):
            document |= {key: min(known)} if (known := [one[key] for one in machines if key in one]) else {}
        document |= {"spin": machines[-1]["spin"]} if machines else {}
        document["cells"] = [_sentence(cell) for cell in document["cells"]]
        repeats = document["outcome"]["repeats"]
        document["outcome"]["repeats"] = {_sentence(repeat["cell"]): repeat["count"] for repeat in repeats}
        for subject in document["subjects"]:
            subject["summary"] += _given_up(subject)
        for decision in (decision for decisions in document["strategies"].values() for decision in decisions):
            for choice in decision["choices"]:
                numbers = choice.get("range")
                choice["summary"] += f" (N from {numbers[0]} to {numbers[1]})" if numbers else ""
                choice["summary"] += _given_up(choice)
        return document
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ValueError("not the form of schema 3") from None


def _sentence(cell):
    parameters_words = f" ({cell['params']})" if cell["params"] else ""
    return f"{cell['benchmark']} on {cell['backend']}@{cell['workers']}{parameters_words}"


def _given_up(facts):
    *first, last = facts.get("gives_up") or [None]
    if last is None:
        return ""
    rows = f"rows {', '.join(map(str, first))} and {last}" if first else f"row {last}"
    return f"; gives up {rows} of the contract"


def _is_environment(document):
    """Whether everything that is read without a further look is what it must be, and every number one that a run can
    have."""
    outcome = document.get("outcome") if isinstance(document, dict) else None
    if not isinstance(outcome, dict) or not _has_possible_numbers(document, outcome):
        return False
    kinds = {
        "effort": dict,
        "arguments": list,
        "cells": list,
        "subjects": list,
        "reference": str,
        "metrics": dict,
        "primary_times": dict,
        "strategies": dict,
        "machines": list,
        "shards": list,
    }
    return (
        all(isinstance(document[key], kind) for key, kind in kinds.items() if key in document)
        and all(_is_block(one) for key in _BLOCKS for one in _list(outcome, key))
        and all(_is_failure(one) for one in _list(outcome, "failures"))
        and all(isinstance(one, str) for one in document.get("cells", []))
        and all(_is_machine(one) for one in document.get("machines", []))
        and all(_has(one, {"run_id": str}) for one in document.get("shards", []))
        and all(_has(one, {"name": str, "role": str, "summary": str}) for one in document.get("subjects", []))
        and all(_is_metric(one) for one in document.get("metrics", {}).values())
        and all(isinstance(one, str) for one in document.get("primary_times", {}).values())
        and all(_are_decisions(own) for own in document.get("strategies", {}).values())
    )


_BLOCKS = ("excluded_blocks", "disturbed_blocks", "crowded_blocks")

# Of 64-bit integers, with a sign and without, which opbench reads counts and seeds into.
_MOST_COUNT, _MOST_SEED = (1 << 63) - 1, (1 << 64) - 1
# Beyond any number of seconds and any load; none of them is written as infinite.
_MOST_AMOUNT = 1e12


def _has_possible_numbers(document, outcome):
    """Whether no number is one that no run can have had. A number that is absent or null was not known."""
    effort, spin, repeats = document.get("effort", {}), document.get("spin", {}), outcome.get("repeats", {})
    if not all(isinstance(one, dict) for one in (effort, spin, repeats)):
        return False
    goal = effort.get("goal") or {}
    if not isinstance(goal, dict):
        return False
    counts = [document.get("cpus_online"), document.get("cpus_allowed")]
    counts += [outcome.get(key) for key in ("swapped_pages", "block_count")]
    amounts = [document.get(key) for key in ("cpu_quota", "load_average_at_start")]
    amounts += [outcome.get(key) for key in ("seconds", "cpu_pressure_seconds")]
    return (
        all(one is None or _is_count(one) for one in counts)
        # Counts, times in nanoseconds, shares; a time without a limit is the greatest integer.
        and all(
            one is None or _is_within(one, 0, _MOST_SEED) for key, one in effort.items() if key != "goal"
        )
        and (not goal or _has(goal, {"half_width": (int, float), "seconds": (int, float)}))
        and all(one is None or _is_within(one, 0, _MOST_AMOUNT) for one in goal.values())
        and all(one is None or _is_within(one, 0, _MOST_AMOUNT) for one in amounts)
        and all(_is_count(one, least=1) for one in repeats.values())
        and _is_count(document.get("seed", 0), most=_MOST_SEED)
        and _is_within(outcome.get("steal_share", 0), 0, 1)
        # The limits of `RunRecord.isMeasurable`.
        and _is_within(spin.get("rounds_per_microsecond", 1), 1e-3, 1e9)
    )


def _is_count(value, least=0, most=_MOST_COUNT):
    # True is an int in Python, and no count.
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_within(value, low, high):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _list(outcome, key):
    """What stands there; something else than a list holds one thing that is no block and no failure."""
    found = outcome.get(key, [])
    return found if isinstance(found, list) else [None]


def _is_machine(one):
    return (
        _has(one, {"host": str, "kernel": str})
        and _is_count(one.get("cpus_allowed"))
        and isinstance(one.get("cpu_model"), (str, type(None)))
    )


def _is_metric(one):
    return _has(one, {"words": str}) and one.get("better") in (None, "less", "more")


def _are_decisions(own):
    return isinstance(own, list) and all(map(_is_decision, own))


def _is_decision(one):
    is_whole = _has(one, {"name": str, "summary": str, "usual": str, "choices": list})
    return is_whole and all(_has(choice, {"text": str, "summary": str}) for choice in one["choices"])


def _is_block(one):
    is_whole = _has(one, {"benchmark": str, "params": str}) and _is_count(one.get("block"))
    return is_whole and parameters.parse(one["params"]) is not None


def _is_failure(one):
    kinds = {"benchmark": str, "params": str, "backend": str, "reason": str}
    return _has(one, kinds) and _is_count(one.get("workers")) and parameters.parse(one["params"]) is not None


def _has(one, kinds):
    return isinstance(one, dict) and all(isinstance(one.get(key), kind) for key, kind in kinds.items())


def blocks_run(record):
    """How many blocks the run had, over all scenarios; None where the record does not say."""
    outcome, effort, cells = record.get("outcome") or {}, record.get("effort"), record.get("cells")
    if isinstance(outcome.get("block_count"), int):
        return outcome["block_count"] or None
    # An earlier record, of a run in which all scenarios had the same number.
    if not isinstance(effort, dict) or not isinstance(effort.get("blocks"), int) or not isinstance(cells, list):
        return None
    scenarios = {re.sub(r" on \S+", "", str(cell), count=1) for cell in cells}
    return len(scenarios) * effort["blocks"] or None


def blocks_words(record):
    """How many blocks each scenario had, in words."""
    effort = record.get("effort") or {}
    blocks, goal = effort.get("blocks", "?"), effort.get("goal")
    if not goal:
        return f"{blocks} blocks"
    return f"{blocks} blocks or more, until {goal['half_width'] * 100:.3g} % or {goal['seconds']:.0f} s"
