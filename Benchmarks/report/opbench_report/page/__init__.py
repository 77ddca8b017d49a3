"""The report: one HTML file that opens without a network, with the CSV beside it."""

from . import copies, validation
from .document import write

__all__ = ["copies", "validation", "write"]
