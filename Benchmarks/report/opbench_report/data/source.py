"""One result as its files have it: the rows that count, and the environment beside them. Needs Python alone, so that
scripts/results/targets.py runs without a virtual environment."""

import functools
import hashlib
import os
from dataclasses import dataclass
from typing import NamedTuple

from ..complaint import BAD_INPUT, Complaint
from . import csvfile, environment, parameters
from .statistics import median


class Row(NamedTuple):
    """A value, with what it belongs to. `name` is family/benchmark, and `params` are in their canonical form."""

    run_id: str
    block: int
    process: int
    value_index: int
    name: str
    params: str
    backend: str
    workers: int
    metric: str
    unit: str
    value: float
    # The machine; empty where the file does not say it.
    host: str = ""


@dataclass(frozen=True)
class Source:
    """One CSV that was read."""

    path: str
    # As the file has them, packed or not.
    raw: bytes
    # The environment beside it, as the file has it and as it was read; None where there is none.
    environment: bytes | None
    record: dict | None
    # How many rows the file has.
    rows: int
    # The rows that are of no excluded block, no tail of a crowded block, and of no cell that failed.
    counted: list
    runs: tuple

    @property
    def name(self):
        return os.path.basename(self.path)

    @property
    def digest(self):
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def excluded_rows(self):
        return self.rows - len(self.counted)

    @property
    def outcome(self):
        return (self.record or {}).get("outcome", {})

    @property
    def allocator(self):
        return str((self.record or {}).get("allocator", "")).split(" ")[0]

    def required_record(self):
        """The environment; throws one line where there is none."""
        if self.record is None:
            beside = os.path.basename(environment.path_beside(self.path))
            raise Complaint(
                BAD_INPUT, f"{self.path} has no {beside} beside it, without which nobody can judge it"
            )
        return self.record


def read_source(path):
    """Reads a CSV and the environment beside it; throws one line when one of them is none, or the two do not belong
    together."""
    raw = csvfile.read_bytes(path)
    rows = [_row(fields) for fields in csvfile.rows(csvfile.unpacked(raw, path), path)]
    beside, record = environment.read(environment.path_beside(path))
    runs = tuple(dict.fromkeys(row.run_id for row in rows))
    _check_belongs(path, runs, record)
    is_left_out = _left_out(record or {})
    counted = [
        row
        for row in rows
        if not is_left_out(row.name, row.params, row.block, row.backend, row.workers, is_tail(row.metric))
    ]
    return Source(path, raw, beside, record, len(rows), counted, runs)


def processes(rows):
    """The median of each process: (name, params, metric, unit, backend, workers) -> (run, host, block) -> number."""
    values = {}
    for row in rows:
        cell = values.setdefault((row.name, row.params, row.metric, row.unit, row.backend, row.workers), {})
        cell.setdefault((row.run_id, row.host, row.block), []).append(row.value)
    return {key: {place: median(found) for place, found in cell.items()} for key, cell in values.items()}


def _row(fields):
    _, run, block, process, index, family, benchmark, params, backend, workers, metric, unit, value, _, host = fields
    name = f"{family}/{benchmark}"
    return Row(
        run, block, process, index, name, _canonical(name, params), backend, workers, metric, unit, value, host
    )


@functools.cache
def _canonical(name, params):
    """Sorted; the granularities of a sweep without the rounding in their last digits, which differs between
    processes."""
    pairs = parameters.parse(params)
    work = parameters.number(pairs, "work_ns") if name == "dependencies/metg" else None
    if work is not None:
        pairs["work_ns"] = f"{work:.6g}"
    return parameters.text(pairs)


def _check_belongs(path, runs, record):
    """The files of two runs lie beside one another when a run was killed while it put its files in place."""
    own = (record or {}).get("run_id")
    # A merged result has the rows of its shards.
    all_own = [one["run_id"] for one in (record or {}).get("shards", [])] or [own]
    other = next((run for run in runs if own is not None and run not in all_own), None)
    if other is not None:
        raise Complaint(
            BAD_INPUT,
            f"{path} has rows of run {other}, and {environment.path_beside(path)} is of run {own}: the two do not belong "
            f"together; if a run into {path} was killed, its command with --resume finishes it",
        )


@functools.cache
def is_tail(metric):
    """Whether a metric is a percentile above the median, or a maximum."""
    return not {"p90", "p99", "p999", "max"}.isdisjoint(metric.split("_"))


def _left_out(record):
    """A function that says whether a row is of an excluded block, a tail of a crowded block, or of a cell that failed. The
    parameters of a row are those of the scenario, and perhaps the reading's as well."""
    outcome = record.get("outcome", {})
    blocks, crowded, failures = {}, {}, {}
    for key, places in (("excluded_blocks", blocks), ("crowded_blocks", crowded)):
        for one in outcome.get(key) or []:
            places.setdefault((one["benchmark"], one["block"]), []).append(one["params"])
    for one in outcome.get("failures", []):
        failures.setdefault((one["benchmark"], one["backend"], one["workers"]), []).append(one["params"])
    planned = _planned(record.get("cells", []))

    def owns(name, few, params):
        """Whether a row is of the scenario with these parameters: no planned scenario with more of them fits it."""
        return parameters.contains(params, few) and not any(
            parameters.contains(more, few) and not parameters.contains(few, more) and parameters.contains(params, more)
            for more in planned.get(name, ())
        )

    @functools.cache
    def is_left_out(name, params, block, backend, workers, of_tail):
        scenarios = blocks.get((name, block), []) + failures.get((name, backend, workers), [])
        if of_tail:
            scenarios = scenarios + crowded.get((name, block), [])
        return any(owns(name, few, params) for few in scenarios)

    return is_left_out


def _planned(cells):
    """The parameters of the scenarios of each benchmark, from cells such as `family/benchmark on subject@2 (ops=10)`."""
    planned = {}
    for cell in cells:
        name, _, arm = cell.partition(" on ")
        planned.setdefault(name, set()).add(arm.partition(" (")[2].removesuffix(")"))
    return planned
