"""Charts in print: SVG and PNG that stay legible when printed grey."""

from .draw import render

__all__ = ["render"]
