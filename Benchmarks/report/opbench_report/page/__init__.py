"""The report: one HTML file that opens without a network, with the CSV beside it."""

from . import validation
from .document import write

__all__ = ["validation", "write"]
