"""On which machines the rows of a result were measured, of which kinds these are, and whether the kinds agree."""

import collections
from dataclasses import dataclass

from .results import reference_arm
from .statistics import Widening, median_ranks, paired_logarithms, paired_ratio

# The most machines of a kind that a sentence names.
MOST_NAMED = 8
UNKNOWN = "machines of unknown kind"


@dataclass(frozen=True)
class Machines:
    # The kind of each machine, by host.
    by_host: dict

    @property
    def kinds(self):
        """(kind, its hosts), the kind with the most machines first."""
        found = collections.defaultdict(list)
        for host, kind in sorted(self.by_host.items()):
            found[kind].append(host)
        return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))

    @property
    def sentence(self):
        """Words such as "on 3 machines of one kind: …"; None for a single machine."""
        if len(self.by_host) < 2:
            return None
        kinds = self.kinds
        of = "one kind" if len(kinds) == 1 else f"{len(kinds)} kinds"
        parts = []
        for kind, hosts in kinds:
            more = f" and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
            parts.append(f"{len(hosts)} x {kind} ({', '.join(hosts[:MOST_NAMED])}{more})")
        absolute = "" if len(kinds) == 1 else "; absolute numbers are medians over machines of different kinds"
        return f"on {len(self.by_host)} machines of {of}: {'; '.join(parts)}; ratios pair blocks of one machine{absolute}"


@dataclass(frozen=True)
class Disagreement:
    """A ratio whose intervals on two kinds of machines do not overlap."""

    line: object
    arm: object
    kinds: tuple
    ratios: tuple

    @property
    def distance(self):
        low, high = sorted(one.median for one in self.ratios)
        return high / low


def sittings(record):
    """What the environment says of each machine, by host; the last where it speaks of one more than once."""
    return {one["host"]: one for one in (record or {}).get("machines", [])}


def machines(results, source=None):
    """Those of all results, or of one."""
    kinds = {}
    for one in results.sources if source is None else [source]:
        known = sittings(one.record)
        for host in {row.host for row in one.counted} - {""}:
            kinds[host] = _kind(known[host]) if host in known else UNKNOWN
    return Machines(kinds)


def _kind(sitting):
    """What `MachineSitting.kind` of the harness says."""
    count = sitting["cpus_allowed"]
    return f"{sitting.get('cpu_model') or 'a CPU of unknown model'}, {count} CPU{'' if count == 1 else 's'}"


def disagreements(results, found):
    """(the ratios on which two kinds disagree, the farthest apart first; how many were compared). The intervals are widened for
    that number."""
    pairs = []
    for line in results.primary_lines():
        for arm, cell in line.cells.items():
            base = reference_arm(results.reference, arm, line.cells)
            if base is None or base == arm:
                continue
            by_kind = collections.defaultdict(list)
            for (_, host, _), logarithm in paired_logarithms(cell.processes, line.cells[base].processes).items():
                if host in found.by_host:
                    by_kind[found.by_host[host]].append(logarithm)
            enough = sorted(kind for kind, own in by_kind.items() if median_ranks(len(own)) is not None)
            pairs += [
                (line, arm, (first, second), (by_kind[first], by_kind[second]))
                for place, first in enumerate(enough)
                for second in enough[place + 1 :]
            ]
    widening = Widening(len(pairs))
    differing = []
    for line, arm, kinds, logarithms in pairs:
        ratios = tuple(paired_ratio(own, widening.confidence_of(len(own))) for own in logarithms)
        if all(one.has_interval for one in ratios) and max(one.low for one in ratios) > min(one.high for one in ratios):
            differing.append(Disagreement(line, arm, kinds, ratios))
    return sorted(differing, key=lambda one: -one.distance), len(pairs)
