"""What the numbers depend on beside the code."""

import shlex

from ..decisions import rows_words


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
    subjects = sorted({arm.subject for arm in results.general.arms})
    return [_source(source, subjects) for source in results.sources]


def _source(source, subjects):
    record = source.record
    if record is None:
        return {"name": source.name, "pairs": None}
    pairs = [(words, record[key]) for key, words in _WORDS if record.get(key) is not None]
    if record.get("dirty"):
        changed = " (with changes that are not committed)"
        pairs = [(words, f"{value}{changed}" if words == "commit" else value) for words, value in pairs]
    pairs += [("effort", record.effort_words)] if record.effort_words else []
    pairs += [(f"subject {subject.name}", _summary(subject)) for subject in subjects]
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
    """Returns each machine of a result that has several, with what it measured."""
    hosts = source.hosts or []
    if len(hosts) < 2:
        return []
    return [
        (
            host.host,
            host.cpu_model or "unknown",
            host.cpus_allowed or "unknown",
            host.kernel or "unknown",
            host.spin_text or "unknown",
            f"{host.rows:,}",
        )
        for host in hosts
    ]


def _summary(subject):
    given = rows_words(subject.gives_up)
    return f"{subject.summary}; gives up {given} of the contract" if given else subject.summary
