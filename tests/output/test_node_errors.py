"""The error of every node on a table: as a leaf, and by its branches."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import TABLES, recipes, tables
from tests.properties.test_pruning import coded, loss_of, numeric_tables
from tests.twins import naive

import spinney
from spinney import DataError
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import EncodedRows, validate
from spinney.output import to_json
from spinney.output.node_errors import NodeErrors
from spinney.trees import cut

TRAIN = TABLES / "watermelon_2.0_train.csv"
VALID = TABLES / "watermelon_2.0_valid.csv"


@pytest.fixture
def full():
    return spinney.grow(TRAIN, "ripe", ignore=["id"], recipe="id3", ties=["umbilicus"])


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(30))
def test_errors_are_those_of_plain_loops(numeric, data):
    table = data.draw((numeric_tables if numeric else tables)(max_rows=24))
    tree = grow_tree(table.source, data.draw(recipes()))
    columns, targets, weights = coded(table)
    targets = targets[::-1].copy()
    rows = EncodedRows(columns, targets, weights)
    found = NodeErrors(tree, validate(tree, rows), "rows")
    for node, error in zip(tree, found, strict=True):
        came, as_leaf, as_subtree = 0.0, 0.0, 0.0
        for (cells, _, weight), target in zip(table.rows, targets, strict=True):
            reached = naive.route(tree, cells)
            part = weight * reached.get(node.number, 0.0)
            wrong = float(node.label != target)
            if numeric:
                wrong = (node.value - target) ** 2
            came, as_leaf = came + part, as_leaf + part * wrong
            below = {n: p for n, p in reached.items() if is_below(tree, n, node.number)}
            as_subtree += weight * loss_of(tree, below, target)
        scale = max(1.0, as_leaf, as_subtree) * 1e-9
        assert error.weight == pytest.approx(came, abs=1e-9)
        assert error.as_leaf == pytest.approx(as_leaf, abs=scale)
        assert error.as_subtree == pytest.approx(as_subtree, abs=scale)
    whole, root = found[0], validate(cut(tree, {0}), rows)
    assert whole.as_leaf == pytest.approx(float(root.loss[0]))


def is_below(tree, number, above):
    return any(step.number == above for step in tree.path(number))


def test_in_the_text(full):
    text = spinney.output.to_text(full.tree, errors=full.node_errors(VALID))
    lines = text.splitlines()
    assert lines[0].endswith(
        "[on watermelon_2.0_valid.csv: 3 of 7 right as a leaf, 3 of 7 by its branches]"
    )
    assert lines[1].endswith("  [2 of 2 right]")
    assert lines[2].endswith("  [2 of 3 right as a leaf, 1 of 3 by its branches]")
    assert sum("[no rows]" in line for line in lines) == 6


def test_as_a_table_and_as_data(full):
    errors = full.node_errors(VALID)
    assert str(errors).splitlines()[:4] == [
        "on watermelon_2.0_valid.csv: 7 rows",
        "node  as a leaf     by its branches  branch",
        "   0  3 of 7 right  3 of 7 right     (root)",
        "   1  2 of 2 right                   umbilicus = flat",
    ]
    assert len(errors) == len(full.tree)
    assert errors[0].error == pytest.approx(4 / 7)
    assert (errors[2].error_as_leaf, errors[2].error) == (
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )
    assert errors[3].error is None
    assert [error.node for error in errors[1:3]] == [1, 2]
    data = json.loads(to_json(full.model_, errors))
    assert data["data"] == {
        "name": "watermelon_2.0_valid.csv",
        "measure": "accuracy",
        "weight": 7.0,
    }
    assert data["nodes"][2]["on_data"]["loss"] == 2.0
    assert errors.as_dicts()[2] == {"node": 2, **data["nodes"][2]["on_data"]}


@pytest.mark.parametrize("style", ["compact", "rules", "teaching"])
def test_in_pictures(full, style):
    plain = full.plot(style=style).svg
    svg = full.plot(style=style, data=VALID).svg
    assert "below the line: on watermelon_2.0_valid.csv" in svg
    assert ">2 of 3 right as a leaf<" in svg
    assert ">1 of 3 by its branches<" in svg
    assert "by its branches" not in plain
    assert svg == full.plot(style=style, data=full.node_errors(VALID)).svg


def test_costs_weights_and_numbers(full):
    dear = full.node_errors(VALID, cost_matrix=[[0, 10], [1, 0]])
    assert dear[0].text(leaf=True) == "cost 4 of weight 7"
    assert dear[5].text() == "cost 10 of weight 1"
    heavy = full.node_errors(VALID, weight="id")
    assert heavy[0].weight == 4 + 5 + 8 + 9 + 11 + 12 + 13
    cpu = TABLES / "cpu_prp.csv"
    model = spinney.grow(cpu, "class", recipe="cart", max_depth=2)
    errors = model.node_errors(cpu)
    assert errors[0].text() == f"mean squared error {errors[0].error:.6g}"
    numbers = np.array(spinney.read_table(cpu)["class"].cells)
    residuals = model.predict(cpu) - numbers
    assert errors[0].error == pytest.approx(np.mean(residuals**2))
    assert errors[0].error_as_leaf == pytest.approx(numbers.var())
    linear = spinney.grow(cpu, "class", recipe="m5")
    residuals = linear.predict(cpu) - numbers
    assert linear.node_errors(cpu)[0].error == pytest.approx(np.mean(residuals**2))


def test_refusals(full):
    table = spinney.read_table(VALID)
    with pytest.raises(DataError, match="'ripe'"):
        full.node_errors(table.without(["ripe"]))
    with pytest.raises(DataError, match="the table has no rows"):
        full.node_errors(table.take(slice(0, 0)))
    with pytest.raises(DataError, match="'w'"):
        full.node_errors(table, weight="w")


def test_the_name_of_a_table_is_shown_and_no_more(full):
    errors = full.node_errors(spinney.read_table(VALID), name="a\nb<i>")
    assert errors.note(0).startswith(r"on a\nb<i>: ")
    assert "a\\nb&lt;i&gt;" in full.plot(data=errors).svg
    assert not re.search(r"a\nb", full.plot(data=errors).svg)
