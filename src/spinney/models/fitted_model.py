"""Fitted models of every kind, and the base of trees and forests.

The shell, evaluation and exporters use a :class:`FittedModel`, whether it is a tree, a
forest, clusters or a rule set.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats
from spinney.data import Schema, Table, TextFormat, Value
from spinney.data.readers import (
    Keep,
    ModelBatches,
    RowReader,
    read_batches_with_schema,
    read_with_schema,
    unseen_values,
)
from spinney.errors import MissingExtraError
from spinney.models.row_predictor import RowPredictor

if TYPE_CHECKING:
    import os

    from spinney.extensions.explorer import ExplorerPage


@runtime_checkable
class FittedModel(Protocol):
    """A fitted model: a tree, a forest, clusters or a rule set."""

    @property
    def kind(self) -> str:
        """The kind of model: "tree", "forest", "clusters" or "rules"."""

    @property
    def schema(self) -> Schema:
        """Its attributes and target: how it reads tables."""

    def read(
        self,
        data: Any,
        *,
        format: str | None = None,
        encoding: str | None = None,
        text_format: TextFormat | None = None,
    ) -> Table:
        """Read a table as the model understands it; columns are found by name."""

    def outputs(self, X: Any) -> Floats:
        """Return the prediction for each row: probabilities, a number, a cluster."""

    def facts(self) -> dict[str, Any]:
        """Return its size, recipe and origin as plain data."""

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save it to a file; ``overwrite`` says whether an old one may be replaced."""

    def export(
        self, format: str, *, path: "str | os.PathLike[str] | None" = None
    ) -> str:
        """Return it in a format; write it to a path too, if one is given."""


class FittedBase:
    """The base of every fitted model: reads tables of any size, opens the explorer."""

    @property
    def schema(self) -> Schema:
        """The attributes and the target: how the model reads tables."""
        raise NotImplementedError

    @property
    def _may_be_empty(self) -> bool:
        """Whether cells of its columns may be missing."""
        return True

    @property
    def _needed(self) -> Sequence[int]:
        """The attributes that predictions need."""
        raise NotImplementedError

    @property
    def _optional(self) -> Sequence[int]:
        """The needed attributes that a table may lack."""
        return ()

    @property
    def _asked(self) -> Sequence[int]:
        """The attributes that the model splits on."""
        return self._needed

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the columns that the model splits on."""
        return tuple(self.schema.attributes[index].name for index in self._asked)

    def batches(
        self,
        data: Any,
        *,
        n_rows: int,
        keep: Keep = (),
        weight: str | None = None,
        format: str | None = None,
        encoding: str | None = None,
        text_format: TextFormat | None = None,
    ) -> AbstractContextManager[ModelBatches]:
        """Give the batches of a table of any size to predict, as :meth:`read` reads it.

        ``keep`` names columns, or is "all": their cells are given too, as written.
        """
        return read_batches_with_schema(
            self.schema,
            self._needed,
            data,
            n_rows=n_rows,
            keep=keep,
            optional=self._optional,
            may_be_empty=self._may_be_empty,
            also=() if weight is None else (weight,),
            format=format,
            encoding=encoding,
            text_format=text_format,
        )

    # Displays

    def explore(
        self, *, rows: Any = None, data: Any = None, beside: Any = None
    ) -> "ExplorerPage":
        """Return an interactive HTML page of the model, which notebooks show.

        It contains counts and no rows, and needs no network.

        Parameters
        ----------
        rows : table, optional
            Rows to show at their nodes. Everybody who has the page can read them.
        data : table, optional
            Instead of ``rows``: a table for histograms at nodes and the error by
            pruning. The page does not contain its rows.
        beside : fitted model, optional
            Another tree, forest or clustering to compare with this one.

        Returns
        -------
        ExplorerPage
            ``save(path)`` writes it as .html; ``html`` is its text.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> page = spinney.grow(shop, "sold", recipe="c4.5").explore()
        >>> page.html.startswith("<!DOCTYPE html>")
        True
        """
        explorer = registry.load("operation", "explore")
        models = [self] if beside is None else [self, beside]
        html = explorer.explorer_page(models, rows=rows, data=data)
        page: ExplorerPage = explorer.ExplorerPage(html)
        return page

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return the displays for notebooks: page, picture and text, as installed."""
        bundle: dict[str, str | None] = {"text/plain": self._in_words()}
        with suppress(MissingExtraError):
            bundle["image/svg+xml"] = self._picture()
        with suppress(MissingExtraError):
            bundle["text/html"] = self.explore().frame
        return {form: shown for form, shown in bundle.items() if shown is not None}

    def _in_words(self) -> str:
        """Return the model as text for notebooks."""
        return str(self)

    def _picture(self) -> str | None:
        """Return a picture as SVG, if there is one."""
        return None


class FittedTable(FittedBase):
    """The base of fitted trees and forests: reads tables, predicts, exports."""

    kind: ClassVar[str]
    n_jobs: int | None = None  # the maximum number of threads
    _estimator: Any = None  # the estimator that reads tables to predict, if any

    # Reading tables

    def read(
        self,
        data: Any,
        *,
        format: str | None = None,
        encoding: str | None = None,
        text_format: TextFormat | None = None,
        whole: bool = False,
        target: bool = True,
        weight: str | None = None,
    ) -> Table:
        """Read a table by the schema of the model.

        Parameters
        ----------
        data : anything that ``read_table`` takes
            The table.
        format, encoding : str
            Those of a file, if its suffix does not show them.
        text_format : TextFormat, optional
            The format of numbers and dates, if it differs from the training table's.
        whole : bool
            Whether all attributes of the model are needed, or only those that
            predictions need.
        target : bool
            Whether to read the target too, if the table has it.
        weight : str, optional
            A column of weights to read too.
        """
        schema = self.schema
        return read_with_schema(
            schema,
            range(len(schema.attributes)) if whole else self._needed,
            data,
            optional=() if whole else self._optional,
            also=() if weight is None else (weight,),
            target=target,
            format=format,
            encoding=encoding,
            text_format=text_format,
        )

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict; columns are found by name."""
        if self._estimator is not None:
            table: Table = self._estimator._table(X)
            return table
        return self.read(X, target=False)

    def _whole_table(self, data: Any) -> Table:
        """Return a table with all attributes of the model."""
        if self._estimator is not None:
            table: Table = self._estimator._whole_table(data)
            return table
        return self.read(data, whole=True)

    def _columns(self, X: Any) -> tuple[list[Any], int]:
        """Return the encoded columns of a table to predict, and its number of rows."""
        table = self._table(X)
        return self._encoded(table), table.n_rows

    def _encoded(self, table: Table) -> list[Any]:
        """Return the encoded columns of a table to predict."""
        return self.schema.encode(table, self._needed, optional=self._optional)

    def unseen(self, table: Table) -> dict[str, list[Value]]:
        """Return the values of a table that the model has not seen, by attribute.

        They are treated as missing.
        """
        # The split attributes may have to be computed first, which takes longer.
        if not unseen_values(self.schema, self._needed, table):
            return {}
        return unseen_values(self.schema, self._asked, table)

    # Predicting

    def outputs(self, X: Any) -> Floats:
        """Return the prediction for each row: class probabilities, or one number."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, of the leaves or the trees' vote."""
        return self.outputs(X)

    def predictor(self) -> RowPredictor:
        """Return a predictor for single rows, which takes microseconds per row.

        It prepares the model once, for rows that come one by one: from a service, a
        form or a stream. For many rows at once ``predict`` is faster.

        Returns
        -------
        RowPredictor
            Called with a row, a mapping of values by the names of columns or a
            sequence of values in the columns' order, it returns the class or the
            number; ``probabilities(row)`` returns the probability of each class.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> predictor = spinney.grow(shop, "sold", recipe="c4.5").predictor()
        >>> [predictor({"size": size}) for size in (2, 3.5, 7)]
        ['no', 'yes', 'yes']
        """
        reader = RowReader(self.schema, self._needed, self._optional)
        return self._row_predictor(reader)

    def _row_predictor(self, reader: RowReader) -> RowPredictor:
        """Return a predictor of the rows that a reader encodes."""
        raise NotImplementedError

    def _values(self, X: Any) -> Floats:
        """Return the predicted number of each row."""
        return np.asarray(self.outputs(X)[:, 0])

    # Saving

    def _warn_before_saving(self) -> None:
        """Warn about behaviour of the model that files do not have."""

    def export(
        self,
        format: str,
        *,
        path: "str | os.PathLike[str] | None" = None,
        dialect: str | None = None,
        table: str | None = None,
        keep: Sequence[str] | None = None,
        data: Any = None,
        bars: bool | None = None,
    ) -> Any:
        """Return the model in a format, and write it to a path.

        Every model: "text", "html" (the page of :meth:`explore`) and "json", which
        :func:`spinney.load` reads back. Pictures: "svg", "png" and "pdf"; the last two
        are bytes and need Matplotlib. Programs that predict as the model does:
        "python", "javascript", "c", "sql", "pmml" and "onnx", which is bytes; see
        ``docs/exports.md``. Trees only: "numbered-text" (lines begin with node
        numbers), "rules", "lesson" and "dot" (Graphviz).

        Parameters
        ----------
        format : str
            One of these.
        path : str or path, optional
            The file to write to.
        dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery"}, optional
            The dialect of "sql"; DuckDB's if not given.
        table : str, optional
            The table in "sql"; "data" if not given.
        keep : sequence of str, optional
            Columns that "sql" selects before those of the model.
        data : table with the target column, optional
            For pictures of trees as in ``plot``, for "html" as in ``explore``.
        bars : bool, optional
            For pictures of trees and forests, as in ``plot``.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
        >>> code = spinney.grow(shop, "sold", recipe="cart").export("python")
        >>> names = {}
        >>> exec(code, names)
        >>> names["predict"]({"size": 3})
        'yes'
        """
        from spinney.output import exported

        self._warn_before_saving()
        return exported(
            self,
            format,
            path=path,
            dialect=dialect,
            table=table,
            keep=keep,
            data=data,
            bars=bars,
        )
