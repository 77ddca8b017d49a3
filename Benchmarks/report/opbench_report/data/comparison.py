"""Ratios with intervals, as `opbench compare` makes them of one result: each subject against a reference."""

from dataclasses import dataclass

from .geometric_mean import geometric_mean
from .results import Arm, reference_arm
from .statistics import FAMILY_CONFIDENCE, Estimate, Widening, median, median_ranks, paired_logarithms, paired_ratio


@dataclass(frozen=True)
class Compared:
    """One metric of one cell, A against B, paired by block; its interval is widened for the number of comparisons."""

    benchmark: str
    params: str
    metric: str
    unit: str
    arm: Arm
    against: Arm
    a: float
    b: float
    ratio: Estimate
    logarithms: dict

    @property
    def verdict(self):
        if not self.ratio.has_interval:
            return "too few blocks"
        if self.ratio.holds(1):
            return "no difference shown"
        if self.ratio.high < 1:
            return "faster" if self.unit == "ns" else "lower"
        return "slower" if self.unit == "ns" else "higher"


@dataclass(frozen=True)
class Comparison:
    lines: list
    # (arm, the arm it is compared with, GeometricMean)
    means: list
    widening: Widening


def compare(results, reference, lines=None, seed=1):
    """Every other arm against the reference, on the given lines (default: the one time of each benchmark)."""
    pairs = []
    for line in results.primary_lines() if lines is None else lines:
        for arm, cell in line.cells.items():
            base = reference_arm(reference, arm, line.cells)
            if base is None or base == arm:
                continue
            theirs = line.cells[base].processes
            pairs.append((line, arm, base, cell.processes, theirs, paired_logarithms(cell.processes, theirs)))
    widening = Widening(sum(median_ranks(len(pair[-1])) is not None for pair in pairs))
    compared = [one for pair in pairs if (one := _compared(*pair, widening)) is not None]
    return Comparison(compared, _means(results, compared, seed), widening)


def _compared(line, arm, base, ours, theirs, logarithms, widening):
    confidence = widening.confidence_of(len(logarithms)) or FAMILY_CONFIDENCE
    ratio = paired_ratio(logarithms.values(), confidence)
    if ratio is None:
        return None
    a = median([ours[place] for place in logarithms])
    b = median([theirs[place] for place in logarithms])
    return Compared(line.benchmark, line.params, line.metric, line.unit, arm, base, a, b, ratio, logarithms)


def _means(results, compared, seed):
    means = []
    for arm in dict.fromkeys(one.arm for one in compared):
        own = [one for one in compared if one.arm == arm and results.primary.get(one.benchmark) == one.metric]
        mean = geometric_mean([(one.benchmark, one.logarithms) for one in own], seed)
        if mean is not None:
            means.append((arm, own[0].against, mean))
    return means
