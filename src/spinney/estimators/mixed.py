"""Tables as rows of numbers and codes, and prototypes as values again."""

from typing import Any

import numpy as np

from spinney.cluster.mixed import Prototypes
from spinney.clustered.mixed import mixed_cells, prototypes_of, values_of
from spinney.data.conform import read_by
from spinney.data.schema import Schema, Target
from spinney.data.table import Table
from spinney.errors import ParameterError
from spinney.estimators.tables import has_names_only
from spinney.sources.training_set import attribute_of

__all__ = ["given_prototypes", "mixed_cells", "mixed_schema", "read_mixed", "values_of"]


def mixed_schema(table: Table) -> Schema:
    """Return what the columns of a table mean; there is no target."""
    attributes = tuple(attribute_of(column) for column in table.columns)
    return Schema(attributes, Target("cluster"))


def read_mixed(schema: Schema, X: Any) -> Table:
    """Read a later table whose columns are found by their names."""
    return read_by(schema, range(len(schema.attributes)), X)


def given_prototypes(schema: Schema, given: Any, n_clusters: int) -> Prototypes:
    """Return prototypes that the user gave as a table or an array of values."""
    return prototypes_of(schema, _given_table(schema, given), n_clusters)


def _given_table(schema: Schema, given: Any) -> Table:
    if has_names_only(given) or hasattr(given, "columns"):
        return read_mixed(schema, given)
    try:
        array = np.array(given, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[1] != len(schema.attributes):
        msg = (
            f"init has the shape {array.shape} and must be 'huang', 'cao' or a table "
            f"of prototypes, {len(schema.attributes)} columns each"
        )
        raise ParameterError(msg)
    columns = dict(zip(schema.names, array.T, strict=True))
    return read_mixed(schema, {name: list(cells) for name, cells in columns.items()})
