"""What a metric is, as the results say it, and how its numbers are written."""

import math
from dataclasses import dataclass

from .statistics import is_rough


@dataclass(frozen=True)
class Facts:
    """What the program that measured says of a metric."""

    words: str
    # `less` or `more`; empty for what is neither good nor bad.
    better: str = ""


def facts(records, metric, unit):
    """From the first environment that has them; of a metric that none knows, that a time is better when it is less."""
    for record in records:
        if metric in record.get("metrics", {}):
            own = record["metrics"][metric]
            return Facts(own["words"], own.get("better") or "")
    return Facts(metric.removesuffix("_ns").replace("_", " "), "less" if unit == "ns" else "")


def significant(value):
    """Three significant digits once the number is rounded, or all those before the point, as
    `Benchmarks/Harness/Report/NumberFormat.swift` writes them; below a ten-thousandth with an exponent."""
    size = abs(value)
    bounds = (99.95, 9.995, 0.9995, 0.09995, 0.009995, 0.0009995, 0.00009995)
    digits = next((digits for digits, bound in enumerate(bounds) if size >= bound), None)
    if value and digits is not None:
        return fixed(value, digits)
    if not value:
        return "0"
    mantissa, exponent = value, 0
    while abs(mantissa) < 0.9995:
        mantissa, exponent = mantissa * 10, exponent - 1
    return f"{fixed(mantissa, 2)}e{exponent}"


def fixed(value, digits):
    """That many digits behind the point; a half is rounded away from zero."""
    scaled = abs(value) * 10**digits
    whole = math.floor(scaled) + (scaled - math.floor(scaled) >= 0.5)
    text = f"{whole // 10**digits}" + (f".{whole % 10**digits:0{digits}}" if digits else "")
    return f"-{text}" if value < 0 and whole else text


# The units that the words of a metric say.
_UNITS_IN_NAMES = (
    "", "allocations", "crossings", "cycles", "faults", "instructions", "migrations", "operations", "ratio", "switches",
    "threads",
)


def scale(unit, value):
    """(divisor, suffix) for the unit that gives one to three digits before the point."""
    size = abs(value)
    if unit == "ns":
        for divisor, suffix in ((1e9, " s"), (1e6, " ms"), (1e3, " µs")):
            if size >= divisor:
                return divisor, suffix
        return 1, " ns"
    if unit == "bytes":
        for divisor, suffix in ((1e9, " GB"), (1e6, " MB"), (1e3, " kB")):
            if size >= divisor:
                return divisor, suffix
        return 1, " B"
    if unit in ("bytes/s", "items/s"):
        own = "B/s" if unit == "bytes/s" else "/s"
        for divisor, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
            if size >= divisor:
                return divisor, prefix + own
        return 1, " " + own
    if unit == "percent":
        return 1, " %"
    return 1, "" if unit in _UNITS_IN_NAMES else f" {unit}"


def percent(share):
    """Such as `2.5 %`, with a digit after the point below ten."""
    return f"{fixed(share * 100, 0 if share >= 0.1 or share == 0 else 1)} %"


def quantity(unit, value):
    """Such as `1.23 µs`."""
    divisor, suffix = scale(unit, value)
    return significant(value / divisor) + suffix


def quantity_with_interval(unit, estimate):
    """Such as `1.23 [1.20, 1.31] µs`."""
    divisor, suffix = scale(unit, estimate.median)
    text = significant(estimate.median / divisor)
    if estimate.has_interval:
        text += f" [{significant(estimate.low / divisor)}, {significant(estimate.high / divisor)}]"
    return text + suffix


def ratio(estimate):
    """Such as `x0.0580 [0.0510, 0.0660]`."""
    middle = estimate.median if hasattr(estimate, "median") else estimate.ratio
    text = f"x{significant(middle)}"
    if estimate.low is not None:
        text += f" [{significant(estimate.low)}, {significant(estimate.high)}]"
    return text


def marked_ratio(estimate):
    """The same for a table, with `~` behind a ratio whose interval is wider than ±5 %."""
    return ratio(estimate) + ("~" if is_rough(estimate) else "")
