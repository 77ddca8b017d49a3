"""Makes documents of facts with the built program, and reports from them, as `opbench report` does."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from opbench_report.command import main
from opbench_report.facts import parsed
from opbench_report.published.program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]


def opbench():
    """The program of this checkout, which has to be built for that."""
    built = [ROOT / ".build" / configuration / "opbench" for configuration in ("debug", "release")]
    for program in filter(None, [shutil.which("opbench"), *built]):
        if os.path.exists(program):
            return str(program)
    pytest.skip("opbench is not built (swift build --product opbench), so there are no facts to show")


def facts_of(*paths):
    """The whole document of some results."""
    return Program(opbench()).facts(*map(str, paths))


def read(*paths):
    """What was measured in some results."""
    return facts_of(*paths).measured


def facts_beside(reference, path):
    """The document of a result with another subject to compare with."""
    done = subprocess.run([opbench(), "report", str(path), "--reference", reference, "--facts", "-"], capture_output=True, check=True)
    return parsed(done.stdout, path)


def report(*arguments):
    """Makes a report of files, with options, and returns the exit code."""
    arguments = list(map(str, arguments))
    end = next((place for place, word in enumerate(arguments) if word.startswith("--")), len(arguments))
    files, options, reference = arguments[:end], arguments[end:], []
    if "--reference" in options:
        place = options.index("--reference")
        reference = [options.pop(place), options.pop(place)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "facts.json")
        done = subprocess.run([opbench(), "report", *files, *reference, "--facts", path], capture_output=True, text=True)
        if done.returncode:
            print(done.stderr, end="", file=sys.stderr)
            return done.returncode
        return main(["--facts", path, *options])
