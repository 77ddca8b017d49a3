"""Charts in print: SVG and PNG that stay legible when printed grey."""

from .draw import KINDS, render

__all__ = ["KINDS", "render"]
