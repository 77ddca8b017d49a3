"""Geometric means that may stand beside one another: each is over the same benchmarks. Whatever lacks some of these is
compared with one of ours alone, over the benchmarks that both have."""

from dataclasses import dataclass

from .geometric_mean import geometric_mean
from .results import reference_arm
from .statistics import paired_logarithms


@dataclass(frozen=True)
class CommonMeans:
    # The mean of each arm to the reference, all over the same lines.
    together: dict
    # The one of ours that the rest are compared with, and the mean of each of these to it.
    ours: object
    apart: dict

    @property
    def benchmarks(self):
        return max((mean.benchmarks for mean in self.together.values()), default=0)


def common_means(results, lines):
    """Over lines of times; the common lines are those that all of ours have beside the reference."""
    logarithms = {}
    for line in lines:
        for arm in line.main_arms:
            base = reference_arm(results.reference, arm, line.cells)
            if base is None or base == arm:
                continue
            if logs := paired_logarithms(line.cells[arm].processes, line.cells[base].processes):
                logarithms.setdefault(arm, {})[line.benchmark, line.params] = logs
    arms = sorted(logarithms)
    ours = [arm for arm in arms if arm.subject.is_ours]
    if not ours:
        # Nothing is to be chosen: what is measured in most places says over what all are compared.
        ours = sorted(arms, key=lambda arm: -len(logarithms[arm]))[:1]
    common = set.intersection(*(set(logarithms[arm]) for arm in ours)) if ours else set()
    # Runs of different workers may have no line in common.
    if not common and ours:
        ours = ours[:1]
        common = set(logarithms[ours[0]])
    together = {arm: _mean(logarithms[arm], common) for arm in arms if common <= set(logarithms[arm])}
    apart = {}
    for arm in arms:
        if arm not in together:
            pairs = [
                (line.benchmark, paired_logarithms(line.cells[arm].processes, line.cells[ours[0]].processes))
                for line in lines
                if arm in line.cells and ours[0] in line.cells
            ]
            mean = geometric_mean(pairs)
            if mean is not None:
                apart[arm] = mean
    return CommonMeans(together, ours[0] if ours else None, apart)


def _mean(logarithms, keys):
    return geometric_mean([(key[0], logs) for key, logs in logarithms.items() if key in keys])
