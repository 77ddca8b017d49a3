"""The first thing that README.md says of the results: three ratios to the reference, and the picture of all."""

from ..data.comparison import compare
from ..data.metrics import quantity, significant
from ..data.results import widest
from .headline import line_of

# (benchmark, parameters that pick one of its scenarios, metric, the work in words)
_LINES = (
    ("overhead/external-add", {}, "ns_per_op", "To add and run a small operation"),
    ("dependencies/chain", {"length": "1000"}, "ns_per_op", "To run an operation in a chain of dependencies"),
)


def sentences(results, folder):
    """Markdown, or an empty text where nothing was measured beside the reference; `folder` is where the results lie."""
    # The default stands first among ours.
    ours = next((arm for arm in widest(results.arms) if arm.subject.is_ours), None)
    said = [one for wanted in _LINES if (one := _line(results, ours, *wanted)) is not None] + _mean(results, ours)
    if not said:
        return ""
    said += _faster(results, ours)
    source = (
        f"Measured with the `{ours.subject}` backend at {ours.workers} workers; in brackets are 95 % intervals. The numbers"
        f" are from `{folder}/`, and [What to expect](#what-to-expect) has the table and the machine."
    )
    return " ".join([*said, source])


def _line(results, ours, benchmark, wanted, metric, work):
    line = line_of(results, benchmark, wanted, metric)
    cell = line.cells.get(ours) if line is not None else None
    if cell is None or cell.ratio is None:
        return None
    reference = results.subjects.reference_words
    times = [quantity(line.unit, line.cells[arm].estimate.median) for arm in (ours, cell.against)]
    return f"{work} takes {_times(cell.ratio, cell.ratio.median, reference)} (`{benchmark}`: {times[0]} beside {times[1]})."


def _mean(results, ours):
    """The sentence about all benchmarks, in a list that is empty where there is no mean."""
    return [
        f"All {mean.benchmarks} benchmarks together take {_times(mean, mean.ratio, results.subjects.reference_words)} (geometric mean)."
        for arm, _, mean in compare(results, results.reference).means
        if arm == ours and mean.benchmarks > 1
    ]


def _faster(results, ours):
    """The sentence about whoever takes less time than ours, in a list that is empty where nobody does."""
    others = [
        (mean.ratio, f"`{arm.subject}` takes x{_interval(mean.ratio, [mean.low, mean.high])} (of {mean.benchmarks})")
        for arm, _, mean in compare(results, str(ours.subject)).means
        if arm.subject.is_choice and not arm.subject.is_ours and mean.has_interval and mean.high < 1
    ]
    if not others:
        return []
    listed = ", ".join(text for _, text in sorted(others))
    return [f"Less time than `{ours.subject}` over the benchmarks that both have: {listed}."]


def _times(ratio, middle, reference):
    """Such as `19.6 [18.2, 20.4] times less time than with Foundation's OperationQueue`."""
    if ratio.has_interval and ratio.low <= 1 <= ratio.high:
        return f"as much time as with {reference}, as far as can be told"
    ends = [ratio.low, ratio.high] if ratio.has_interval else []
    if middle >= 1:
        return f"{_interval(middle, ends)} times the time that {reference} takes"
    return f"{_interval(1 / middle, [1 / one for one in reversed(ends)])} times less time than with {reference}"


def _interval(middle, ends):
    return significant(middle) + (f" [{', '.join(map(significant, ends))}]" if ends else "")
