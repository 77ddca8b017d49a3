"""Where a subject is surely slower than something beside it, in a sentence for each pair of subjects."""

from .. import findings
from ..data.metrics import ratio
from ..data.ratio_words import RatioWords


def losses(results):
    return [_loss(*pair) for pair in findings.losses(results)]


def _loss(arm, against, slower, count):
    worst = slower[0]
    name = f"{worst.benchmark} {worst.params}".strip()
    return {
        "sentence": f"{arm} is slower than {against} in {len(slower)} of {count} comparisons. Most in {name}:"
        f" {RatioWords(worst.ratio).sentence(arm.subject.name, against.subject)}.",
        "lines": [f"{line.benchmark} {line.params}: {ratio(line.ratio)}" for line in slower],
    }
