#!/usr/bin/env python3
"""Prints a filter for the tests that what differs from a git revision can break: changed-tests.py [REVISION, default
HEAD].

A target's tests can break when the target has a changed file, or uses a target that has one: Package.swift says who
uses whom. A script or a page can break the targets whose sources name it. What a change of the library leaves to the
whole run are the tests of the laboratory, which measures the library and uses little of it; a line says so. Standard
error says what is run, and which files no test speaks of. Prints nothing where no test is to be run.
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# These tests run whatever changes of the library: the rest of what uses the library are the tests of the laboratory.
LIBRARY = "Sources/"
LABORATORY = {"HarnessTests", "SubjectsTests", "WorkloadsTests", "SimulationTests", "LaboratoryTests", "OpbenchTests", "ParserTests"}


def output(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(f"test: {' '.join(command)} failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}", file=sys.stderr)
        sys.exit(66 if command[0] == "git" else 70)
    return done.stdout


def folders(target):
    """Gives the folders of a target: its own, and those that symbolic links in it lead to."""
    own = ROOT / target["path"]
    links = [path.resolve() for path in own.rglob("*") if path.is_symlink()]
    return [own, *links]


def users(changed, targets):
    """Gives the targets, by name, that are among the changed ones or use one of them."""
    uses = {
        target["name"]: {next(iter(use.values()))[0] for use in target["dependencies"] if "product" not in use} for target in targets
    }
    reached, before = set(changed), None
    while reached != before:
        before = set(reached)
        reached |= {name for name, used in uses.items() if used & reached}
    return reached


def main(arguments):
    revision = arguments[0] if arguments else "HEAD"
    names = output("git", "diff", "--name-only", revision, "--") + output("git", "ls-files", "--others", "--exclude-standard")
    files = sorted(set(names.splitlines()))
    targets = json.loads(output("swift", "package", "dump-package"))["targets"]
    tests = {target["name"] for target in targets if target["type"] == "test"}
    if any(file.startswith("Package.") for file in files):
        print("test: Package.swift has changed: all tests", file=sys.stderr)
        print(".")
        return 0
    places = {target["name"]: folders(target) for target in targets}
    chosen, left_out, unknown = set(), set(), []
    for file in files:
        path = ROOT / file
        owners = set()
        if path.suffix != ".md":
            owners = {name for name, own in places.items() if any(folder in path.parents for folder in own)}
        reached = users(owners, targets) & tests
        if not owners:
            reached = {
                name for name in tests
                if any(file in source.read_text() for folder in places[name] for source in folder.rglob("*.swift") if source.is_file())
            }  # fmt: skip
        if not reached:
            unknown.append(file)
        if file.startswith(LIBRARY) and not owners & LABORATORY:
            left_out |= reached & LABORATORY
            reached -= LABORATORY
        chosen |= reached
    left_out -= chosen
    say = lambda text: print(f"test: {text}", file=sys.stderr)
    if unknown:
        say(f"no test speaks of {', '.join(unknown)}: scripts/ci --list names the steps that do")
    if left_out:
        say(f"left to the whole run: {', '.join(sorted(left_out))}, the tests of the laboratory")
    say(f"{len(files)} changed files, tests of {', '.join(sorted(chosen)) or 'no target'}")
    if chosen:
        print(f"^({'|'.join(sorted(chosen))})\\.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
