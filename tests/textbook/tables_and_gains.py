"""Where the tables are, and how the tests read a tree."""

from pathlib import Path

TABLES = Path(__file__).parents[1] / "tables"


def path_of(name):
    return str(TABLES / f"{name}.csv")


def gains(node, schema):
    """Return each attribute's gain at a node, to three decimals."""
    return {
        schema.attributes[candidate.attribute].name: round(candidate.gain, 3)
        for candidate in node.candidates
    }


def child(tree, node, condition):
    """Return the child of a node that a condition leads to."""
    return next(c for c in tree.children(node) if tree.condition(c) == condition)
