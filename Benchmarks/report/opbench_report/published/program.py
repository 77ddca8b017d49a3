"""Asks opbench for the facts of results."""

import functools
import json
import subprocess
import tempfile

from ..complaint import UNAVAILABLE, Complaint
from ..facts import Record, parsed


class Program:
    """`path` is that of opbench, or its name on the search path."""

    def __init__(self, path):
        self._path = path

    @functools.cache
    def facts(self, *paths, claims=()):
        """Returns the facts of results; what is wrong with one is opbench's own line."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump([claim.asked for claim in claims], file)
            file.flush()
            more = ["--claims", file.name] if claims else []
            written = self._run("report", *paths, "--facts", "-", *more)
        return parsed(written, "opbench report --facts -")

    @functools.cache
    def compared(self, path, reference):
        """Returns what `opbench compare` says of a result: lines and means."""
        return json.loads(self._run("compare", path, "--reference", reference, "--format", "json"), object_hook=Record).comparison

    def _run(self, *arguments):
        try:
            done = subprocess.run([self._path, *arguments], capture_output=True)
        except OSError as error:
            raise Complaint(UNAVAILABLE, f"{self._path} cannot be run: {error.strerror}") from None
        if done.returncode:
            lines = done.stderr.decode("utf-8", errors="replace").strip().splitlines() or [f"opbench {arguments[0]} failed"]
            raise Complaint(done.returncode, lines[-1].removeprefix("opbench: "))
        return done.stdout
