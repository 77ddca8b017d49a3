#!/usr/bin/env python3
"""Puts results of `opbench simulate` into results/simulation/, in the place of those that are there, and makes README.md
and the figures beside them: which strategies change places between few and many virtual workers.

scripts/results/simulation.py X.csv [Y.csv ...] takes results, each with its .env.json beside it.

The page has the commands, the model, a sentence for each strategy that changes places, and what the model leaves out.
scripts/check/results fails when the page is not what the rows say, and makes it again with --write.

It runs in the virtual environment of scripts/plot, which it sets up where there is none.
"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# "$1" is the checkout; what follows are the results.
SCRIPT = """
cd "$1"
source scripts/support/python-environment
python_environment simulation .build/plot-venv Benchmarks/report/requirements.txt
export PYTHONPATH="$PWD/Benchmarks/report" PYTHONDONTWRITEBYTECODE=1
exec "$python" -P -m opbench_report.published simulation "${@:2}"
"""


def main(arguments):
    if not arguments or any(one.startswith("-") for one in arguments):
        print("simulation: takes results of opbench simulate, such as X.csv", file=sys.stderr)
        return 64
    # Paths are relative to where the caller stands.
    paths = [os.path.abspath(one) for one in arguments]
    sys.stdout.flush()
    os.execvp("bash", ["bash", "-euo", "pipefail", "-c", SCRIPT, "simulation", str(ROOT), *paths])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
