"""What dependencies cost: shapes and graph patterns without work in their tasks."""

from .chart import Missing, dots_chart, ratio_words

NAME = "dependencies"


def build(results):
    lines = [
        line
        for line in results.select(family="dependencies", metric="ns_per_op")
        if line.benchmark != "dependencies/replay" and not line.numbers.get("work_ns")
    ]
    if not lines:
        return Missing(
            NAME, "there is no graph without work", "opbench run --backend all --benchmark dependencies/ --output X.csv"
        )
    caption = (
        "Time per operation of building, running and releasing a graph whose tasks do nothing; medians over processes"
        " with 95 % intervals." + ratio_words(results)
    )
    return dots_chart(lines, NAME, "dependencies", "What do dependencies cost?", caption, "time per operation")
