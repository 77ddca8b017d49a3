"""What the scripts themselves decide: whose Python files are taken, and when a reference run is gone on with."""

import os
import shutil
import subprocess
import sys

import pytest

from opbench_report.published import texts


@pytest.fixture()
def checkout(tmp_path, root):
    """The scripts and the report, with the Python that runs the tests and a bench that only notes what it is told."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    for name in ("plot", "reference", "check-results", "python-environment"):
        shutil.copy(root / "scripts" / name, checkout / "scripts")
    (checkout / "Benchmarks").mkdir()
    (checkout / "Benchmarks/report").symlink_to(root / "Benchmarks/report")
    environment = checkout / ".build/plot-venv"
    program(environment / "bin/python", f'exec "{sys.executable}" "$@"')
    shutil.copy(root / "Benchmarks/report/requirements.txt", environment / "made-from")
    program(checkout / "scripts/bench", 'echo "$*" >>told; exit 130')
    (checkout / "README.md").write_text("".join(f"{line}\n" for part in texts.PARTS for line in texts.marks(part)))
    return checkout


def program(path, line):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def call(checkout, name, *arguments, folder=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [checkout / "scripts" / name, *arguments],
        cwd=folder or checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "name, arguments, code, words",
    [
        ("plot", ["--help"], 0, "report.html"),
        ("check-results", [], 0, "there is no results/reference.csv.gz yet"),
        ("reference", ["--from", "no.csv"], 66, "there is no such file"),
    ],
)
def test_python_files_of_the_folder_are_not_taken(checkout, name, arguments, code, words):
    (checkout / "csv.py").write_text("raise SystemExit('taken from the folder')\n")
    done = call(checkout, name, *arguments)
    assert done.returncode == code and words in done.stdout + done.stderr, done


@pytest.mark.parametrize(
    "left, goes_on",
    [
        ({}, False),
        ({"reference.csv": "", "reference.env.json": '{ "was_interrupted" : false }'}, False),
        # As opbench writes it, and as results/ has it.
        ({"reference.csv": "", "reference.env.json": '{\n    "was_interrupted" : true\n}'}, True),
        ({"reference.csv": "", "reference.env.json": '{ "was_interrupted": true }'}, True),
        ({"reference.csv.partial": ""}, True),
    ],
)
def test_a_reference_run_that_was_stopped_goes_on(checkout, left, goes_on):
    work = checkout / ".build/reference"
    work.mkdir()
    for name, text in {"validate.txt": "", **left}.items():
        (work / name).write_text(text)
    assert call(checkout, "reference").returncode == 130
    (told,) = (checkout / "told").read_text().splitlines()
    assert told.startswith("run --backend all --output") and told.endswith(" --resume") == goes_on
