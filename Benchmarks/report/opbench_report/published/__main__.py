"""`publish FILE.csv [--validation validate.txt]` and `check [--write]`, for scripts/results/reference and
scripts/check/results."""

import argparse
import os
import sys

from ..complaint import USAGE, Complaint
from .check import disagreements
from .publish import publish, write_texts
from . import texts


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Complaint(USAGE, message)


def main(arguments=None):
    parser = _Parser(prog="opbench_report.published")
    parser.add_argument("--root", default=".", help="the checkout")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    publishing = commands.add_parser("publish")
    publishing.add_argument("csv")
    publishing.add_argument("--validation")
    checking = commands.add_parser("check")
    checking.add_argument("--write", action="store_true", help="make README.md, SUMMARY.md and the figures again")
    name = "results"
    try:
        options = parser.parse_args(arguments)
        if options.command == "publish":
            publish(options.csv, options.validation, options.root)
            return _say("results/ and README.md show the new results")
        name = "check/results"
        if options.write and os.path.exists(os.path.join(options.root, "results", texts.CSV)):
            write_texts(options.root)
        found = disagreements(options.root)
    except Complaint as complaint:
        print(f"{name}: {complaint}", file=sys.stderr)
        return complaint.code
    for line in found:
        print(f"{name}: {line}", file=sys.stderr)
    has_results = os.path.exists(os.path.join(options.root, "results", texts.CSV))
    if found:
        return 1
    return _say(
        "README.md and results/ agree"
        if has_results
        else f"there is no results/{texts.CSV} yet, and README.md shows none"
    )


def _say(text):
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
