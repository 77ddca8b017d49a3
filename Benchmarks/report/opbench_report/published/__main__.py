"""`publish FILE.csv [--validation validate.txt]`, `ablation FILE.csv…`, `simulation FILE.csv…` and `check [--write]`, for
scripts/results/reference, scripts/results/publish and scripts/check/results."""

import argparse
import os
import sys

from ..complaint import USAGE, Complaint, exit_code
from .check import disagreements
from .publish import publish, write_texts
from . import ablation, simulation, texts

_CHECK = "check/results"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Complaint(USAGE, message)


def main(arguments=None):
    """Runs and returns the exit code; what goes wrong is one line."""
    return exit_code("results", lambda: _run(arguments))


def _run(arguments):
    parser = _Parser(prog="opbench_report.published")
    parser.add_argument("--root", default=".", help="the checkout")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    publishing = commands.add_parser("publish")
    publishing.add_argument("csv")
    publishing.add_argument("--validation")
    changes = commands.add_parser("ablation")
    changes.add_argument("files", nargs="+", metavar="FILE.csv")
    simulated = commands.add_parser("simulation")
    simulated.add_argument("files", nargs="+", metavar="FILE.csv")
    checking = commands.add_parser("check")
    checking.add_argument("--write", action="store_true", help="make README.md, SUMMARY.md and the figures again")
    options = parser.parse_args(arguments)
    if options.command == "check":
        return exit_code(_CHECK, lambda: _check(options.root, options.write))
    if options.command == "ablation":
        ablation.publish(options.files, options.root)
        return print(f"{ablation.FOLDER}/ shows the new results")
    if options.command == "simulation":
        simulation.publish(options.files, options.root)
        return print(f"{simulation.FOLDER}/ shows the new results")
    publish(options.csv, options.validation, options.root)
    print("results/ and README.md show the new results")


def _check(root, writes):
    has_results = os.path.exists(os.path.join(root, "results", texts.CSV))
    if writes and has_results:
        write_texts(root)
    if writes:
        ablation.write(root)
        simulation.write(root)
    found = disagreements(root) + ablation.disagreements(root) + simulation.disagreements(root)
    for line in found:
        print(f"{_CHECK}: {line}", file=sys.stderr)
    if found:
        return 1
    print(
        "README.md and results/ agree"
        if has_results
        else f"there is no results/{texts.CSV} yet, and README.md shows none"
    )


if __name__ == "__main__":
    sys.exit(main())
