"""The same rows in every source: opened, asked and compared.

Sums are exact where weights are whole and no row is divided, and then no bit may
differ; otherwise the order of additions may make a difference, of 1e-9 at most.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from spinney.trees.split import Groups, Intervals, Threshold
from spinney.trees.tree import Candidate, Node, Tree

ROUNDING = 1e-9
SOURCES = ("relation", "bound relation", "csv", "parquet")


def arrow_of(columns: dict[str, list[Any]]) -> pa.Table:
    """Return columns as an Arrow table; a column of nothing has no type."""
    return pa.table(list(map(pa.array, columns.values())), names=list(columns))


def write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@contextmanager
def opened(
    kind: str, columns: dict[str, list[Any]], folder: Path
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Give columns as one kind of source, with the options that it needs."""
    if kind == "memory":
        yield columns, {}
    elif kind == "csv":
        write_csv(folder / "rows.csv", columns)
        yield folder / "rows.csv", {"source": "duckdb"}
    elif kind == "parquet":
        pq.write_table(arrow_of(columns), folder / "rows.parquet")
        yield folder / "rows.parquet", {"source": "duckdb"}
    else:
        with duckdb.connect() as connection:
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
    return {"missing": missing, "grouping": grouping}


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
            patch.setattr("spinney.growth.engine.grow_with_construction", answered)
            with pytest.raises(AnsweredError) as found:
                spinney.grow(rows, target, **by_recipe(recipe=recipe, **how))
            answers.append(found.value.args[0])
    return answers


# Comparing


def assert_numbers(found: Any, expected: Any, *, exact: bool) -> None:
    if exact:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)


def assert_same_tables(one: list[dict[Any, Any]], other: list[dict[Any, Any]]) -> None:
    """Assert that the tables of some nodes, by attribute, are the same bit for bit."""
    for here, there in zip(one, other, strict=True):
        assert sorted(here) == sorted(there)
        for place, table in here.items():
            for name in ("values", "weights", "rows", "missing", "missing_rows"):
                pair = (getattr(each, name) for each in (table, there[place]))
                np.testing.assert_array_equal(*pair)


def assert_same_candidate(one: Candidate, other: Candidate, *, exact: bool) -> None:
    assert type(one.split) is type(other.split)
    assert one.attribute == other.attribute
    assert one.split.missing == other.split.missing
    names = {Threshold: "threshold", Groups: "groups", Intervals: "cuts"}
    sides = names[type(one.split)]
    assert getattr(one.split, sides) == getattr(other.split, sides)
    assert one.exact == other.exact
    for name in ("values", "rows", "missing_rows", "weights", "missing"):
        pair = (getattr(candidate.table, name) for candidate in (one, other))
        assert_numbers(*pair, exact=exact or name not in ("weights", "missing"))
    assert_numbers(one.split.shares, other.split.shares, exact=exact)
    assert_numbers((one.gain, one.merit), (other.gain, other.merit), exact=exact)


def assert_same_node(one: Node, other: Node, *, exact: bool) -> None:
    names = "number parent branch depth n_rows label chosen children reason forced"
    assert one.otherwise == other.otherwise
    for name in names.split():
        assert getattr(one, name) == getattr(other, name), (one.number, name)
    assert_numbers(one.weights, other.weights, exact=exact)
    assert_numbers(one.distribution, other.distribution, exact=exact)
    for pair in zip(one.candidates, other.candidates, strict=True):
        assert_same_candidate(*pair, exact=exact)
    for found, expected in zip(one.surrogates, other.surrogates, strict=True):
        assert found.split == expected.split
        assert found.reversed == expected.reversed
        figures = ([each.agreement, each.adjusted] for each in (found, expected))
        assert_numbers(*figures, exact=exact)


def divides_a_row(tree: Tree) -> bool:
    return any(
        node.route.final_branch is None and node.candidate.table.missing_rows.any()
        for node in tree
        if node.route is not None
    )


def assert_same_tree(one: Tree, other: Tree, *, whole: bool) -> None:
    exact = whole and not divides_a_row(one)
    for pair in zip(one, other, strict=True):
        assert_same_node(*pair, exact=exact)
