"""The lesson as a format of an export."""

from spinney.output.export_formats import Format

LESSON = Format("lesson", ("tree",), lambda model: model.lesson().html)
