"""Texts of trees that do not depend on how many rows bear a weight."""

import re


def without_counts(model):
    """Return the whole text of a weighted tree, less the numbers of rows of nodes."""
    return re.sub(r"n = \d+, weight ", "", model.text())
