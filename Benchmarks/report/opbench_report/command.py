"""The command line: --facts PATH --output DIR."""

import argparse
import os
import sys

from . import facts as document
from . import page, paper
from .charts import build_all, explained, simulated
from .complaint import CANNOT_CREATE, USAGE, Complaint, exit_code


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Complaint(USAGE, f"{message}; usage: {self.format_usage().removeprefix('usage: ')}")


def _parser():
    parser = _Parser(
        prog="opbench_report", description="Pictures (SVG and PNG) and one HTML page from the facts that opbench report makes."
    )
    parser.add_argument(
        "--facts", required=True, metavar="PATH", help="the document of opbench report --facts; a pipe is read once"
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="DIR",
        help="the folder for the pictures and report.html; made where it is missing",
    )
    parser.add_argument(
        "--validation",
        metavar="validate.txt",
        help="the report of opbench validate (default: validate.txt beside the first result)",
    )
    parser.add_argument("--no-page", action="store_true", help="pictures only")
    parser.add_argument("--no-pictures", action="store_true", help="the page only")
    return parser


def main(arguments=None):
    """Runs and returns the exit code; what goes wrong is one line."""
    return exit_code("plot", lambda: run(_options(arguments)))


def _options(arguments):
    options = _parser().parse_args(arguments)
    if options.no_page and options.no_pictures:
        raise Complaint(USAGE, "--no-page and --no-pictures together leave nothing to make")
    return options


def run(options):
    say = lambda text: print(f"plot: {text}", file=sys.stderr)
    facts = document.read(options.facts)
    if options.validation is not None and not facts.measured:
        raise Complaint(USAGE, "--validation is for results of opbench run, and no file here is one")
    for source in facts.sources_of("measured"):
        if source.record is None:
            say(f"{source.path} has no .env.json beside it: excluded blocks, failures and the machine are not known")
    # Read before anything is written, so that a wrong one leaves no half of a report.
    validation = None
    if facts.measured and not options.no_page:
        validation = page.validation.find(options.validation, facts.measured.sources[0].path)
    _prepare(options.output)
    charts, missing = build_all(facts) if facts.measured else ([], [])
    charts += explained.build_all(facts) if facts.explained else []
    drawn = [] if options.no_pictures else [*charts, *_simulated(facts, is_whole=False)]
    pictures = [f"{chart.name}.{kind}" for chart in drawn for kind in paper.KINDS]
    _spare_sources(facts.sources, options.output, pictures + ([] if options.no_page else [page.copies.PAGE]))
    copies = page.copies.plan(facts.sources, options.output) if not options.no_page else None
    for chart in missing:
        say(chart)
    try:
        for chart in drawn:
            paper.render(chart, options.output, source_line(facts.sources_of(chart.kind)))
        if not options.no_page:
            shown = [*charts, *_simulated(facts, is_whole=True)]
            page.write(facts, shown, missing, validation, copies, options.output)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write into {options.output}: {error.strerror or error}") from None
    made = [f"{len(drawn)} pictures as SVG and PNG"] if drawn else []
    made += [] if options.no_page else ["report.html"]
    say(f"wrote {' and '.join(made)} into {options.output}")


def _simulated(facts, is_whole):
    return simulated.build_all(facts, is_whole) if facts.simulated else []


def source_line(sources):
    """Returns what a picture was made from."""
    return ", ".join(f"{source.name} sha256:{source.digest}" for source in sources)


def _spare_sources(sources, folder, names):
    """What was measured is never written over, whatever it is called."""
    for source in sources:
        for path in (source.path, document.path_beside(source.path)):
            for target in (os.path.join(folder, name) for name in names):
                if os.path.exists(path) and os.path.exists(target) and os.path.samefile(path, target):
                    raise Complaint(CANNOT_CREATE, f"{path} would be written over; take another --output")


def _prepare(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        # Asked before the pictures are drawn; root may write everywhere but on a read-only file system.
        probe = os.path.join(folder, f".opbench-{os.getpid()}")
        with open(probe, "w", encoding="utf-8"):
            pass
        os.remove(probe)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write into the folder {folder}: {error.strerror}") from None
