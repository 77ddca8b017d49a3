"""What the numbers depend on beside the code."""

import shlex

from ..data.environment import blocks_words
from ..data.machines import sittings

_WORDS = (
    ("started_at", "started"),
    ("commit", "commit"),
    ("toolchain", "toolchain"),
    ("optimisation", "build"),
    ("allocator", "allocator"),
    ("counting_allocator", "counting allocator"),
    ("cpu_model", "CPU"),
    ("cpus_online", "CPUs online"),
    ("cpus_allowed", "CPUs allowed"),
    ("cpu_quota", "CPU quota"),
    ("kernel", "kernel"),
    ("governor", "frequency governor"),
    ("aslr", "ASLR"),
    ("load_average_at_start", "load average at the start"),
    ("seed", "seed"),
    ("host", "machine"),
    ("run_id", "run"),
)


def section(results):
    shown = {arm.subject.name for arm in results.general.arms}
    return [_source(source, shown) for source in results.sources]


def _source(source, shown):
    record = source.record
    if record is None:
        return {"name": source.name, "pairs": None}
    pairs = [(words, record[key]) for key, words in _WORDS if record.get(key) is not None]
    if record.get("dirty"):
        pairs = [(words, f"{value} (with changes that are not committed)" if words == "commit" else value) for words, value in pairs]
    if effort := _effort(record):
        pairs.append(("effort", effort))
    pairs += [
        (f"subject {subject['name']}", subject["summary"]) for subject in record.get("subjects", []) if subject["name"] in shown
    ]
    peers = record.get("peers")
    if isinstance(peers, dict):
        pairs += [(f"peer {name}", version) for name, version in sorted(peers.items())]
    arguments = record.get("arguments")
    return {
        "name": source.name,
        "pairs": pairs,
        "machines": _machines(source),
        # Where the program lay says nothing about the numbers.
        "command": shlex.join(["opbench", *map(str, arguments[1:])]) if isinstance(arguments, list) else None,
    }


def _machines(source):
    """Each machine of a result that has several, with what it measured."""
    rows = {}
    for row in source.counted:
        if row.host:
            rows[row.host] = rows.get(row.host, 0) + 1
    if len(rows) < 2:
        return []
    known = sittings(source.record)
    lines = []
    for host in sorted(rows):
        sitting = known.get(host, {})
        spin = (sitting.get("spin") or {}).get("rounds_per_microsecond")
        lines.append(
            (
                host,
                sitting.get("cpu_model") or "unknown",
                sitting.get("cpus_allowed", "unknown"),
                sitting.get("kernel", "unknown"),
                "unknown" if spin is None else f"{spin:.4g}",
                f"{rows[host]:,}",
            )
        )
    return lines


def _effort(record):
    """In words, where the record has what they need."""
    effort = record.get("effort") or {}
    try:
        return (
            f"{blocks_words(record)}; in each a process per cell with {effort['values']} values of at least "
            f"{effort['target'] / 1e6:g} ms after {effort['lead_in'] / 1e6:g} ms of lead-in"
        )
    except (KeyError, TypeError, OverflowError):
        return None
