"""What README.md says of the results: three ratios to the reference, who is faster still, and where the numbers are."""

from dataclasses import replace

from ..data.comparison import compare
from ..data.ratio_words import RatioWords
from ..data.results import widest
from .headline import line_of

# (benchmark, parameters that pick one of its scenarios, metric, what the time goes to, in words)
_LINES = (
    ("overhead/external-add", {}, "ns_per_op", "to add and run a small operation"),
    ("dependencies/chain", {"length": "1000"}, "ns_per_op", "for each operation of a chain of dependencies"),
)


def sentences(results, folder):
    """Markdown: at most three sentences. An empty text where nothing was measured beside the reference; `folder` is where
    the results lie."""
    # The default stands first among ours.
    ours = next((arm for arm in widest(results.arms) if arm.subject.is_ours), None)
    said = [one for wanted in _LINES if (one := _line(results, ours, *wanted)) is not None] + _mean(results, ours)
    if not said:
        return ""
    first = (
        f"Beside {results.subjects.reference_words}, the `{ours.subject}` backend with {ours.workers} workers {_listed(said)}."
    )
    source = (
        f"{_measured(results)}; in brackets are 95 % intervals, and [`{folder}/SUMMARY.md`]({folder}/SUMMARY.md) has every"
        " number, the command and the machine."
    )
    return " ".join([first, *_faster(results, ours), source])


def _line(results, ours, benchmark, wanted, metric, work):
    line = line_of(results, benchmark, wanted, metric)
    cell = line.cells.get(ours) if line is not None else None
    if cell is None or cell.ratio is None:
        return None
    return f"{_words(cell.ratio)} {work}"


def _mean(results, ours):
    """What is said of all benchmarks, in a list that is empty where there is no mean."""
    return [
        f"{_words(mean)} over all {mean.benchmarks} benchmarks (geometric mean)"
        for arm, _, mean in compare(results, results.reference).means
        if arm == ours and mean.benchmarks > 1
    ]


def _faster(results, ours):
    """The sentence about whoever takes less time than ours, in a list that is empty where nobody does."""
    others = [
        (mean.ratio, f"{RatioWords(_inverse(mean)).compared(f'`{arm.subject}`')} ({mean.benchmarks})")
        for arm, _, mean in compare(results, str(ours.subject)).means
        if arm.subject.is_choice and not arm.subject.is_ours and mean.has_interval and mean.high < 1
    ]
    if not others:
        return []
    listed = _listed([text for _, text in sorted(others)])
    return [f"Over the benchmarks that both have (their number in parentheses), `{ours.subject}` takes {listed}."]


def _measured(results):
    record = results.sources[0].record or {}
    when, model, cpus = str(record.get("started_at", ""))[:10], record.get("cpu_model"), record.get("cpus_allowed")
    words = ["Measured"]
    words += [f"on {when}"] if when else []
    words += [f"with {cpus} CPUs" + (f" of an {model}" if model else "")] if cpus else []
    return " ".join(words)


def _listed(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _words(ratio):
    """Such as `is 19.6 times as fast [18.2, 20.4]`."""
    if ratio.has_interval and ratio.low <= 1 <= ratio.high:
        return "takes as much time, as far as can be told,"
    return RatioWords(ratio).alone()


def _inverse(mean):
    """The ratio seen from the other side."""
    return replace(mean, ratio=1 / mean.ratio, low=1 / mean.high, high=1 / mean.low)
