"""What the scripts themselves decide: whose Python files are taken, when a reference run is gone on with, and what a target's line says."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from opbench_report.published import texts


@pytest.fixture()
def checkout(tmp_path, root):
    """The scripts and the report, with the Python that runs the tests and a bench that only notes what it is told."""
    checkout = tmp_path / "checkout"
    for name in ("plot", "results/reference", "check/results", "support/python-environment", "results/targets.py"):
        (checkout / "scripts" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "scripts" / name, checkout / "scripts" / name)
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
        ("check/results", [], 0, "there is no results/reference.csv.gz yet"),
        ("results/reference", ["--from", "no.csv"], 66, "there is no such file"),
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
    assert call(checkout, "results/reference").returncode == 130
    (told,) = (checkout / "told").read_text().splitlines()
    assert told.startswith("run --backend all --output") and told.endswith(" --resume") == goes_on


def targets_run(folder, name, excluded=()):
    """A result with one ratio: a chain on our queue takes twice the time of raw Dispatch, in seven blocks; excluded blocks say otherwise."""
    lines = ["schema,run_id,block,process,value_index,family,benchmark,params,backend,workers,metric,unit,value,n"]
    for block in range(1, 8):
        for backend, time in (("stealing", 900 if block in excluded else 200), ("raw-dispatch", 100)):
            lines.append(f"1,r,{block},1,1,dependencies,chain,length=1000,{backend},2,ns_per_op,ns,{time},1")
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    blocks = [{"benchmark": "dependencies/chain", "params": "length=1000", "block": block} for block in excluded]
    (folder / f"{name}.env.json").write_text(json.dumps({
        "subjects": [{"name": "stealing", "role": "ours"}, {"name": "raw-dispatch", "role": "reference"}],
        "cells": ["dependencies/chain on stealing@2 (length=1000)", "dependencies/chain on raw-dispatch@2 (length=1000)"],
        "effort": {"blocks": 7}, "outcome": {"excluded_blocks": blocks}}))


def chain_line(text):
    return next(line.split() for line in text.splitlines() if line.startswith("chain / raw Dispatch"))[4:]


def test_excluded_blocks_do_not_count_for_a_target(checkout):
    targets_run(checkout, "all")
    targets_run(checkout, "some", excluded=[3])
    targets_run(checkout, "few", excluded=[2, 3])
    said = {name: call(checkout, "results/targets.py", f"{name}.csv.gz").stdout for name in ("all", "some", "few")}
    assert chain_line(said["all"]) == ["x2", "[2,", "2]", "7", "x0.8", "missed"]
    assert chain_line(said["some"]) == ["x2", "[2,", "2]", "6", "x0.8", "missed"]
    assert chain_line(said["few"]) == ["x2", "5", "x0.8", "too", "few", "blocks"]
    assert "2 of 7 blocks lost CPU time" in said["few"]


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["no.csv"], 66, "no.env.json"),
        (["--nonsense"], 64, "--pattern alone"),
        (["broken.csv"], 65, "no environment"),
    ],
)
def test_a_wrong_argument_for_the_targets(checkout, arguments, code, words):
    (checkout / "broken.env.json").write_text("[]")
    done = call(checkout, "results/targets.py", *arguments)
    assert done.returncode == code and words in done.stderr and done.stderr.count("\n") == 1, done


def test_the_table_of_targets_must_be_what_its_results_say(checkout):
    targets_run(checkout / "results", "targets")
    targets_run(checkout / "results/cost-curves", "sizes")
    (checkout / "results/targets.txt").write_text("something else\n")
    stale = call(checkout, "check/results")
    assert stale.returncode == 1 and "results/targets.txt" in stale.stderr, stale
    (checkout / "results/targets.txt").write_text(call(checkout, "results/targets.py").stdout)
    assert call(checkout, "check/results").returncode == 0


def test_the_pattern_of_the_targets_names_benchmarks_as_list_prints_them(checkout):
    names = call(checkout, "results/targets.py", "--pattern").stdout.strip().split("|")
    assert "^dependencies/chain length=1000$" in names
    assert "^dependencies/random-dag layers=16;probability=0[.]5;tasks=512$" in names
    assert not [name for name in names if "level=" in name or "length=1000000" in name]


def test_what_hangs_says_where_and_what_others_started_stays(tmp_path, root):
    """A command that hangs gets SIGABRT, and so do its children of that name; another session's process of that name lives on."""
    hanging = tmp_path / "hanging.xctest"
    hanging.write_text("import faulthandler, time\nfaulthandler.enable()\nprint('begun', flush=True)\ntime.sleep(100)\n")
    other = subprocess.Popen([sys.executable, hanging], start_new_session=True, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "begun\n"
        program(tmp_path / "parent", f'"{sys.executable}" "{hanging}" && true; sleep 100')
        done = subprocess.run(
            ["bash", "-c", f"source {root}/scripts/support/watched; watched 2 'hanging[.]xctest' {tmp_path}/parent"],
            env={**os.environ, "WATCHED_GRACE": "1"}, capture_output=True, text=True, timeout=60,
        )
        assert done.returncode not in (0, 64, 127)
        assert "has not ended after 2 seconds" in done.stderr and "Fatal Python error: Aborted" in done.stderr
        assert other.poll() is None
    finally:
        other.kill()


def test_a_stopped_watch_ends_what_it_started(tmp_path, root):
    program(tmp_path / "child", "echo $$; exec sleep 100")
    watch = subprocess.Popen(
        ["bash", "-c", f"source {root}/scripts/support/watched; watched 100 sleep {tmp_path}/child"],
        stdout=subprocess.PIPE, text=True,
    )
    child = int(watch.stdout.readline())
    watch.terminate()
    assert watch.wait(timeout=30) == 130
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            return
        time.sleep(0.1)
    raise AssertionError(f"process {child} goes on")
