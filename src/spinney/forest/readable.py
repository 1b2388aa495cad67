"""What can be done with a grown forest: predict, question, keep.

Nothing here needs scikit-learn, so that the shell tool starts quickly; the estimators
add its conventions.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.text import shown
from spinney.data.conform import read_by, unseen_values
from spinney.data.table import Table, Value
from spinney.errors import DataError
from spinney.forest.file import save_forest
from spinney.growth.forest import voting
from spinney.growth.forest.bags import Bags
from spinney.growth.forest.forest import Forest, Trees
from spinney.growth.forest.importances import (
    Importances,
    impurity_importances,
    permutation_importances,
)
from spinney.growth.forest.interactions import Interactions, interactions_of
from spinney.growth.forest.proximities import nearest, outlier_scores, proximity_blocks
from spinney.sources.training_set import TrainingSet, rows_of

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_matrix

__all__ = ["ReadableForest"]


class ReadableForest:
    """A grown forest and what can be done with it.

    Parameters
    ----------
    forest : Forest
        The trees with their recipe and origin.
    """

    forest_: Forest

    def __init__(self, forest: Forest) -> None:
        self._adopt(forest)

    def _adopt(self, model: Forest) -> None:
        """Take a forest as one's own."""
        self.forest_ = model

    def _grown(self) -> Forest:
        """Return the forest, or say that there is none yet."""
        return self.forest_

    @property
    def trees(self) -> Trees:
        """The trees: ``trees[3].tree`` is one of them, made when it is asked for."""
        return self._grown().trees

    def __str__(self) -> str:
        forest = self._grown()
        target = forest.schema.target
        what = "numbers" if target.is_numeric else f"{len(target.classes)} classes"
        leaves = sum(member.n_leaves for member in forest.members) / len(forest)
        return (
            f"{shown(target.name)}: {what}, told by {len(forest)} trees of "
            f"{leaves:.1f} leaves on average (recipe {forest.recipe.name})"
        )

    # Reading tables

    def read(
        self,
        data: Any,
        *,
        format: str | None = None,
        encoding: str = "utf-8",
        whole: bool = False,
        weight: str | None = None,
    ) -> Table:
        """Read a table as the forest understands it: kinds, names, missing cells.

        Parameters
        ----------
        data : anything that ``read_table`` takes
            The table.
        format, encoding : str
            Those of a file, where its suffix does not tell.
        whole : bool
            Whether all attributes must be there, and not only those that some tree
            asks about.
        weight : str, optional
            A column of weights to read too.
        """
        schema = self._grown().schema
        needed = np.arange(len(schema.attributes)) if whole else self._needed
        also = () if weight is None else (weight,)
        return read_by(
            schema, needed, data, also=also, format=format, encoding=encoding
        )

    @property
    def _needed(self) -> Integers:
        """The attributes that some tree asks about."""
        return self._grown().needed

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict; columns are found by name."""
        return self.read(X)

    def _whole_table(self, data: Any) -> Table:
        """Return a table with all attributes, asked about or not."""
        return self.read(data, whole=True)

    def _columns(self, X: Any) -> tuple[list[Any], int]:
        """Return the coded columns of a table to predict."""
        schema = self._grown().schema
        table = self._table(X)
        return schema.encode(table, self._needed), table.n_rows

    def unseen(self, table: Table) -> dict[str, list[Value]]:
        """Return the values of a table that the forest has not seen, by attribute.

        They are treated as missing.
        """
        return unseen_values(self._grown().schema, self._needed, table)

    # Predicting

    def outputs(self, X: Any) -> Floats:
        """Return what is predicted of each row: class shares, or one number."""
        return voting.outputs(self._grown(), *self._columns(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the vote of the trees."""
        return self.outputs(X)

    def _values(self, X: Any) -> Floats:
        """Return the number that is predicted of each row."""
        return np.asarray(self.outputs(X)[:, 0])

    def apply(self, X: Any) -> Any:
        """Return the leaf of each row in each tree, rows × trees."""
        return voting.leaves(self._grown(), *self._columns(X))

    # Questioning

    def importances(self) -> Importances:
        """Return what each attribute gained, as shares, with its spread over trees.

        See :mod:`spinney.growth.forest.importances`.
        """
        return impurity_importances(self._grown())

    def permutation_importances(
        self, X: Any, y: Any = None, *, sample_weight: Any = None
    ) -> Importances:
        """Return by how much errors out of the bag grow without an attribute.

        Parameters
        ----------
        X, y, sample_weight
            The rows that the forest was grown on; other rows are refused, as nobody
            knows which of them a tree has not seen. Without y the table must hold
            the target column.
        """
        forest = self._grown()
        voting.check_bags(forest)
        return permutation_importances(forest, self._bags(X, y, sample_weight))

    def interactions(self) -> Interactions:
        """Return how often and with what gain attributes are asked below others."""
        return interactions_of(self._grown())

    def proximities(self, X: Any, *, k: int = 20) -> "csr_matrix":
        """Return how near each row is to its ``k`` nearest others, as a sparse matrix.

        See :mod:`spinney.growth.forest.proximities`; :meth:`proximity_blocks` has them
        all.
        """
        return nearest(self.apply(X), k)

    def proximity_blocks(
        self, X: Any, *, rows: int | None = None
    ) -> Iterator[tuple[int, "csr_matrix"]]:
        """Yield all proximities, a block of rows at a time: its first row, and it."""
        return proximity_blocks(self.apply(X), rows=rows)

    def outliers(self, X: Any, y: Any = None) -> Floats:
        """Return how far each row is from the others of its class.

        Scores above 10 deserve a look (Breiman and Cutler). Of numbers all rows are
        one class.
        """
        leaves = self.apply(X)
        if self._grown().schema.target.is_numeric:
            return outlier_scores(leaves, np.zeros(len(leaves), np.int64))
        labels = np.asarray(self._table_with_target(X) if y is None else y)
        if len(labels) != len(leaves):
            msg = f"X has {len(leaves)} rows and y has {len(labels)}: they must match"
            raise DataError(msg)
        return outlier_scores(leaves, np.unique(labels, return_inverse=True)[1])

    def _table_with_target(self, X: Any) -> Integers:
        """Return the class of each row of a table that holds the target."""
        target = self._grown().schema.target
        return np.asarray(target.encode(self.read(X)[target.name]))

    def _bags(self, X: Any, y: Any, sample_weight: Any) -> Bags:
        """Return the bags of the rows that the forest was grown on."""
        forest = self._grown()
        training = self._training(X, y, sample_weight)
        if training.fingerprint().digest != forest.fingerprint.digest:
            msg = (
                "these are not the rows that the forest was grown on, in the order "
                "that they had: only of those it is known which trees have seen them"
            )
            raise DataError(msg)
        return Bags(training, forest.settings)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Return rows as they are grown on."""
        table = self._whole_table(X)
        schema = self._grown().schema
        return rows_of(schema, table, y=y, sample_weight=sample_weight)

    # Keeping

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the forest to a file; :func:`spinney.load` reads it back."""
        save_forest(self._grown(), path)
