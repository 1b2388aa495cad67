"""How a source is asked: one statement for a level, and only what was wanted."""

from typing import Any

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe
from tests.helpers.stacks import by_node
from tests.helpers.strategies import CLASS_RECIPES
from tests.sources.comparing import (
    answers_of,
    assert_same_tables,
    assert_same_tree,
    opened,
    policy_of,
    unlimited,
)

import spinney
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.search.missing_values import POLICIES
from spinney.sources.base import Source, TableRequest
from spinney.trees import Reason
from spinney.trees.split import Route, Threshold

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

# fmt: off
STOPPED_UNASKED = (
    Reason.PURE, Reason.EMPTY, Reason.EXHAUSTED, Reason.DEPTH, Reason.ROWS_TO_SPLIT
)
# fmt: on


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every statement is added as it runs."""
    heard: list[str] = []
    written = SqlEngine.to_sql

    def heard_statement(engine: SqlEngine, statement: Any) -> Any:
        words, values = written(engine, statement)
        if not words.startswith("DROP"):
            heard.append(words)
        return words, values

    monkeypatch.setattr(SqlEngine, "to_sql", heard_statement)
    return heard


def mixed_rows(n_rows: int) -> dict[str, list[Any]]:
    """Return rows of every kind, some cells missing, with a tree of several levels."""
    random = np.random.default_rng(3)
    texts = random.choice(["it's", "?", "{}", ""], n_rows).tolist()
    numbers = [None if n > 8 else float(n) for n in random.integers(0, 10, n_rows)]
    flags = [bool(n) for n in random.integers(0, 2, n_rows)]
    labels = random.choice(["x", "y", "z"], n_rows).tolist()
    return {"t": texts, "n": numbers, "b": flags, "label": labels}


@pytest.mark.parametrize("missing", sorted(POLICIES))
@pytest.mark.parametrize("recipe", CLASS_RECIPES)
def test_a_level_is_one_statement(recipe, missing, statements, tmp_path):
    options = {"recipe": recipe, **policy_of(missing), **unlimited(recipe)}
    if options["grouping"] == "binary":
        options.pop("alpha_merge", None)  # nothing merges then
    with opened("bound relation", mixed_rows(60), tmp_path) as (rows, source):
        spinney.grow(rows, "label", **by_recipe(max_depth=0, **options), **source)
        before = list(statements)  # for the classes, values and totals
        statements.clear()
        options["max_depth"] = 5
        model = spinney.grow(rows, "label", **by_recipe(**options), **source)
    tree = model.tree
    assert tree.height >= 2
    asked = {node.depth for node in tree if node.reason not in STOPPED_UNASKED}
    # Surrogates are one more statement for the splits of a level, and one for what
    # they send where a value is missing.
    splits = [node for node in tree if node.default_branch is not None]
    missed = [node for node in splits if node.candidate.table.missing_rows.any()]
    agreed, sent = ({node.depth for node in nodes} for nodes in (splits, missed))
    counted = [text for text in statements if text.startswith("SELECT")]
    kept = [text for text in statements if text.startswith(("CREATE", "UPDATE"))]
    n_before = sum(text.startswith("SELECT") for text in before)
    assert len(counted) == n_before + len(asked) + len(agreed) + len(sent)
    selects = [part for text in counted[n_before:] for part in text.split("UNION ALL")]
    assert all(part.count("FROM") <= 3 for part in selects)
    # The coded rows, and the lines of each level below the root, anew or changed.
    assert len(kept) == 1 + len(asked - {0})
    assert (missing == "surrogate") == bool(sent)


def test_an_empty_request_gets_an_empty_answer(statements):
    def ask(source: Source) -> list[Any]:
        statements.clear()
        stacks = [*source.tables([]), *source.tables([TableRequest(0, ())])]
        return [sum(map(len, stacks)), list(statements)]

    found = answers_of(ask, mixed_rows(30), "label")
    assert found == [[0, []]] * 3


def test_nodes_may_be_asked_for_different_attributes():
    def ask(source: Source) -> list[Any]:
        source.partition(0, Route(Threshold(1, 4.0, (0.5, 0.5))), {0: 7, 1: 3})
        return by_node(
            source.tables([TableRequest(7, (2,)), TableRequest(3, (0, 1))]), 2
        )

    memory, *others = answers_of(ask, mixed_rows(30), "label")
    assert [sorted(tables) for tables in memory] == [[2], [0, 1]]
    for other in others:
        assert_same_tables(memory, other)


@pytest.mark.parametrize("kind", ["relation", "bound relation"])
def test_more_attributes_than_one_statement_takes(
    kind, tmp_path, statements, monkeypatch
):
    monkeypatch.setattr(SqlEngine, "max_columns", 4)
    random = np.random.default_rng(5)
    columns: dict[str, list[Any]] = {
        f"column {place}": random.choice(["a", "b", "c"], 40).tolist()
        for place in range(9)
    }
    # The deciding columns are at the edges of the chunks of 4.
    for place in (3, 4, 7, 8):
        columns[f"column {place}"][::7] = [""] * 6
    parity = [
        (columns["column 4"][i] == "a") ^ (columns["column 7"][i] == "b")
        for i in range(40)
    ]
    columns["label"] = ["yes" if even else "no" for even in parity]
    options = {"recipe": "cart", "max_depth": 2}
    expected = spinney.grow(columns, "label", **options).tree
    with opened(kind, columns, tmp_path) as (rows, source):
        found = spinney.grow(rows, "label", **options, **source).tree
    assert len(found.root.candidates) == 9
    assert [text.count("COUNT(*)") for text in statements[-3:]] == [4, 4, 1]
    assert_same_tree(expected, found, whole=True)
