"""What `opbench explain` found, as a table for each file below the pictures."""

from ..charts.explained import title
from .chart_section import subjects

TITLE = "What a part is worth"
_HEADS = ("part", "what it is", "measured", "if it never overlapped", "simulated")


def section(explained, charts):
    return {
        "title": TITLE,
        "parts": subjects(charts),
        "tables": [
            {
                "title": title(own),
                "heads": _HEADS,
                "rows": [(part.name, part.words, part.text, part.even_text, part.simulated_text) for part in own.parts],
            }
            for own in explained
        ],
    }
