"""What others published for decisions that our strategies have, too: data, beside which results/ablation/README.md
sets our own numbers."""

from dataclasses import dataclass

from ..decisions import BETTER, WORSE


@dataclass(frozen=True)
class Prior:
    # The name of our decision, the source and its address, and what was measured there.
    decision: str
    source: str
    address: str
    says: str
    # A pattern of our changes of the same kind, and what the source makes us expect of them; empty where no single
    # change of ours is one.
    changes: str = ""
    expects: str = BETTER
    # (benchmark, parameters) of work of the same kind, the nearest first: the first that was measured counts.
    work: tuple = ()
    # Where it is not the time that counts, the metric and its words.
    metric: str = ""
    what: str = "time"
    # Written by hand: why it may be otherwise here, or what stands nearest.
    reason: str = ""

    @property
    def asked(self):
        """Returns what opbench is asked of our results: which changes, on which work, and what the source makes us
        expect."""
        return {"changes": self.changes, "work": self.work, "metric": self.metric, "expects": self.expects}


PRIOR = (
    Prior(
        "own",
        "argobots #359",
        "https://github.com/pmodels/argobots/pull/359",
        "a pool that takes its newest job first and is robbed of its oldest is more than 10 times as fast on fib"
        " as the pool"
        " before it, on Skylake, ARM and POWER",
        changes="own=lifo",
        work=(("forkjoin/fib", ""),),
        reason="Workers of two CPUs steal seldom; the machines there have dozens of cores.",
    ),
    Prior(
        "own",
        "rayon #360",
        "https://github.com/rayon-rs/rayon/pull/360",
        "the oldest job first made the style engine of a browser 20 % faster",
        changes="own=lifo",
        expects=WORSE,
        work=(("strategy/tree-peak", ""), ("strategy/pipeline", ""), ("forkjoin/uts", "")),
        reason="The bodies of the work here touch no data, so no order finds more of it in the cache.",
    ),
    Prior(
        "own",
        "rayon #590",
        "https://github.com/rayon-rs/rayon/issues/590",
        "with the oldest job first, nested joins take jobs that are not their own while they wait, and overflow"
        " the stack",
        changes="own=lifo",
        work=(("strategy/waiting-parents", ""), ("blocking/nested-wait", "")),
        reason="Only the time is compared here; a run that overflows its stack would have no number.",
    ),
    Prior(
        "steal",
        "verona-rt #48",
        "https://github.com/microsoft/verona-rt/pull/48",
        "stealing about a quarter instead of one took a run from 606 to 251 ms, where one thread makes all the"
        " work for four"
        " cores",
        changes=r"steal=(half|upto:[0-9]+)",
        work=(("strategy/one-producer", ""), ("overhead/local-add", "")),
        reason="With two CPUs there is one thief, and no other thief to contend with.",
    ),
    Prior(
        "priorities",
        "zio #574",
        "https://github.com/lalinsky/zio/issues/574",
        "four tasks on one mutex take 34.8 ms with stealing and 8.4 ms without",
        changes="priorities=strict",
        work=(("strategy/one-lock", ""),),
        reason="The change that steals nothing also gives up the lists of each worker, so jobs reach both workers all the"
        " same.",
    ),
    Prior(
        "priorities",
        "Julia #62285",
        "https://github.com/JuliaLang/julia/pull/62285",
        "deques of the workers are 2 times as fast as the multi-queue before them on fork and join with 8"
        " threads, and 3.2 times"
        " with 128",
        changes=r"priorities=(multi|sticky):[0-9]+",
        expects=WORSE,
        work=(("forkjoin/fib", ""),),
        reason="Two workers seldom meet at one list, wherever the lists are.",
    ),
    Prior(
        "outside",
        "IORingSwift #14",
        "https://github.com/PADL/IORingSwift/pull/14",
        "looking outside every 16 jobs, instead of only without jobs, took a round trip behind a backlog from"
        " 3.0 s to 23 ms",
        changes=r"outside=([2-9][0-9]|[0-9]{3,})",
        expects=WORSE,
        work=(("strategy/burst", "state=busy"), ("priority/submitter-fairness", "from=outside")),
    ),
    Prior(
        "waking",
        "taskflow #108",
        "https://github.com/taskflow/taskflow/issues/108",
        "waking all threads at the start, without yielding in between, halved a run on 36 threads",
        changes="waking=all",
        work=(("strategy/burst", "state=idle"), ("overhead/external-batch", "")),
        reason="With two workers all are one more than one.",
    ),
    Prior(
        "searchers",
        "rayon #746",
        "https://github.com/rayon-rs/rayon/pull/746",
        "one searcher at a time took the CPU time of an idle pool from 2,811 to 10 % on 56 threads",
        changes="searchers=one",
        work=(("idle/cpu", ""),),
        metric="idle_cpu_percent",
        what="CPU time",
        reason="Half of two workers is one, so the change changes nothing with two CPUs.",
    ),
)
