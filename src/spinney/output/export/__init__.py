"""A model as something else: one file each, equal to the model."""

from spinney.output.export.export_formats import exported, names_of_predictions
from spinney.output.export.json_model import load_json
from spinney.output.export.tree_json import to_json

__all__ = ["exported", "load_json", "names_of_predictions", "to_json"]
