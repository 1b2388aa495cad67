"""Errors by leaf: which leaf, how many rows, how many errors, which rule."""

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.extensions.evaluation.leaf_errors import MAX_LEAVES

TRAIN = {
    "size": [1, 2, 3, 4, 5, 6, 7, 8],
    "colour": ["red", "blue"] * 4,
    "sold": ["no", "no", "no", "no", "yes", "no", "yes", "no"],
}


@pytest.fixture(scope="module")
def model():
    """Size ≤ 4: no; else red: yes, blue: no."""
    return spinney.grow(TRAIN, "sold", recipe="id3", criterion="gain")


TEST = {
    "size": [1, 2, 3, 9, 9, 9, 9, 6],
    "colour": ["red", "red", "red", "red", "blue", "blue", "red", "blue"],
    "sold": ["no", "yes", "no", "no", "no", "yes", "no", None],
}


def by_hand(model, rows, weights):
    """Return rows and errors of each leaf, in plain loops."""
    caught, leaves = model.predict(rows), model.apply(rows)
    found = {}
    for truth, label, leaf, weight in zip(
        rows["sold"], caught, leaves, weights, strict=True
    ):
        counts = found.setdefault(int(leaf), [0, 0])
        counts[0] += weight
        counts[1] += weight * (truth != label)
    return found


def test_leaves_beside_plain_loops(model):
    rows = pd.DataFrame(TEST).dropna()
    found = spinney.score(model, TEST).by_leaf
    expected = by_hand(model, rows, np.ones(len(rows)))
    assert {line["leaf"]: [line["rows"], line["errors"]] for line in found} == expected
    assert [line["errors"] for line in found] == sorted(
        (errors for _, errors in expected.values()), reverse=True
    )
    for line in found:
        assert line["rate"] == line["errors"] / line["rows"]


def test_rules_are_those_of_the_tree(model):
    claims = {rule.leaf: rule.text() for rule in model.rules()}
    for line in spinney.score(model, TEST).by_leaf:
        assert claims[line["leaf"]].startswith(line["rule"] + "  (support")


def test_weights_count(model):
    rows = pd.DataFrame(TEST).dropna()
    rows["w"] = [1, 5, 1, 1, 1, 1, 0.5]
    found = spinney.score(model, rows, weight="w")
    expected = by_hand(model, rows, rows["w"])
    assert {each["leaf"]: [each["rows"], each["errors"]] for each in found.by_leaf} == (
        expected
    )
    assert sum(line["rows"] for line in found.by_leaf) == found.weight


def test_the_text_has_the_worst_leaves_first(model):
    lines = str(spinney.score(model, TEST)).splitlines()
    start = lines.index("errors by leaf, most first")
    assert lines[start + 1].split() == ["leaf", "rows", "errors", "rule"]
    errors = [int(line.split()[2]) for line in lines[start + 2 :]]
    assert errors == sorted(errors, reverse=True)
    assert min(errors) > 0
    right = {name: cells[:1] for name, cells in TEST.items()}
    assert "by leaf" not in str(spinney.score(model, right))


@pytest.mark.parametrize("width", [40, 60])
def test_rules_are_cut_to_the_width(model, width):
    text = spinney.score(model, TEST).text(width=width)
    block = text.split("errors by leaf")[1]
    assert max(map(len, block.splitlines())) <= width
    whole = spinney.score(model, TEST).text(width=None)
    assert "…" not in whole


def test_more_leaves_than_are_shown():
    n = 4 * MAX_LEAVES
    rows = {"x": list(range(n)), "y": [str(i // 2 % 2) for i in range(n)]}
    model = spinney.grow(rows, "y", recipe="id3")
    wrong = {"x": rows["x"], "y": [str(1 - int(y)) for y in rows["y"]]}
    lines = str(spinney.score(model, wrong)).splitlines()
    assert lines[-1] == f"({MAX_LEAVES} more leaves have {n // 2} of the errors)"


def test_numbers():
    rows = {"x": list(range(20)), "y": [float(i // 5 * 10 + i % 2) for i in range(20)]}
    model = spinney.grow(rows, "y", recipe="cart", numeric=["y"], max_depth=2)
    later = {"x": [1, 2, 18], "y": [0.0, 3.0, 33.0]}
    errors = (model.predict(later) - np.array(later["y"])) ** 2
    found = spinney.score(model, later)
    assert [line["rows"] for line in found.by_leaf] == [1, 2] or [
        line["rows"] for line in found.by_leaf
    ] == [2, 1]
    for line in found.by_leaf:
        of_leaf = errors[model.apply(later) == line["leaf"]]
        assert line["rmse"] == pytest.approx(np.sqrt(of_leaf.mean()))
        assert line["share"] == pytest.approx(of_leaf.sum() / errors.sum())
    shares = [line["share"] for line in found.by_leaf]
    assert shares == sorted(shares, reverse=True)
    assert "leaf  rows" in str(found)


def test_a_forest_has_no_leaves_to_show():
    forest = spinney.grow_forest(TRAIN, "sold", n_estimators=3)
    found = spinney.score(forest, TEST)
    assert found.by_leaf == []
    assert "by_leaf" not in found.as_dict()


@pytest.mark.parametrize("costs", [None, {"no": {"yes": 5}, "yes": {"no": 1}}])
def test_divided_rows_count_by_their_parts_as_at_nodes(costs):
    grown = {"recipe": "c4.5", "criterion": "gain", "pruning": "none"}
    model = spinney.grow(TRAIN, "sold", **grown, cost_matrix=costs, min_samples_leaf=1)
    colours = [None, "red", None, "red", "blue", None, None, None]
    rows = {**TEST, "colour": colours}
    rows["sold"] = [*TEST["sold"][:-1], "no"]
    errors = model.node_errors(rows, cost_matrix=[[0, 1], [1, 0]])
    found = spinney.score(model, rows).by_leaf
    assert sum(line["rows"] for line in found) == pytest.approx(8)
    assert any(line["rows"] % 1 for line in found)
    for line in found:
        assert line["rows"] == pytest.approx(errors[line["leaf"]].weight)
        assert line["errors"] == pytest.approx(errors[line["leaf"]].as_leaf)
