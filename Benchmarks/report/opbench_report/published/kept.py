"""Puts a result into `results/`: packed, and its environment without the paths of the machine. `python3 -m
opbench_report.published.kept X.csv results/X.csv.gz` needs Python alone."""

import gzip
import json
import os
import sys

from ..complaint import CANNOT_CREATE, USAGE, Complaint, exit_code
from ..data import csvfile
from ..data.environment import path_beside
from ..data.source import read_source
from ..files import replace


def keep(source, place):
    """Writes `place`, a .csv.gz, and the environment beside it, which the source must have."""
    record = source.required_record()
    # Without a time stamp: the same rows give the same file.
    replace(place, gzip.compress(csvfile.unpacked(source.raw, source.path), mtime=0))
    replace(path_beside(place), json.dumps(_without_places(record), indent=2, sort_keys=True) + "\n")


def _without_places(record):
    """Where files lay on the machine that measured is nobody's business, and would tell apart what is alike."""
    own = dict(record)
    for key in ("arguments", "graphs"):  # "graphs" in results of before "context"
        if isinstance(own.get(key), list):
            own[key] = [
                (
                    os.path.basename(str(one))
                    if "/" in str(one) and not str(one).startswith("-") and not _is_pattern(own[key], one)
                    else one
                )
                for one in own[key]
            ]
    # A merged result has the environments of its shards.
    if isinstance(own.get("shards"), list):
        own["shards"] = [_without_places(one) for one in own["shards"]]
    return own


def _is_pattern(arguments, one):
    """The value of --benchmark has slashes too, and is no path."""
    place = arguments.index(one)
    return place > 0 and arguments[place - 1] in ("--benchmark", "--metric")


def _run(arguments):
    if len(arguments) != 2:
        raise Complaint(USAGE, "takes a result and where to keep it, such as X.csv results/X.csv.gz")
    csv, place = arguments
    source = read_source(csv)
    try:
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
        keep(source, place)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write {place}: {error.strerror or error}") from None


if __name__ == "__main__":
    sys.exit(exit_code("results", lambda: _run(sys.argv[1:])))
