"""What a metric is: the time that stands for a benchmark, and how its numbers are written."""

from .statistics import is_rough

_PRIMARY = ("ns_per_op", "ns_per_task", "ns_per_cancel", "makespan_ns", "metg50_ns")
_WORDS = {
    "ns_per_op": "time per operation",
    "cpu_ns_per_op": "CPU time per operation",
    "ns_per_edge": "time per edge",
    "ns_per_cancel": "time per cancelled operation",
    "makespan_ns": "makespan",
    "metg50_ns": "METG(50 %)",
    "metg95_ns": "METG(95 %)",
    "allocations_per_op": "allocations per operation",
    "bytes_per_op": "bytes allocated per operation",
    "pending_bytes_per_op": "bytes per waiting operation",
    "efficiency": "efficiency",
    "speedup": "speed-up over the plain recursion",
    "idle_cpu_percent": "CPU while idle",
    "late_starts": "late starts",
    "rank_error_mean": "mean rank error",
    "rank_error_p99": "rank error, p99",
    "rank_error_max": "largest rank error",
    "inversion_ns": "mean priority inversion",
    "min_share": "smallest share",
    "jain": "Jain's index",
    "threads_created": "threads created",
    "peak_rss": "peak memory",
}


def primary_time(units):
    """The one time that stands for a benchmark, from {metric: unit}; None where it reports no time."""
    times = {name for name, unit in units.items() if unit == "ns"}
    for name in _PRIMARY:
        if name in times:
            return name
    return min((name for name in times if name.endswith("_p50_ns")), default=None)


# What is a share of the best there can be.
_MORE = ("efficiency", "speedup", "min_share", "jain")
_LESS_UNITS = ("ns", "bytes", "allocations", "percent", "switches", "migrations", "faults")
_LESS = ("rank_error", "delay", "late_starts")


def better(metric, unit):
    """Which side is better, `less` or `more`; empty for what is neither."""
    if metric in _MORE:
        return "more"
    return "less" if unit in _LESS_UNITS or metric.startswith(_LESS) else ""


def words(metric):
    """The metric in words."""
    if metric in _WORDS:
        return _WORDS[metric]
    for suffix, meaning in (
        ("_p50_ns", "p50"),
        ("_p90_ns", "p90"),
        ("_p99_ns", "p99"),
        ("_p999_ns", "p99.9"),
        ("_max_ns", "maximum"),
    ):
        if metric.endswith(suffix):
            return f"{metric.removesuffix(suffix).replace('_', ' ')}, {meaning}"
    return metric.removesuffix("_ns").replace("_", " ")


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
