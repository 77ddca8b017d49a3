"""What simulations say of strategies, in words: sentences for those that change places with the default."""

LEFT_OUT = (
    "The model leaves out memory (bandwidth, and caches but for the lines that several CPUs want), frequency, and the "
    "kernel's scheduler: a woken thread runs after a fixed time, and no thread loses its CPU. Of the workers that watch for "
    "jobs, one notices a job. What passes between CPUs costs what the model says, which was published of one machine or "
    "measured on another. So a ratio here says what the decisions alone do, and is no measurement."
)
_WORDS = {"better": "faster than", "worse": "slower than", "same": "as fast as"}


def in_short(simulated):
    """Returns how many strategies change places, in a sentence."""
    few, many, base, changed = simulated.few, simulated.many, simulated.base, simulated.changed
    between = f"change places with `{base}` between {few} and {many:,} virtual workers, in simulation."
    if not changed:
        return f"No strategy {between.replace('change', 'changes', 1)}"
    return f"Of {len(simulated.moves)} other strategies {len(changed)} {between}"


def sentences(simulated):
    """Returns a sentence for each strategy whose verdict is another one with many workers."""
    changed = {change.backend for change in simulated.changed or []}
    return [_sentence(simulated, move) for move in simulated.moves or [] if move.backend in changed]


def _sentence(simulated, move):
    return (
        f"`{move.backend}` is {_WORDS[move.few.verdict]} `{simulated.base}` with {simulated.few} virtual workers"
        f" ({move.few.text}), and {_WORDS[move.many.verdict]} it with {simulated.many:,} ({move.many.text})."
    )


def ratio_words(ratios):
    """Returns the ratio of the seeds, and the least and the most; a dash where no seed has both."""
    return ratios.text if ratios else "-"


def verdict(ratios):
    return ratios.verdict if ratios else "open"
