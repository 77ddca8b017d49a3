"""What a metric is, as the results say it, and how its numbers are written."""

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
    """Three significant digits, or all those before the point, as opbench's table writes them; from a ten-thousandth
    down with an exponent."""
    size = abs(value)
    if size >= 100 or value == 0:
        digits = 0
    elif size >= 1:
        digits = 1 if size >= 10 else 2
    elif size >= 1e-4:
        digits = 3 if size >= 0.1 else 4 if size >= 0.01 else 5 if size >= 0.001 else 6
    else:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{abs(value) if value == 0 else value:.{digits}f}"


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
    return 1, ""


def percent(share):
    """Such as `2.5 %`, with a digit after the point below ten."""
    return f"{share * 100:.{0 if share >= 0.1 or share == 0 else 1}f} %"


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
    """Such as `x0.058 [0.051, 0.066]`."""
    middle = estimate.median if hasattr(estimate, "median") else estimate.ratio
    text = f"x{significant(middle)}"
    if estimate.low is not None:
        text += f" [{significant(estimate.low)}, {significant(estimate.high)}]"
    return text


def marked_ratio(estimate):
    """The same for a table, with `~` behind a ratio whose interval is wider than ±5 %."""
    return ratio(estimate) + ("~" if is_rough(estimate) else "")
