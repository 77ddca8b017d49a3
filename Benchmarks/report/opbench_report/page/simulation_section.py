"""What was simulated: sentences, tables, and what the model leaves out. Its pictures are charts like any other."""

from ..charts.simulated import LINES
from ..simulated import LEFT_OUT, in_short, ratio_words, sentences, verdict

TITLE = "Simulated: more workers than this machine has"


def section(simulated, charts):
    """`charts` are those of the page: what stands around each plot."""
    arms = {arm.subject.name: arm.subject for chart in charts for arm in chart.arms}
    listed = [arms[name] for name in simulated.order if name in arms]
    has_places = simulated.moves and simulated.few != simulated.many
    return {
        "title": TITLE,
        "models": " and ".join(f"“{name}”" for name in simulated.models),
        "in_short": in_short(simulated) if has_places else "",
        "changed": sentences(simulated) if has_places else [],
        "first": listed[:LINES],
        "rest": listed[LINES:],
        "sweeps": [_sweep(sweep) for sweep in simulated.sweeps or []],
        "model_lacks": LEFT_OUT,
        **_strategies(simulated),
    }


def _sweep(sweep):
    return {
        "label": f"METG(50 %), simulated: {sweep.title}",
        "heads": ["strategy, simulated", *(f"{count:,} workers, simulated" for count in sweep.workers)],
        "rows": [[row.backend, *_texts(row, sweep.workers)] for row in sweep.rows],
    }


def _texts(row, counts):
    texts = {cell.workers: cell.text for cell in row.cells}
    return [texts.get(count, "–") for count in counts]


def _strategies(simulated):
    """Returns every strategy against the default, with few and with many workers."""
    if not simulated.moves:
        return {"rows": []}
    counts = list(dict.fromkeys((simulated.few, simulated.many)))
    return {
        "heads": ["strategy, simulated", *(f"{count:,} workers, simulated" for count in counts)],
        "rows": [
            [move.backend, *(f"{ratio_words(ratios)} {verdict(ratios)}" for ratios in (move.few, move.many)[: len(counts)])]
            for move in simulated.moves
        ],
        "caption": f"Simulated makespan by the simulated one of {simulated.base}: the geometric mean over all graphs, its"
        f" median over the seeds, and in brackets the least and the most. Better and worse: all seeds say so by more than"
        f" {simulated.margin_text}.",
    }
