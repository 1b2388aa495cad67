"""What can be done with a grown tree: predict, read, question, prune, keep.

Nothing here needs scikit-learn, so that the shell tool starts quickly; the
estimators add its conventions.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.cells import LARGEST_EXACT_INTEGER
from spinney.counts import Floats
from spinney.declare import Declarations
from spinney.errors import ParameterError
from spinney.explain import (
    NodeExplanation,
    RowExplanation,
    explain_node,
    explain_row,
)
from spinney.export.formats import exported
from spinney.export.text import to_text
from spinney.files import read_table
from spinney.files.model_file import save_model
from spinney.files.paths import STANDARD_INPUT
from spinney.model import Model
from spinney.predict import FlatTree, flatten
from spinney.prune import PruneStep, pruned
from spinney.rules import Rules, rules_of
from spinney.schema import Schema, missing_columns
from spinney.table import Table, Value
from spinney.training import check_target
from spinney.tree import Tree

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_matrix

__all__ = ["ReadableTree", "reading_declarations"]


class ReadableTree:
    """A grown tree and what can be done with it.

    Parameters
    ----------
    model : Model
        The tree with its recipe and origin.
    """

    model_: Model

    def __init__(self, model: Model) -> None:
        self._adopt(model)

    def _adopt(self, model: Model) -> None:
        """Take a model as one's own."""
        self.model_ = model
        self._arrays = flatten(model.tree)

    def _grown(self) -> Model:
        """Return the model, or say that there is none yet."""
        return self.model_

    @property
    def _flat(self) -> FlatTree:
        self._grown()
        return self._arrays

    # Predicting

    def read(
        self, data: Any, *, format: str | None = None, encoding: str = "utf-8"
    ) -> Table:
        """Read a table as the model understands it: kinds, names, missing cells."""
        schema, needed = self._grown().schema, self._flat.needed
        declared = reading_declarations(schema, needed)
        table = read_table(
            data, declarations=declared, format=format, encoding=encoding
        )
        absent = schema.absent(table, needed)
        if absent:
            raise missing_columns(absent, _all_names(data, format, encoding, table))
        return table

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict; columns are found by name."""
        return self.read(X)

    def _columns(self, X: Any) -> tuple[list[Any], int]:
        """Return the coded columns of a table to predict."""
        schema = self._grown().schema
        table = self._table(X)
        return schema.encode(table, self._flat.needed), table.n_rows

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class at the leaves that a row comes to."""
        return self.outputs(X)

    def outputs(self, X: Any) -> Floats:
        """Return what is predicted of each row: class shares, or one number."""
        return self._flat.outputs(*self._columns(X))

    def _values(self, X: Any) -> Floats:
        """Return the number that is predicted of each row."""
        return np.asarray(self.outputs(X)[:, 0])

    def apply(self, X: Any) -> Any:
        """Return the number of each row's leaf, the heaviest if it comes to several."""
        return self._flat.leaf_numbers(*self._columns(X))

    def decision_path(self, X: Any) -> "csr_matrix":
        """Return a sparse matrix, rows × nodes: the weight that a row has at a node."""
        return self._flat.paths(*self._columns(X))

    def test_costs_of(self, X: Any) -> Floats:
        """Return what the questions cost that are asked of each row.

        Each attribute is paid for once; where a missing value divides a row, the
        parts count by their weights.
        """
        tree = self._grown().tree
        dear = np.zeros(len(tree))
        for node in tree.leaves:
            asked = {step.candidate.attribute for step in tree.path(node.number)[:-1]}
            dear[node.number] = sum(tree.schema.attributes[a].cost for a in asked)
        return np.asarray(self.decision_path(X) @ dear)

    def unseen(self, table: Table) -> dict[str, list[Value]]:
        """Return the values of a table that the model has not seen, by attribute.

        They are treated as missing.
        """
        schema = self._grown().schema
        found: dict[str, list[Value]] = {}
        for place in self._flat.needed:
            attribute = schema.attributes[place]
            column = table[attribute.name]
            if attribute.kind == "numeric" or column.kind == "numeric":
                continue
            each = replace(column, cells=np.arange(len(column.levels)))
            unknown = np.flatnonzero(attribute.encode(each) < 0)
            values = [column.levels[code] for code in unknown]
            if values:
                found[attribute.name] = values
        return found

    # Reading

    @property
    def tree(self) -> Tree:
        """The tree: walkable nodes and measures of size."""
        return self._grown().tree

    def __str__(self) -> str:
        return to_text(self.tree)

    def rules(self) -> Rules:
        """Return one rule a leaf; ``print`` shows one a line."""
        return rules_of(self.tree)

    def explain(
        self, node: int | None = None, *, row: Any = None
    ) -> NodeExplanation | RowExplanation:
        """Return the arithmetic of a node, or the path of a row.

        Parameters
        ----------
        node : int, optional
            The number of the node; 0 is the root.
        row : table of one row, optional
            Instead of ``node``: the row whose path is wanted.
        """
        model = self._grown()
        if (node is None) == (row is None):
            msg = "explain takes either node=, the number of a node, or row=, one row"
            raise ParameterError(msg)
        if node is not None:
            return explain_node(model, node)
        table = self._table(row)
        if table.n_rows != 1:
            msg = f"row= must hold one row, not {table.n_rows}: such as [3:4]"
            raise ParameterError(msg)
        cells = model.schema.encode(table, self._flat.needed)
        return explain_row(model, cells, table.row(0))

    # Pruning and keeping

    def _pruned(
        self, method: str, validation: Any
    ) -> tuple[Model, tuple[PruneStep, ...]]:
        """Return the model pruned against a table, and the steps."""
        model = self._grown()
        table = self.read(validation)
        target = model.schema.target
        table = table.take(~check_target(table, target.name).missing)
        result = pruned(
            model.tree,
            model.schema.encode(table, self._flat.needed),
            classes=target.encode(table[target.name]),
            method=method,
        )
        new = Model(result.tree, model.recipe, model.fingerprint, result.steps)
        return new, result.steps

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the model to a file; :func:`spinney.load` reads it back."""
        save_model(self._grown(), path)

    def export(
        self, format: str, *, path: "str | os.PathLike[str] | None" = None
    ) -> str:
        """Return the model as "text", "rules" or "json", and write it to a path."""
        return exported(self._grown(), format, path=path)


def _is_exact(label: Value) -> bool:
    """Return whether a label is a number that float64 holds exactly."""
    return not isinstance(label, str) and abs(label) <= LARGEST_EXACT_INTEGER


def _all_names(
    data: Any, format: str | None, encoding: str, table: Table
) -> tuple[str, ...]:
    """Return the names of all columns of a table that was read in part."""
    if isinstance(data, str) and data == STANDARD_INPUT:
        return table.names  # it can be read once only
    return read_table(data, format=format, encoding=encoding).names


def reading_declarations(schema: Schema, needed: Collection[int]) -> Declarations:
    """Return what a model declares of the tables that it is to read.

    Only the columns that the tree asks about matter, and the target; where it asks
    about none, any table will do.
    """
    asked = [schema.attributes[place] for place in needed]
    if not asked:
        return Declarations(missing=schema.markers)
    target = schema.target
    names = [attribute.name for attribute in asked]
    nominal = [attribute.name for attribute in asked if attribute.kind != "numeric"]
    numeric = [a.name for a in asked if a.kind == "numeric" and not a.unit]
    if target.name not in names:
        names.append(target.name)
        if target.is_numeric:
            numeric.append(target.name)
        if not all(map(_is_exact, target.classes)):
            nominal.append(target.name)
    return Declarations(
        nominal=tuple(nominal),
        numeric=tuple(numeric),
        missing=schema.markers,
        only=tuple(names),
    )
