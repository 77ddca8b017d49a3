"""Reads a result of schema 1 or 2 as strictly as opbench does: a file that is cut off or of another kind is refused, by
line."""

import csv
import gzip
import io
import math
import zlib

from ..complaint import BAD_INPUT, NO_INPUT, Complaint
from . import parameters

_ONE = "schema,run_id,block,process,value_index,family,benchmark,params,backend,workers,metric,unit,value,n".split(",")
# Of the newest schema. Schema 1 does not say on which machine a row was measured.
HEADER = [*_ONE, "host"]
HEADERS = {"1": _ONE, "2": HEADER}
_COUNTS = (2, 3, 4, 9, 13)
_LEAST, _MOST = 1e-100, 1e100
# Of a 64-bit integer, which opbench reads it into. Python refuses to convert some thousands of digits at all.
_MOST_COUNT, _COUNT_DIGITS = (1 << 63) - 1, 19


def read_bytes(path):
    """What is in the file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise Complaint(NO_INPUT, f"{path}: there is no such file") from None
    except OSError as error:
        raise Complaint(NO_INPUT, f"{path}: cannot be read as a file ({error.strerror})") from None


def unpacked(content, path):
    """The content of a file that may end in `.gz`."""
    if not str(path).endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise Complaint(BAD_INPUT, f"{path}: not a whole gzip file") from None


def rows(content, source):
    """The records as lists of typed fields, in the order of the file. The host is empty in a file of schema 1."""
    if not content:
        raise Complaint(BAD_INPUT, f"{source} is empty")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise Complaint(BAD_INPUT, f"{source}: not UTF-8 text, so not a result of opbench") from None
    if text.startswith("\ufeff"):
        raise Complaint(
            BAD_INPUT,
            f"{source}, line 1: a byte order mark stands before the header; save it as UTF-8 without one",
        )
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records, lines = [], {}
    try:
        schema = _schema(next(reader), source)
        # How opbench tells a file that was cut off from a whole one.
        if not text.endswith("\n"):
            raise Complaint(
                BAD_INPUT, f"{source}, line {text.count(chr(10)) + 1}: the file is cut off in the middle of this row"
            )
        for fields in reader:
            record = _record(fields, schema, f"{source}, line {reader.line_num}")
            earlier = lines.setdefault(tuple(record[1:12]), reader.line_num)
            if earlier != reader.line_num:
                raise Complaint(
                    BAD_INPUT,
                    f"{source}, line {reader.line_num}: the same value as in line {earlier}, once more",
                )
            records.append(record)
    except csv.Error as error:
        raise Complaint(BAD_INPUT, f"{source}, line {reader.line_num}: {error}") from None
    if not records:
        raise Complaint(BAD_INPUT, f"{source} has a header and no rows")
    return records


def _schema(first, source):
    """Which one the header is of."""
    for schema, header in HEADERS.items():
        if first == header:
            return schema
    for place, (wanted, found) in enumerate(zip(HEADER, first), start=1):
        if wanted != found:
            what = f"column {place} is '{found[:40]}', not '{wanted}'"
            break
    else:
        what = f"it has {len(first)} columns, not {len(HEADER)}"
    raise Complaint(BAD_INPUT, f"{source}, line 1: not a result of schema 1 or 2: {what}")


def _is_count(text):
    return text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS and int(text) <= _MOST_COUNT


def _record(fields, schema, place):
    columns = len(HEADERS[schema])
    if len(fields) != columns:
        raise Complaint(BAD_INPUT, f"{place}: {len(fields)} columns instead of {columns}")
    if fields[0] != schema:
        raise Complaint(BAD_INPUT, f"{place}: schema '{fields[0]}' below a header of schema {schema}")
    for column in _COUNTS:
        if not _is_count(fields[column]):
            raise Complaint(BAD_INPUT, f"{place}: {HEADER[column]} is '{fields[column][:40]}', not a count")
        fields[column] = int(fields[column])
    try:
        fields[12] = float(fields[12])
    except ValueError:
        fields[12] = math.nan
    if not math.isfinite(fields[12]):
        raise Complaint(BAD_INPUT, f"{place}: value is not a number")
    # Beyond these, ratios and axes overflow; no clock, counter or share comes near them.
    if fields[12] and not _LEAST < abs(fields[12]) < _MOST:
        raise Complaint(BAD_INPUT, f"{place}: value is {fields[12]:g}, which nothing can have measured")
    # A difference of times may well be negative.
    if fields[12] < 0 and fields[11] == "ns" and not fields[10].endswith("_overhead_ns"):
        raise Complaint(
            BAD_INPUT, f"{place}: value is {fields[12]:g}, and {fields[10]} is a time, which is never negative"
        )
    if parameters.parse(fields[7]) is None:
        raise Complaint(BAD_INPUT, f"{place}: params is '{fields[7][:40]}', not key=value;…")
    return fields if schema != "1" else [*fields, ""]
