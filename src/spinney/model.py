"""A grown tree with all that a later reader needs: recipe, schema, origin."""

from dataclasses import dataclass

from spinney.recipe import Recipe
from spinney.schema import Schema
from spinney.tree import Tree

__all__ = ["Fingerprint", "Model"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a model was grown on: enough to tell whether a table is the same one.

    Parameters
    ----------
    n_rows : int
        Rows of weight greater than 0 with a known class.
    weight : float
        Their weight.
    digest : str
        SHA-256 of the schema and the coded rows, in their order. Empty where the
        rows stayed in a database.
    version : str
        The version of Spinney that grew the tree.
    """

    n_rows: int
    weight: float
    digest: str
    version: str


@dataclass(frozen=True, slots=True)
class Model:
    """What is saved to a file and loaded from one."""

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
