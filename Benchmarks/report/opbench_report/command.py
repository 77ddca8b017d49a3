"""The command line: FILE.csv… --output DIR."""

import argparse
import os
import sys

from . import page, paper
from .charts import build_all
from .complaint import CANNOT_CREATE, USAGE, Complaint, exit_code
from .data import results as result_files
from .data import simulation as simulated_files
from .data.environment import path_beside
from .paper import simulation as simulated_pictures
from .simulated import Simulated, most_different


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Complaint(USAGE, f"{message}; usage: {self.format_usage().removeprefix('usage: ')}")


def _parser():
    parser = _Parser(
        prog="scripts/plot", description="Pictures (SVG and PNG) and one HTML page from results of opbench."
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE.csv",
        help="results of opbench run or simulate, each with its .env.json beside it",
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
    parser.add_argument(
        "--reference", metavar="NAME", help="the subject to compare with (default: the one that the results name)"
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
    files = [path for path in options.files if not simulated_files.is_simulated(path)]
    others = [path for path in options.files if path not in files]
    simulated = Simulated(others) if others else None
    if not files:
        _refuse_what_is_for_measured(options)
    results = result_files.read(files, options.reference) if files else None
    measured, other = results.sources if results else [], simulated.sources if simulated else []
    for source in measured:
        if source.record is None:
            say(f"{source.path} has no .env.json beside it: excluded blocks, failures and the machine are not known")
    # Read before anything is written, so that a wrong one leaves no half of a report.
    validation = page.validation.find(options.validation, files[0]) if files and not options.no_page else None
    _prepare(options.output)
    charts, missing = build_all(results) if results else ([], [])
    pictures = [f"{chart.name}.{kind}" for chart in charts for kind in paper.KINDS]
    pictures += simulated_pictures.IN_REPORT if simulated else []
    pictures = [] if options.no_pictures else pictures
    _spare_sources([*measured, *other], options.output, pictures + ([] if options.no_page else [page.copies.PAGE]))
    copies = page.copies.plan([*measured, *other], options.output) if not options.no_page else None
    for one in missing:
        say(one)
    try:
        if not options.no_pictures:
            for chart in charts:
                paper.render(chart, options.output, source_line(results))
            if simulated:
                _render_simulated(simulated, options.output)
        if not options.no_page:
            page.write(results, charts, missing, validation, simulated, copies, options.output)
    except OSError as error:
        raise Complaint(CANNOT_CREATE, f"cannot write into {options.output}: {error.strerror or error}") from None
    made = []
    if not options.no_pictures:
        made += [f"{len(charts)} pictures as SVG and PNG"] if results else []
        made += [f"{len(simulated_pictures.IN_REPORT)} simulated pictures as SVG"] if simulated else []
    made += [] if options.no_page else ["report.html"]
    say(f"wrote {' and '.join(made)} into {options.output}")


def _refuse_what_is_for_measured(options):
    for name in ("validation", "reference"):
        if getattr(options, name) is not None:
            raise Complaint(USAGE, f"--{name} is for results of opbench run, and all files here are simulated")


def _render_simulated(simulated, folder):
    shown, base = simulated.shown, simulated.base
    lines = most_different(shown, base, simulated_pictures.MOST_LINES)
    simulated_pictures.render(shown, lines, base, folder, source_line(simulated), simulated_pictures.IN_REPORT)


def source_line(results):
    """What a picture was made from."""
    return ", ".join(f"{source.name} sha256:{source.digest}" for source in results.sources)


def _spare_sources(sources, folder, names):
    """What was measured is never written over, whatever it is called."""
    for source in sources:
        for path in (source.path, path_beside(source.path)):
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
