"""A tree as something else: one file each, equal to the model."""

from spinney.output.export.export_formats import exported

__all__ = ["exported"]
