"""A check for sources: they must grow the same trees as memory.

A source gives a learner count tables, so that rows can stay in a database or on a
cluster. :func:`check_source` puts random tables there, grows trees on them and on the
same tables in memory, and compares these node by node: the split, the counts behind it,
and every competitor. Weights are compared bit by bit if they are whole and no row is
divided; otherwise the order of additions may differ, by 1e-9 at most.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.api import grow
from spinney.data import Schema
from spinney.errors import SpinneyWarning
from spinney.recipes import Recipe
from spinney.trees import Candidate, Groups, Intervals, Node, Threshold, Tree

Columns = dict[str, list[Any]]
Opened = AbstractContextManager[tuple[Any, Mapping[str, Any]]]

ROUNDING = 1e-9
RECIPES = ("id3", "c4.5", "cart", "chaid", "m5")
TEXTS = (
    *("it's", 'say "no"', "?", "$1", "%s", "{}", ":v1", "a,b", "\\", "ü", "NULL"),
    *("'; DROP TABLE rows; --", "true", "nan", " padded ", "two\nlines"),
)
NAMES = (
    *("select", "group by", 'a"b', "it's", "x; DROP TABLE rows; --", "größe ≤ 1"),
    *("a0", "class", "weight", "node", "child", "value", "%s", "?", "$1", ":v0", "/*"),
)


@dataclass(frozen=True)
class CheckedSource:
    """The result of a check: the numbers of trees and of their nodes, by recipe.

    ``inexact`` is the number of competitors that the source knows by bins alone. Their
    gains must not exceed those in memory; otherwise they are not compared.
    """

    trees: dict[str, int]
    nodes: dict[str, int]
    inexact: dict[str, int]

    def __str__(self) -> str:
        lines = []
        for recipe, n_trees in self.trees.items():
            n_nodes, skipped = self.nodes[recipe], self.inexact[recipe]
            line = f"{recipe}: {n_trees} trees of {n_nodes} nodes, the same"
            if skipped:
                line += (
                    f"; of {skipped} competitors, known by bins, only that they lose"
                )
            lines.append(line)
        return "\n".join(lines)


def check_source(
    open_table: Callable[[Columns], Opened],
    *,
    recipes: Sequence[str] = RECIPES,
    n_tables: int = 4,
    n_rows: int = 40,
    seed: int = 0,
) -> CheckedSource:
    """Check that a source grows the trees that memory does.

    Parameters
    ----------
    open_table : function
        Takes a table, a dict of columns (floats, booleans and texts; None where a cell
        is missing), and returns a context manager that puts it where the source counts,
        and gives what ``spinney.grow`` takes for it: the data, and a dict of further
        arguments.
    recipes : sequence of str
        Those that the source can answer.
    n_tables : int
        How many tables for each recipe.
    n_rows : int
        How many rows a table has.
    seed : int
        Of the random tables.

    Returns
    -------
    CheckedSource
        What was compared.

    Raises
    ------
    AssertionError
        With the recipe, the table's number and the node, where a tree differs.

    Examples
    --------
    >>> import contextlib, duckdb, pandas
    >>> from spinney.testing import check_source
    >>> @contextlib.contextmanager
    ... def in_duckdb(columns):
    ...     with duckdb.connect() as connection:
    ...         rows = connection.from_df(pandas.DataFrame(columns))
    ...         yield rows, {"connection": connection}
    >>> print(check_source(in_duckdb, recipes=["cart"], n_tables=1))
    cart: 1 trees of 23 nodes, the same
    """
    trees, nodes = dict.fromkeys(recipes, 0), dict.fromkeys(recipes, 0)
    inexact = dict.fromkeys(recipes, 0)
    for recipe in recipes:
        for number in range(n_tables):
            drawn = random_table(seed + number, n_rows, numeric=recipe == "m5")
            try:
                n_nodes, n_inexact = drawn.compare(open_table, recipe)
            except AssertionError as error:
                msg = f"recipe {recipe!r}, table {seed + number}: {error}"
                raise AssertionError(msg) from error
            trees[recipe] += 1
            nodes[recipe] += n_nodes
            inexact[recipe] += n_inexact
    return CheckedSource(trees, nodes, inexact)


@dataclass(frozen=True)
class DrawnTable:
    """A random table, and the declarations of its columns."""

    columns: Columns
    declared: Mapping[str, Any]
    target: str
    whole: bool

    def compare(
        self, open_table: Callable[[Columns], Opened], recipe: str
    ) -> tuple[int, int]:
        """Compare the trees of memory and source.

        Return the number of nodes, and of competitors that are known by bins alone.
        """
        options = {**self.declared, **_unlimited(recipe)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)
            expected = grow(self.columns, self.target, **options).tree
            with open_table(self.columns) as (data, further):
                # Counted there, to the last row; small tables would be read.
                how = {"memory_limit": 0, **further}
                actual = grow(data, self.target, **options, **how).tree
        _assert_same_schema(expected.schema, actual.schema)
        return len(expected), assert_same_tree(expected, actual, whole=self.whole)


def _assert_same_schema(one: Schema, other: Schema) -> None:
    """Assert that two schemas are equal, except for the rounding of a mean."""
    origins = [schema.target.origin for schema in (one, other)]
    if None not in origins:
        _assert_numbers(*origins, exact=False)
        other = replace(other, target=replace(other.target, origin=origins[0]))
    assert one == other, "the schemas differ"


def _unlimited(recipe: str) -> dict[str, Any]:
    """Return the settings that let a small table grow a tree of several levels."""
    if recipe == "chaid":
        changed = Recipe.named(recipe).changed(alpha_split=1.0, alpha_merge=1.0)
        return {"recipe": changed, "min_samples_split": 2, "min_samples_leaf": 1}
    if recipe == "m5":
        return {"recipe": recipe, "max_depth": 3, "pruning": "none"}
    return {"recipe": recipe, "pruning": "none"}


def random_table(seed: int, n_rows: int, *, numeric: bool = False) -> DrawnTable:
    """Return a random table of mixed columns, with missing cells and row weights."""
    random = np.random.default_rng(seed)
    names = iter(random.permutation(NAMES).tolist())
    columns: Columns = {}
    nominal, ordinal = [], {}
    for kind in ("real", "few", "text", "flag", "level"):
        name = next(names)
        cells = _cells(kind, n_rows, random)
        if kind in ("text", "flag"):
            nominal.append(name)
        elif kind == "level":
            ordinal[name] = ["low", "it's middling", "high"]
        for at in np.flatnonzero(random.random(n_rows) < 0.1 * (seed % 3)):
            cells[at] = None
        columns[name] = cells
    target, weight = next(names), next(names)
    if numeric:
        columns[target] = (random.normal(size=n_rows) * 4).round(2).tolist()
    else:
        labels = [text for text in TEXTS if "\n" not in text][: 2 + seed % 2]
        columns[target] = [
            *labels,
            *random.choice(labels, n_rows - len(labels)).tolist(),
        ]
        nominal.append(target)
    declared: dict[str, Any] = {"nominal": nominal, "ordinal": ordinal}
    if seed % 4:
        divisor = 3 if seed % 4 == 3 else 1
        weights = random.integers(1, 6, n_rows) / divisor
        columns[weight] = weights.astype(float).tolist()
        declared["weight"] = weight
    whole = seed % 4 != 3 and not numeric
    return DrawnTable(columns, declared, target, whole)


def _cells(kind: str, n_rows: int, random: np.random.Generator) -> list[Any]:
    if kind == "real":
        return list(random.normal(size=n_rows).tolist())
    few: dict[str, Any] = {
        "few": [-2.5, -0.0, 0.0, 0.1, 0.3, 1e6],
        "flag": [False, True],
        "text": random.permutation(TEXTS)[:5],
        "level": ["low", "high"],
    }
    return list(random.choice(few[kind], n_rows).tolist())


def assert_same_tree(one: Tree, other: Tree, *, whole: bool) -> int:
    """Assert that two trees are equal, node by node.

    ``whole`` says that weights are integers, whose sums are exact. Return the number of
    competitors that the other tree knows by bins alone: they gain no more, and are not
    compared otherwise.
    """
    assert len(one) == len(other), f"{len(one)} nodes and {len(other)}"
    exact = whole and not _divides_a_row(one)
    for expected, actual in _pairs(one, other):
        try:
            _assert_same_node(expected, actual, exact=exact)
        except AssertionError as error:
            msg = f"node {expected.number}: {error}"
            raise AssertionError(msg) from error
    return sum(_n_inexact(expected, actual) for expected, actual in _pairs(one, other))


def _n_inexact(one: Node, other: Node) -> int:
    """Return the number of the other node's candidates that are known by bins alone."""
    pairs = enumerate(zip(one.candidates, other.candidates, strict=True))
    return sum(not _is_exact(one, place, pair) for place, pair in pairs)


def _is_exact(one: Node, place: int, pair: tuple[Candidate, Candidate]) -> bool:
    expected, actual = pair
    return actual.exact or not expected.exact or place == one.chosen


def _pairs(one: Tree, other: Tree) -> Iterator[tuple[Node, Node]]:
    return zip(one, other, strict=True)


def _divides_a_row(tree: Tree) -> bool:
    return any(
        node.route.fallback_branch is None and node.candidate.table.missing_rows.any()
        for node in tree
        if node.route is not None
    )


def _assert_same_node(one: Node, other: Node, *, exact: bool) -> None:
    names = "number parent branch depth n_rows label chosen children reason forced"
    for name in (*names.split(), "default_branch"):
        pair = getattr(one, name), getattr(other, name)
        assert pair[0] == pair[1], f"{name} is {pair[1]}, not {pair[0]}"
    _assert_numbers(one.weights, other.weights, exact=exact)
    _assert_numbers(one.distribution, other.distribution, exact=exact)
    pairs = zip(one.candidates, other.candidates, strict=True)
    for place, (expected, actual) in enumerate(pairs):
        if _is_exact(one, place, (expected, actual)):
            _assert_same_candidate(expected, actual, exact=exact)
        else:  # of bins that could not win, the best cut between them
            assert actual.gain <= expected.gain + ROUNDING, (
                "a competitor gains too much"
            )
    for first, second in zip(one.surrogates, other.surrogates, strict=True):
        assert first.split == second.split, "surrogates differ"
        assert first.reversed == second.reversed, "a surrogate is turned"
        figures = ([each.agreement, each.adjusted] for each in (first, second))
        _assert_numbers(*figures, exact=exact)


def _assert_same_candidate(one: Candidate, other: Candidate, *, exact: bool) -> None:
    assert type(one.split) is type(other.split), "splits of different kinds"
    assert one.attribute == other.attribute, "other attributes"
    assert one.split.missing == other.split.missing, "missing values go elsewhere"
    names: dict[type, str] = {
        Threshold: "threshold",
        Groups: "groups",
        Intervals: "cuts",
    }
    sides = names[type(one.split)]
    pair = getattr(one.split, sides), getattr(other.split, sides)
    assert pair[0] == pair[1], f"attribute {one.attribute}: {pair[1]}, not {pair[0]}"
    assert one.exact <= other.exact, "one is not exact"
    for name in ("values", "rows", "missing_rows", "weights", "missing"):
        tables = (getattr(candidate.table, name) for candidate in (one, other))
        _assert_numbers(*tables, exact=exact or name not in ("weights", "missing"))
    _assert_numbers(one.split.shares, other.split.shares, exact=exact)
    _assert_numbers((one.gain, one.merit), (other.gain, other.merit), exact=exact)


def _assert_numbers(one: Any, other: Any, *, exact: bool) -> None:
    if np.array_equal(other, one):  # at once, as nearly all are
        return
    if exact:
        np.testing.assert_array_equal(other, one)
    else:
        np.testing.assert_allclose(other, one, rtol=ROUNDING, atol=ROUNDING)
