"""Puts a result into `results/`: packed, and its environment without the paths of the machine. `python3 -m
opbench_report.published.kept X.csv results/X.csv.gz` needs Python alone."""

import csv
import gzip
import json
import os
import sys
import zlib

from ..complaint import BAD_INPUT, CANNOT_CREATE, USAGE, Complaint, exit_code
from ..facts import path_beside, read_bytes
from ..files import replace

# The longest line of an environment, where it can be divided.
_WIDTH = 200


def keep(result, place, is_kept=None):
    """Writes `place`, a .csv.gz, and the environment beside it, which the result must have. `is_kept` says of the
    environment, a benchmark and a metric whether their rows are kept."""
    rows, record = rows_of(result), record_of(result)
    if is_kept:
        rows, record = _part(rows, record, is_kept)
    # Without a time stamp: the same rows give the same file.
    replace(place, gzip.compress(rows, mtime=0))
    replace(path_beside(place), _text(_without_places(record)) + "\n")


def _text(value, indent=""):
    """Returns JSON with sorted keys, in which whatever fits stands on a line: a cell, a block, a subject."""
    line = json.dumps(value, sort_keys=True)
    if len(line) <= _WIDTH or not isinstance(value, (dict, list)):
        return line
    more = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(more + _text(own, more) for own in value) + f"\n{indent}]"
    pairs = (f"{more}{json.dumps(key)}: {_text(own, more)}" for key, own in sorted(value.items()))
    return "{\n" + ",\n".join(pairs) + f"\n{indent}}}"


def _part(rows, record, is_kept):
    header, *lines = rows.decode("utf-8").splitlines(keepends=True)
    part = [line for line, row in zip(lines, csv.reader(lines)) if is_kept(record, f"{row[5]}/{row[6]}", row[10])]
    return (header + "".join(part)).encode("utf-8"), record | {"outcome": record["outcome"] | {"row_count": len(part)}}


def keep_all(paths, folder, is_kept=None):
    """Puts results into a folder, in the place of those that are there."""
    names = [os.path.basename(path).removesuffix(".gz").removesuffix(".csv") + ".csv.gz" for path in paths]
    if len(set(names)) < len(names):
        raise Complaint(USAGE, f"two results are called {names[0]}; each needs a name of its own")
    for path in paths:
        record_of(path)
    os.makedirs(folder, exist_ok=True)
    for path, name in zip(paths, names):
        keep(path, os.path.join(folder, name), is_kept)
    for name in os.listdir(folder):
        if name.endswith(".csv.gz") and name not in names:
            os.remove(os.path.join(folder, name))
            os.remove(os.path.join(folder, path_beside(name)))


def rows_of(result):
    """Returns the rows of a result as text, whether they are packed or not."""
    content = read_bytes(result)
    if not str(result).endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise Complaint(BAD_INPUT, f"{result}: not a whole gzip file") from None


def record_of(result):
    """Returns the environment beside a result, which it must have."""
    beside = path_beside(result)
    if not os.path.exists(beside):
        raise Complaint(BAD_INPUT, f"{result} has no {os.path.basename(beside)} beside it, without which nobody can judge it")
    try:
        record = json.loads(read_bytes(beside))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise Complaint(BAD_INPUT, f"{beside}: not the environment that opbench writes beside a result")
    return record


def _without_places(record):
    """Where files lay on the machine that measured is nobody's business, and would tell apart what is alike."""
    kept = dict(record)
    words = record.get("arguments")
    if isinstance(words, list):
        kept["arguments"] = [_without_place(word, before) for before, word in zip(["", *words], words)]
    # The files that the benchmarks read, a line each.
    if isinstance(record.get("context"), str):
        kept["context"] = "\n".join(os.path.basename(line) for line in record["context"].split("\n"))
    # A merged result has the environments of its shards.
    if isinstance(record.get("shards"), list):
        kept["shards"] = [_without_places(shard) for shard in record["shards"]]
    return kept


def _without_place(word, before):
    """The value of --benchmark has slashes too, and is no path."""
    is_path = "/" in str(word) and not str(word).startswith("-") and before not in ("--benchmark", "--metric")
    return os.path.basename(str(word)) if is_path else word


def _run(arguments):
    if len(arguments) != 2:
        raise Complaint(USAGE, "takes a result and where to keep it, such as X.csv results/X.csv.gz")
    result, place = arguments
    try:
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
        keep(result, place)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write {place}: {error.strerror or error}") from None


if __name__ == "__main__":
    sys.exit(exit_code("results", lambda: _run(sys.argv[1:])))
