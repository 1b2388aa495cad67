"""The same rows in every source: opened, asked and compared.

Sums are exact where weights are whole and no row is divided, and then no bit may
differ; otherwise the order of additions may make a difference, of 1e-9 at most.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.helpers.recipes import by_recipe

import spinney
from spinney.sources.base import Source
from spinney.testing import assert_same_tree

__all__ = [
    "SOURCES",
    "answers_of",
    "arrow_of",
    "as_written",
    "assert_same_tables",
    "assert_same_tree",
    "opened",
    "policy_of",
    "unlimited",
]

SOURCES = ("relation", "bound relation", "csv", "parquet")


def arrow_of(columns: dict[str, list[Any]]) -> pa.Table:
    """Return columns as an Arrow table; a column of nothing has no type."""
    return pa.table(list(map(pa.array, columns.values())), names=list(columns))


def write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def _in_duckdb() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own to one database, which takes long to be made.

    What a connection is set to, and its temporary tables, are no other one's.
    """
    return _database().cursor()


@contextmanager
def opened(
    kind: str, columns: dict[str, list[Any]], folder: Path
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Give columns as one kind of source, with the options that it needs."""
    if kind == "memory":
        yield columns, {}
    elif kind == "csv":
        write_csv(folder / "rows.csv", columns)
        yield folder / "rows.csv", {"engine": "duckdb"}
    elif kind == "parquet":
        pq.write_table(arrow_of(columns), folder / "rows.parquet")
        yield folder / "rows.parquet", {"engine": "duckdb"}
    else:
        with _in_duckdb() as connection:
            relation = connection.from_arrow(arrow_of(columns))
            bound = kind == "bound relation"
            yield relation, {"connection": connection} if bound else {}


def as_written(kind: str, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the columns as the source knows them: a CSV file has only texts."""
    return (
        columns
        if kind != "csv"
        else {
            name: [str(c).lower() if isinstance(c, bool) else c for c in cells]
            for name, cells in columns.items()
        }
    )


def policy_of(missing: str) -> dict[str, str | None]:
    """Return the settings of a policy; surrogates need splits of two branches."""
    grouping = "binary" if missing == "surrogate" else None
    return {"missing_policy": missing, "grouping": grouping}


def unlimited(recipe: str) -> dict[str, Any]:
    """Return the settings that let a small table grow a tree of several levels."""
    settings = {"pruning": "none", "forest": 0.0}
    if recipe == "chaid":
        settings |= {"alpha_split": 1.0, "alpha_merge": 1.0}
        settings |= {"min_samples_split": 2, "min_samples_leaf": 1}
    return settings


class AnsweredError(Exception):
    """Ends the growing of a tree, with what its source answered."""


def answers_of(
    ask: Callable[[Source], Any],
    columns: dict[str, list[Any]],
    target: str,
    *,
    recipe: str = "c4.5",
) -> list[Any]:
    """Ask the same rows in memory, in a bare relation and in a bound one."""

    def answered(source: Source, *_: Any) -> None:
        raise AnsweredError(ask(source))

    answers = []
    for kind in ("memory", "relation", "bound relation"):
        with (
            pytest.MonkeyPatch.context() as patch,
            opened(kind, columns, Path()) as (rows, how),
        ):
            patch.setattr("spinney.growth.growers.grow_tree", answered)
            with pytest.raises(AnsweredError) as found:
                spinney.grow(rows, target, **by_recipe(recipe=recipe, **how))
            answers.append(found.value.args[0])
    return answers


# Comparing


def assert_same_tables(one: list[dict[Any, Any]], other: list[dict[Any, Any]]) -> None:
    """Assert that the tables of some nodes, by attribute, are the same bit for bit."""
    for here, there in zip(one, other, strict=True):
        assert sorted(here) == sorted(there)
        for place, table in here.items():
            for name in ("values", "weights", "rows", "missing", "missing_rows"):
                pair = (getattr(each, name) for each in (table, there[place]))
                np.testing.assert_array_equal(*pair)
