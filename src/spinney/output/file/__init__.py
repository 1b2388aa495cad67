"""Model files: arrays and a header, checked whole before a node is made."""

from spinney.output.file.model_files import load_model, save_model

__all__ = ["load_model", "save_model"]
