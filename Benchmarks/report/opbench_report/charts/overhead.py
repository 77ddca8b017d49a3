"""What an operation costs, by subject."""

from .chart import Missing, dots_chart, ratio_words

NAME = "overhead"


def build(results):
    lines = [line for line in results.primary_lines("overhead")]
    if not lines:
        return Missing(
            NAME,
            "there is no benchmark of the family overhead",
            "opbench run --backend all --benchmark overhead/ --output X.csv",
        )
    caption = (
        "Median time per operation over processes, with 95 % order-statistic intervals."
        f"{ratio_words(results)} A missing row is something the subject cannot do, a cell that failed, or one"
        " that was not measured."
    )
    return dots_chart(lines, NAME, "overhead", "What does an operation cost?", caption, "time per operation")
