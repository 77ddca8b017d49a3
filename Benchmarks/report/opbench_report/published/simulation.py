"""`results/simulation/README.md` and its figures: which strategies change places between few and many virtual workers.
All of it follows from the rows that lie beside it."""

import glob
import gzip
import hashlib
import json
import os

from ..complaint import BAD_INPUT, CANNOT_CREATE, NO_INPUT, USAGE, Complaint
from ..data.csvfile import read_bytes, unpacked
from ..data.simulation import Simulation, granularity
from ..files import replace
from ..paper import simulation as pictures
from ..simulated import (
    LEFT_OUT,
    MARGIN,
    default_of,
    ends,
    in_short,
    most_different,
    moves,
    ratio_words,
    sentences,
    verdict,
)

FOLDER = "results/simulation"
_PAGE = "README.md"
# Sweeps of granularities (`opbench simulate --metg`) have a table of their own.
_SWEEPS = "metg.csv.gz"
_AGAIN = "scripts/check/results --write makes it again"


def publish(paths, root):
    """Puts results in the place of those that are there, and makes the page and the figures of them."""
    Simulation(paths)
    folder = os.path.join(root, FOLDER)
    if all(_is_sweep(path) for path in paths):
        raise Complaint(USAGE, "sweeps alone say nothing of strategies: a result beside metg.csv is needed")
    names = [os.path.basename(path).removesuffix(".gz").removesuffix(".csv") for path in paths]
    if len(set(names)) < len(names):
        raise Complaint(USAGE, f"two results are called {names[0]}; each needs a name of its own")
    try:
        os.makedirs(folder, exist_ok=True)
        for path, name in zip(paths, names):
            rows, facts = unpacked(read_bytes(path), path), _facts(path)
            # Without a time stamp: the same rows give the same file.
            replace(os.path.join(folder, name + ".csv.gz"), gzip.compress(rows, mtime=0))
            replace(os.path.join(folder, name + ".env.json"), json.dumps(facts, indent=2, sort_keys=True) + "\n")
        for path in _kept(root):
            if os.path.basename(path).removesuffix(".csv.gz") not in names:
                os.remove(path)
                os.remove(_beside(path))
        write(root)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write into {folder}: {error.strerror or error}") from None


def _beside(path):
    return path.removesuffix(".gz").removesuffix(".csv") + ".env.json"


def _facts(path):
    """The environment beside the rows, without the places of files."""
    beside = _beside(path)
    if not os.path.exists(beside):
        raise Complaint(NO_INPUT, f"{beside}: there is no such file, and the rows need their environment")
    try:
        facts = json.loads(read_bytes(beside))
        facts["arguments"] = [os.path.basename(one) if one.startswith("/") else one for one in facts["arguments"]]
        return facts
    except (ValueError, KeyError, TypeError):
        raise Complaint(BAD_INPUT, f"{beside}: this is no environment of opbench simulate") from None


def write(root):
    """The page and the figures; nothing where there are no such results."""
    if paths := _kept(root):
        simulation = _strategies(paths)
        folder = os.path.join(root, FOLDER)
        default = default_of(simulation)
        pictures.render(simulation, most_different(simulation, default, pictures.MOST_LINES), default, folder, _source(paths))
        replace(os.path.join(folder, _PAGE), _whole(paths))


def _whole(paths):
    sweeps = [path for path in paths if _is_sweep(path)]
    return page(_strategies(paths), [_facts(path) for path in paths], Simulation(sweeps) if sweeps else None)


def _strategies(paths):
    return Simulation([path for path in paths if not _is_sweep(path)])


def _is_sweep(path):
    return os.path.basename(path).removesuffix(".gz") == _SWEEPS.removesuffix(".gz")


def disagreements(root):
    """A line for each; none where all agree, or where there are no such results."""
    paths = _kept(root)
    if not paths:
        shown = os.path.exists(os.path.join(root, FOLDER, _PAGE))
        return [f"{FOLDER}/{_PAGE} shows results, but there is no {FOLDER}/*.csv.gz"] if shown else []
    found = []
    if _text(os.path.join(root, FOLDER, _PAGE)) != _whole(paths):
        found.append(f"{FOLDER}/{_PAGE} is not what the rows beside it say; {_AGAIN}")
    for name in (pictures.EFFICIENCY, pictures.LIMITS):
        if _source(paths) not in (_text(os.path.join(root, FOLDER, name)) or ""):
            found.append(f"{FOLDER}/{name} was not made from the rows beside it; {_AGAIN}")
    return found


def _kept(root):
    return sorted(glob.glob(os.path.join(glob.escape(root), FOLDER, "*.csv.gz")))


def _source(paths):
    """Names the files with a digest of their rows."""
    digests = [hashlib.sha256(unpacked(read_bytes(path), path)).hexdigest()[:12] for path in paths]
    return ", ".join(f"{os.path.basename(path)} {digest}" for path, digest in zip(paths, digests))


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def page(simulation, facts, sweeps=None):
    """The whole text; `sweeps` are runs at many granularities, for METG."""
    default = default_of(simulation)
    few, many = ends(simulation)
    compared = moves(simulation, default, few, many)
    changed = sentences(simulation, default, few, many)
    head = in_short(changed, compared, default, few, many)
    paragraphs = [
        "# Strategies on many workers, simulated",
        "Generated by `scripts/results/publish simulation`; `scripts/check/results --write` makes it again from the rows. "
        "No CPU ran these tasks.",
        head,
        *([_list(changed)] if changed else []),
        f"A number is the makespan by that of `{default}`: the geometric mean over all graphs, its median over the seeds, and "
        f"in brackets the least and the most over the seeds. A strategy is called faster or slower when all seeds say so by "
        f"more than {100 * MARGIN:g} %.",
        f"![Simulated efficiency against virtual workers]({pictures.EFFICIENCY})",
        f"*Efficiency is the shortest possible schedule by the makespan. The strategies are those that differ most from "
        f"`{default}` with {many:,} workers.*",
        f"![What limits the default, simulated]({pictures.LIMITS})",
        "*Work: every worker busy. Critical path: what the longest path takes beyond that. Scheduler: the rest.*",
        *(_granularities(sweeps) if sweeps else []),
        "## What the model leaves out",
        LEFT_OUT,
        "## All strategies",
        _table(simulation, default, compared, few, many),
        "## How it was made",
        *[_made(one) for one in facts],
        "[errors.txt](errors.txt) has how far simulated makespans are from proven bounds, and from the real pools with one "
        "and two workers.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _granularities(sweeps):
    """The table of METG(50 %)."""
    rows = [["graph", "strategy", "workers", "METG(50 %), simulated"], ["---", "---", "--:", "--:"]]
    for (graph, sizes, backend, workers), found in granularity(sweeps, 0.5).items():
        rows.append([f"{graph} ({sizes.replace(';', ', ')})", f"`{backend}`", f"{workers:,}", found.text])
    return [
        "## Granularity",
        "METG(50 %) is the granularity at which workers run tasks half of the time: the makespan by the number of tasks, times "
        "the number of workers.",
        "\n".join("| " + " | ".join(row) + " |" for row in rows),
    ]


def _list(lines):
    return "\n".join(f"* {line}" for line in lines)


def _table(simulation, default, compared, few, many):
    rows = [["strategy", f"{few} workers", f"{many:,} workers", "verdicts"], ["---", "--:", "--:", "---"]]
    for name, small, large in compared:
        rows.append([f"`{name}`", ratio_words(small), ratio_words(large), f"{verdict(small)}, {verdict(large)}"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _made(facts):
    # The conditions of a simulation stood beside the other facts in earlier records.
    model = facts.get("simulation", facts)["model"]
    command = " ".join(["opbench", *(_quoted(one) for one in facts["arguments"][1:])])
    commit = (facts.get("commit") or "no checkout")[:7] + (" with changes" if facts.get("dirty") else "")
    return (
        f"`{command}`, commit {commit}. The costs: {model['name']}, {model['date']}"
        f" ({model['machine']['cpus']} CPUs, {model['machine']['cpu']})."
    )


def _quoted(word):
    return f"'{word}'" if any(character in word for character in "(); ") else word
