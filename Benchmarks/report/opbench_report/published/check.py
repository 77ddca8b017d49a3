"""Whether README.md, the summary and the figures say what the CSV in `results/` says."""

import os

from ..charts import build_all
from ..complaint import BAD_INPUT, Complaint
from . import texts


def disagreements(program, root):
    """Returns a line for each; none where all agree."""
    folder = os.path.join(root, "results")
    readme = _text(os.path.join(root, "README.md"))
    if lacking := "is missing" if readme is None else texts.lacking(readme):
        return [f"README.md {lacking}"]
    shown = {part: texts.between(readme, part) for part in texts.PARTS}
    if not os.path.exists(os.path.join(folder, texts.CSV)):
        return [f"README.md shows results, but there is no results/{texts.CSV}"] if any(shown.values()) else []
    facts = program.facts(os.path.join(folder, texts.CSV))
    results, (charts, _) = facts.measured, build_all(facts)
    lines = []
    wanted = texts.parts(results, charts, "results")
    if shown != wanted:
        part = next(part for part in wanted if shown[part] != wanted[part])
        lines.append(
            f"README.md does not show what results/{texts.CSV} says:"
            f" {texts.first_difference(shown[part], wanted[part])}; {texts.AGAIN}"
        )
    if _text(os.path.join(folder, "SUMMARY.md")) != texts.summary(results, charts):
        lines.append(f"results/SUMMARY.md is not the summary of results/{texts.CSV}; {texts.AGAIN}")
    for name in texts.FIGURES:
        if any(chart.name == name for chart in charts):
            picture = _text(os.path.join(folder, "figures", f"{name}.svg"))
            if picture is None:
                lines.append(f"results/figures/{name}.svg is missing; {texts.AGAIN}")
            elif results.sources[0].digest not in picture:
                lines.append(f"results/figures/{name}.svg was made from another CSV than results/{texts.CSV}; {texts.AGAIN}")
    return lines


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Complaint(BAD_INPUT, f"{path}: {error}") from None
