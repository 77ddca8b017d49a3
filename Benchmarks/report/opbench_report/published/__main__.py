"""`publish FILE.csv [--validation validate.txt]`, `ablation`, `simulation` or `macro` with `FILE.csv…`, and
`check [--write]`, for scripts/results/reference, scripts/results/publish and scripts/check/results."""

import argparse
import os
import sys

from ..complaint import USAGE, Complaint, exit_code
from . import ablation, macro, simulation, texts, which
from .check import disagreements
from .program import Program
from .publish import publish, write_texts

_CHECK = "check/results"
_FOLDERS = {"ablation": ablation.FOLDER, "simulation": simulation.FOLDER, "macro": macro.FOLDER}


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Complaint(USAGE, message)


def main(arguments=None):
    """Runs and returns the exit code; what goes wrong is one line."""
    return exit_code("results", lambda: _run(arguments))


def _run(arguments):
    parser = _Parser(prog="opbench_report.published")
    parser.add_argument("--root", default=".", help="the checkout")
    parser.add_argument("--opbench", default="opbench", metavar="PROGRAM", help="what makes the facts")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    publishing = commands.add_parser("publish")
    publishing.add_argument("csv")
    publishing.add_argument("--validation")
    for name in _FOLDERS:
        commands.add_parser(name).add_argument("files", nargs="+", metavar="FILE.csv")
    checking = commands.add_parser("check")
    checking.add_argument("--write", action="store_true", help="make the pages and the figures again")
    options = parser.parse_args(arguments)
    program = Program(options.opbench)
    if options.command == "check":
        return exit_code(_CHECK, lambda: _check(program, options.root, options.write))
    if options.command in _FOLDERS:
        folder = _FOLDERS[options.command]
        folder.publish(program, options.files, options.root)
        return print(f"{folder.name}/ shows the new results")
    publish(program, options.csv, options.validation, options.root)
    print("results/ and README.md show the new results")


def _check(program, root, writes):
    has_results = os.path.exists(os.path.join(root, "results", texts.CSV))
    if writes and has_results:
        write_texts(program, root)
        which.write(program, root)
    lines = disagreements(program, root) + which.disagreements(program, root)
    for folder in _FOLDERS.values():
        if writes:
            folder.write(program, root)
        lines += folder.disagreements(program, root)
    for line in lines:
        print(f"{_CHECK}: {line}", file=sys.stderr)
    if lines:
        return 1
    print(
        "README.md and results/ agree"
        if has_results
        else f"there is no results/{texts.CSV} yet, and README.md shows none"
    )


if __name__ == "__main__":
    sys.exit(main())
