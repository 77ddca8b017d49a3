"""The part of *Which for what* that shows reference results: this queue beside a task group and NIO's pool. Its numbers
are those that `opbench compare` prints, since the page names these commands."""

import os

from ..complaint import BAD_INPUT, Complaint
from ..files import replace
from . import texts

PAGE = "Sources/Operations/Operations.docc/WhichForWhat.md"
PART = "reference"
_OURS = "stealing"
# (subject, its name in the head, its name in a sentence)
_OTHERS = (("task-group", "task group", "a task group"), ("nio", "NIO's pool", "NIO's pool"))
# (benchmark, parameters that pick one of its scenarios, what it is called, what it asks)
_ROWS = (
    ("overhead/external-add", "", "", "add 10,000 empty operations and wait"),
    ("overhead/contended-add", "", "", "the same from two threads"),
    ("dependencies/chain", "", "", "1,000 operations, each after the last"),
    ("dependencies/fan-in", "", "", "one operation after 1,000"),
    ("dependencies/graph", "pattern=all_to_all", ", `all_to_all`", "each of 16 after all 16 of the step before"),
    ("forkjoin/skynet", "join=counter", "", "a tree of 1,000 leaves"),
    ("latency/wake-idle", "", "", "from adding to the body, all threads asleep"),
    ("latency/wake-busy", "", "", "the same, all threads busy"),
    ("blocking/sleepers", "", "", "16 bodies that sleep for 50 ms, in all"),
    (
        "dependencies/graph",
        "work_ns=10000",
        ", `random_nearest`, uneven work of 10 µs",
        "a graph whose bodies work",
    ),
)


def text(program, csv):
    """Returns what stands between the marks."""
    compared = {subject: program.compared(csv, subject) for subject, _, _ in _OTHERS}
    head = ["benchmark", "what it asks", "this queue", *(name for _, name, _ in _OTHERS)]
    rows = [head, ["---", "---", *["--:"] * (len(_OTHERS) + 1)]]
    blocks = set()
    for benchmark, wanted, more, asks in _ROWS:
        lines = [_line(compared[subject], benchmark, wanted, subject) for subject, _, _ in _OTHERS]
        blocks |= {line.n for line in lines}
        rows.append([f"`{benchmark}`{more}", asks, lines[0].a_text, *(f"{line.b_text} ({line.ratio.text})" for line in lines)])
    said = [
        f"Over the {mean.benchmarks} benchmarks that both have,"
        f" {mean.sentence.replace(_OURS, 'this queue', 1).replace(subject, name, 1)}."
        for subject, _, name in _OTHERS
        for mean in [_mean(compared[subject], subject)]
    ]
    counts = " or ".join(map(str, sorted(blocks)))
    paragraphs = [
        "\n".join("| " + " | ".join(row) + " |" for row in rows),
        f"The intervals are from {counts} blocks. " + " ".join(said),
        _made(program.facts(csv).measured.sources[0]),
    ]
    return "\n\n".join(paragraphs)


def _made(source):
    record = source.record or {}
    return (
        f"`scripts/results/reference` made the rows on {str(record.get('started_at', ''))[:10]}, with"
        f" {record.get('toolchain', 'an unknown toolchain')}, on {record.get('cpus_allowed', '?')} CPUs of an"
        f" {record.get('cpu_model', 'unknown model')}, Linux {record.get('kernel', '?')}. They are in `results/{texts.CSV}`. These commands"
        " print the numbers above:"
    )


def _line(compared, benchmark, wanted, other):
    """Returns what a comparison says of ours in a scenario."""
    for line in compared.lines:
        if (line.benchmark, line.backend) == (benchmark, _OURS) and (not wanted or wanted in line.params.split(";")):
            return line
    raise Complaint(BAD_INPUT, f"no {benchmark} {wanted} of {_OURS} beside {other} in results/{texts.CSV}")


def _mean(compared, other):
    """Returns the mean of ours over the benchmarks that both have."""
    for mean in compared.geometric_means:
        if mean.backend == _OURS:
            return mean
    raise Complaint(BAD_INPUT, f"no mean of {_OURS} beside {other} in results/{texts.CSV}")


def check(program, csv, root):
    """Complains of a result that lacks what the page shows, before anything is written."""
    if os.path.exists(os.path.join(root, PAGE)):
        text(program, csv)


def write(program, root):
    """Puts the numbers into the page; nothing where there is no page or no results."""
    if (page := _page(root)) is not None and texts.between(page, PART) is not None:
        replace(os.path.join(root, PAGE), texts.replaced(page, {PART: text(program, _csv(root))}))


def disagreements(program, root):
    """Returns a line where the page says something else than the results."""
    page = _page(root)
    if page is None:
        return []
    shown = texts.between(page, PART)
    if shown is None:
        return [f"{PAGE} has no lines " + " and ".join(texts.marks(PART))]
    if (wrong := texts.first_difference(shown, text(program, _csv(root)))) is None:
        return []
    return [f"{PAGE} does not show what results/{texts.CSV} says: {wrong}; {texts.AGAIN}"]


def _csv(root):
    return os.path.join(root, "results", texts.CSV)


def _page(root):
    path = os.path.join(root, PAGE)
    if not os.path.exists(path) or not os.path.exists(_csv(root)):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()
