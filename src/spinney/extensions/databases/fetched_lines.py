"""Lines of nodes, fetched from an engine as they are: codes, numbers and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema
from spinney.extensions.databases.engines.sql_engine import floats, integers
from spinney.extensions.databases.expressions import column, select, whole
from spinney.sources.rows.training_rows import TrainingSet


@dataclass(frozen=True, slots=True, eq=False)
class FetchedRows:
    """Lines as arrays: a row, or a part of one, at a node, with its weight there."""

    node: Integers
    weight: Floats
    classes: NDArray[Any]
    columns: tuple[NDArray[Any], ...]

    @classmethod
    def read(cls, answer: Sequence[Sequence[Any]], schema: Schema) -> "FetchedRows":
        """Read an answer to ``lines_of``."""
        node, weight, classes, *cells = answer
        as_target = floats if schema.target.is_numeric else integers
        columns = tuple(
            floats(each) if attribute.kind == "numeric" else _codes(each)
            for each, attribute in zip(cells, schema.attributes, strict=False)
        )
        return cls(integers(node), floats(weight), as_target(classes), columns)

    @classmethod
    def joined(cls, parts: Sequence["FetchedRows"]) -> "FetchedRows":
        """Return the lines of several answers."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.node for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.classes for part in parts]),
            tuple(
                np.concatenate(cells)
                for cells in zip(*(part.columns for part in parts), strict=True)
            ),
        )

    def training(self, schema: Schema) -> TrainingSet:
        """Return the lines as rows to grow on."""
        weights = None if np.all(self.weight == 1.0) else self.weight
        return TrainingSet(schema, self.columns, self.classes, weights)


def lines_of(relation: exp.Query | exp.Table, schema: Schema) -> exp.Select:
    """Return the select of node, weight, class and cells; -1 is a code that lacks."""
    listed: list[exp.Expr] = [column("node"), column("weight"), column("class")]
    for index in range(schema.n_columns):
        cell: exp.Expr = column(f"a{index}")
        if schema.attributes[index].kind != "numeric":
            cell = exp.Coalesce(this=cell, expressions=[whole(-1)])
        listed.append(exp.alias_(cell, f"a{index}", quoted=True, copy=False))
    return select(listed, relation)


def _codes(cells: Sequence[Any]) -> NDArray[np.int32]:
    return integers(cells).astype(np.int32)
