"""What the page computes is what the library does: texts, rules, predictions."""

import json
import re

import duckdb
import numpy as np
import pytest
from tests.extensions.explorer.browser.explorer_models import (
    MODELS,
    TABLES,
    clusters,
    forest,
    mixed_clusters,
)
from tests.helpers.models import chain_model

import spinney
from spinney._support.text import number_text
from spinney.models import FittedTree

STATE = "document.getElementById('explorer').explorers[0].state"
ROWS = 60
# What the node's panel says, and the line of its rule on a page does not.
MORE = re.compile(r", smoothed from [\d.]+ %|; least expected cost: .*(?=\)$)")


def random_rows(model, n=ROWS, seed=0):
    """Return rows as the page has them, and as a table: missing and unseen, too."""
    rng = np.random.default_rng(seed)
    fitted = model._fitted() if hasattr(model, "_fitted") else model
    schema, needed = model.schema, fitted._needed
    columns = schema.input_columns(needed)
    cuts = {}
    for tree in trees_of(model):
        for node in tree:
            for split in [] if node.is_leaf else [node.split]:
                values = getattr(split, "cuts", [getattr(split, "threshold", np.inf)])
                cuts.setdefault(split.attribute, []).extend(
                    value for value in values if np.isfinite(value)
                )
    table, rows = {}, np.full((n, len(schema.attributes)), np.nan)
    for index in columns:
        attribute = schema.attributes[index]
        if attribute.kind == "numeric":
            near = np.array(cuts.get(index) or [0.0, 1.0, 100.0])
            cells = rng.choice(near, n) + rng.choice([0, 0, 1e-9, -1, 1, 30], n)
            cells = cells.round() if attribute.unit else cells
            cells[rng.random(n) < 0.2] = np.nan
            rows[:, index] = cells
            table[attribute.name] = [
                None if np.isnan(c) else number_text(c, attribute.unit) for c in cells
            ]
            continue
        codes = rng.integers(-2, len(attribute.values), n)  # -1 missing, -2 unseen
        rows[:, index] = np.where(codes < 0, np.nan, codes)
        values = {-1: None, -2: "never seen", **dict(enumerate(attribute.values))}
        table[attribute.name] = [values[code] for code in codes.tolist()]
    return rows, table


def trees_of(model):
    if model.kind == "tree":
        return [model.tree]
    return [member.tree for member in model.trees]


def predicted(page, rows):
    data = json.dumps([[None if np.isnan(c) else c for c in row] for row in rows])
    return np.array(
        page.evaluate(
            f"{data}.map((row) => document.getElementById('explorer').explorers[0]"
            ".whatIf.predict(row.map((cell) => cell === null ? NaN : cell)).outputs)"
        )
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")
def test_texts_and_predictions_are_those_of_the_model(name, visit):
    model = MODELS[name]()
    page = visit(model.explore().html)
    check_texts(page, model)
    rows, table = random_rows(model)
    assert np.isnan(rows).any()
    np.testing.assert_array_equal(predicted(page, rows), model.outputs(table))


def check_texts(page, model):
    """Assert that conditions and rules read as those of the library."""
    tree = model.tree
    said = page.evaluate(
        f"(() => {{ const s = {STATE}; return Array.from(s.closed, (_, node) => "
        "s.tree.condition(node)); })()"
    )
    assert said == [tree.condition(node) for node in tree]
    rules = page.evaluate(f"{STATE}.leaves().map((node) => [node, {STATE}.rule(node)])")
    expected = {rule.leaf: rule for rule in model.rules()}
    assert [leaf for leaf, _ in rules] == list(expected)
    for leaf, text in rules:
        assert text == MORE.sub("", expected[leaf].text())


@pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")
def test_a_forest_votes_as_the_model_does(visit):
    model = forest()
    rows, table = random_rows(model)
    page = visit(model.explore().html)
    outputs = predicted(page, rows)
    np.testing.assert_allclose(outputs, model.outputs(table), rtol=0, atol=1e-12)


TABLE_OF = {
    "melons": "watermelon_3.0.csv",
    "zoo": "zoo.csv",
    "formulas": "iris.csv",
}


@pytest.mark.parametrize("name", TABLE_OF)
def test_rules_as_sql_and_python_choose_the_rows_of_their_leaf(name, visit):
    model, path = MODELS[name](), TABLES / TABLE_OF[name]
    page = visit(model.explore().html)
    rows = spinney.read_table(path)
    rows = [rows.row(number) for number in range(rows.n_rows)]
    rules = page.evaluate(
        f"{STATE}.leaves().map((node) => [node, {STATE}.rule(node, 'SQL'), "
        f"{STATE}.rule(node, 'Python')])"
    )
    for leaf, sql, python in rules:
        support = model.tree.nodes[leaf].n_rows
        query = f"SELECT count(*) FROM read_csv('{path}') WHERE {sql}"
        assert duckdb.sql(query).fetchall() == [(support,)]
        # In brackets, as lines of a longer expression are.
        chosen = [eval(f"({python})", {"row": row}) for row in rows]
        assert sum(chosen) == support


@pytest.mark.parametrize("model", [clusters, mixed_clusters])
def test_the_nearest_cluster_is_that_of_the_model(model, visit):
    fitted, rng = model(), np.random.default_rng(0)
    table, rows = {}, []
    for attribute in fitted.schema.attributes:
        if attribute.kind == "numeric":
            cells = rng.normal(40.0, 8.0, ROWS) if model is mixed_clusters else None
            cells = rng.normal(4.0, 2.0, ROWS) if cells is None else cells
            table[attribute.name] = rows.append(cells.tolist()) or cells
        else:
            codes = rng.integers(0, len(attribute.values), ROWS).tolist()
            rows.append(codes)
            table[attribute.name] = [attribute.values[code] for code in codes]
    page = visit(fitted.explore().html)
    nearest = page.evaluate(
        f"{json.dumps(np.array(rows).T.tolist())}.map((row) => {{ const far = document"
        ".getElementById('explorer').explorers[0].clusters.distances(row); "
        "return far.indexOf(Math.min(...far)); })"
    )
    assert nearest == fitted.outputs(table)[:, 0].tolist()


def test_a_chain_of_a_thousand_questions(visit):
    model = FittedTree(chain_model(1000))
    page = visit(model.explore().html)
    assert page.evaluate(f"{STATE}.tree.height") == model.tree.height
    page.get_by_role("button", name="Expand all").click()
    page.keyboard.press("End")
