"""What simulations say of strategies: verdicts against a default, and sentences for those that change places."""

from .complaint import BAD_INPUT, Complaint
from .data.metrics import significant
from .data.simulation import Simulation, read_source

# A difference smaller than this is none, whatever the seeds say: other things than the model are not known better.
MARGIN = 0.02
LEFT_OUT = (
    "The model leaves out memory (bandwidth, and caches but for one cost when a job changes its CPU), frequency, and the "
    "kernel's scheduler: a woken thread runs after a fixed time, and no thread loses its CPU. Of the workers that watch for "
    "jobs, one notices a job. The costs of a steal from another group and another socket are multiples, and not measured. "
    "So a ratio here says what the decisions alone do, and is no measurement."
)


class Simulated:
    """What a report shows of files of simulated rows."""

    def __init__(self, paths):
        whole = Simulation(paths)
        self.sources = [read_source(path) for path in paths]
        self.models = whole.models
        # What strategies are compared on, and the sweeps that METG comes from; None where there is none.
        self.compared, self.sweeps = whole.parts()
        # Of sweeps alone, these have the lines.
        self.shown = self.compared or self.sweeps
        self.base = base_of(self.shown)


def default_of(simulation):
    """The pool as it is, with which its changes are compared."""
    plain = [name for name in simulation.backends if "(" not in name]
    if not plain:
        raise Complaint(BAD_INPUT, "no pool was simulated with its default strategy, and there is nothing to compare with")
    return plain[0]


def base_of(simulation):
    """The default, or the first strategy where no default was simulated."""
    return next((name for name in simulation.backends if "(" not in name), simulation.backends[0])


def verdict(ratios):
    """`better`, `worse` or `same`, when all seeds agree; else `open`."""
    if not ratios:
        return "open"
    if max(ratios) < 1 - MARGIN:
        return "better"
    if min(ratios) > 1 + MARGIN:
        return "worse"
    return "same" if 1 - MARGIN <= min(ratios) and max(ratios) <= 1 + MARGIN else "open"


def moves(simulation, default, few, many):
    """(backend, its ratios with few workers, those with many), for every other backend."""
    others = [name for name in simulation.backends if name != default]
    return [
        (name, simulation.ratios(name, default, few), simulation.ratios(name, default, many)) for name in others
    ]


def ends(simulation):
    """The number of workers that counts as few, and the one that counts as many."""
    counts = simulation.workers
    few = 2 if 2 in counts else counts[0]
    return few, counts[-1]


def most_different(simulation, default, most):
    """The default, and the strategies that differ most from it with many workers: `most` in all."""
    few, many = ends(simulation)
    found = [(name, ratios) for name, _, ratios in moves(simulation, default, few, many) if ratios]
    found.sort(key=lambda item: -abs(_log(item[1])))
    return [default] + [name for name, _ in found[: most - 1]]


def _log(ratios):
    middle = ratios[len(ratios) // 2]
    return middle - 1 if middle > 1 else 1 - 1 / middle


def ratio_words(ratios):
    """The median over the seeds, with the least and the most."""
    if not ratios:
        return "-"
    middle, least, most = map(significant, (ratios[len(ratios) // 2], ratios[0], ratios[-1]))
    return f"x{middle} [{least}, {most}]"


def in_short(changed, compared, default, few, many):
    """How many strategies change places, in a sentence."""
    if not changed:
        return f"No strategy changes places with `{default}` between {few} and {many:,} virtual workers, in simulation."
    return (
        f"Of {len(compared)} other strategies {len(changed)} change places with `{default}` between {few} and {many:,} "
        "virtual workers, in simulation."
    )


def sentences(simulation, default, few, many):
    """A sentence for each strategy whose verdict is another one with many workers."""
    found = []
    for name, small, large in moves(simulation, default, few, many):
        before, after = verdict(small), verdict(large)
        if "open" in (before, after) or before == after:
            continue
        found.append(
            f"`{name}` is {_words(before)} `{default}` with {few} virtual workers ({ratio_words(small)}), and {_words(after)} "
            f"it with {many:,} ({ratio_words(large)})."
        )
    return found


def _words(verdict):
    return {"better": "faster than", "worse": "slower than", "same": "as fast as"}[verdict]
