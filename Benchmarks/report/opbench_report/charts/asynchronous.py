"""What a task of Swift costs on an executor of ours and on others."""

from .chart import dots_chart, ratio_words

NAME = "async"


def build(results):
    lines = [line for line in results.primary_lines("async") if line.metric == "ns_per_op"]
    # No run of everything has these benchmarks, so nobody misses the picture.
    if not lines:
        return None
    caption = (
        "Time per task, call or hop, where Swift's tasks and actors run on the subject; medians over processes with 95 %"
        " intervals." + ratio_words(results)
    )
    return dots_chart(lines, NAME, "async", "What does a task of Swift cost?", caption, "time per operation")
