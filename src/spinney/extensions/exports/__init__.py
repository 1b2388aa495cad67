"""Exports to other languages; each file gives the predictions of the model."""
