"""What a task of a tree costs."""

from .chart import Missing, dots_chart, ratio_words

NAME = "forkjoin"


def build(results):
    lines = results.primary_lines("forkjoin")
    if not lines:
        return Missing(
            NAME,
            "there is no benchmark of the family forkjoin",
            "opbench run --backend all --benchmark forkjoin/ --output X.csv",
        )
    caption = (
        "Time per task of trees that add up to a known number; medians over processes with 95 % intervals."
        + ratio_words(results)
    )
    return dots_chart(lines, NAME, "forkjoin", "What does a task of a tree cost?", caption, "time per task")
