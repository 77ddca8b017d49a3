"""What the numbers depend on beside the code."""

import shlex

from ..data.environment import blocks_words
from ..data.machines import sittings
from .html import details, table, tag, text

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
    parts = [tag("h2", "Environment", id="environment-title")]
    for source in results.sources:
        if len(results.sources) > 1:
            parts.append(tag("h3", text(source.name)))
        parts.append(_one(source, {arm.subject.name for arm in results.general.arms}))
    return tag("section", "".join(parts), id="environment", aria_labelledby="environment-title")


def _one(source, measured):
    record = source.record
    if record is None:
        return tag(
            "p",
            f"{text(source.name)} has no .env.json beside it: the machine, excluded blocks and failures are not known.",
        )
    pairs = [(words, record[key]) for key, words in _WORDS if record.get(key) is not None]
    pairs = [
        (
            words,
            f"{value} (with changes that are not committed)" if words == "commit" and record.get("dirty") else value,
        )
        for words, value in pairs
    ]
    if effort := _effort(record):
        pairs.append(("effort", effort))
    pairs += [
        (f"subject {one['name']}", one["summary"]) for one in record.get("subjects", []) if one["name"] in measured
    ]
    peers = record.get("peers")
    if isinstance(peers, dict):
        pairs += [(f"peer {name}", version) for name, version in sorted(peers.items())]
    content = tag("dl", "".join(tag("div", tag("dt", text(words)) + tag("dd", text(value))) for words, value in pairs))
    content += _machines(source)
    arguments = record.get("arguments")
    if isinstance(arguments, list):
        # Where the program lay says nothing about the numbers.
        command = shlex.join(["opbench", *map(str, arguments[1:])])
        content += details("Command", tag("pre", text(command), tabindex="0"))
    return content


def _machines(source):
    """Each machine of a result that has several, with what it measured."""
    rows = {}
    for row in source.counted:
        if row.host:
            rows[row.host] = rows.get(row.host, 0) + 1
    if len(rows) < 2:
        return ""
    found = sittings(source.record)
    own = []
    for host in sorted(rows):
        one = found.get(host, {})
        spin = (one.get("spin") or {}).get("rounds_per_microsecond")
        own.append(
            (
                host,
                one.get("cpu_model") or "unknown",
                one.get("cpus_allowed", "unknown"),
                one.get("kernel", "unknown"),
                "unknown" if spin is None else f"{spin:.4g}",
                f"{rows[host]:,}",
            )
        )
    head = ("machine", "CPU", "CPUs", "kernel", "spin rounds per µs", "rows")
    return tag("h3", "Machines") + table(head, own, "Machines")


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
