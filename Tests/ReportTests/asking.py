"""Makes documents of facts with the built program, and reports from them, as `opbench report` does."""

import os
import pathlib
import re
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


_answers = {}


def run(command, **_):
    """Runs a command, and once for the same content of files: for a copy elsewhere, the folder is that of the copy."""
    command = list(map(str, command))
    folder = next((os.path.dirname(word) for word in command[1:] if os.path.isfile(word)), "")
    content = lambda path: pathlib.Path(path).read_bytes() if os.path.isfile(path) else b""
    beside = lambda word: re.sub(r"\.csv(\.gz)?$", ".env.json", word)
    key = tuple((word.replace(folder, "") if folder else word, hash(content(word)), hash(content(beside(word)))) for word in command)
    if key not in _answers:
        _answers[key] = folder, subprocess.run(command, capture_output=True)
    known, done = _answers[key]
    said = (done.stdout, done.stderr) if known == folder else (out.replace(known.encode(), folder.encode()) for out in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, *said)


def facts_of(*paths):
    """The whole document of some results."""
    return Program(opbench()).facts(*map(str, paths))


def read(*paths):
    """What was measured in some results."""
    return facts_of(*paths).measured


def facts_beside(reference, path):
    """The document of a result with another subject to compare with."""
    done = run([opbench(), "report", path, "--reference", reference, "--facts", "-"])
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
        path = pathlib.Path(folder, "facts.json")
        done = run([opbench(), "report", *files, *reference, "--facts", "-"])
        if done.returncode:
            print(done.stderr.decode(), end="", file=sys.stderr)
            return done.returncode
        path.write_bytes(done.stdout)
        return main(["--facts", str(path), *options])
