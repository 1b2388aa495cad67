"""Surrogates from tables of value × branch, and the rules by which they are kept."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.models import (
    Arrays,
    assert_same_model,
    bytes_of,
    mixed_model,
    refusal,
    setter,
    with_arrays,
)
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import DataError, ParameterError
from spinney.output.file.model_files import load_model, save_model
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES, Recipe
from spinney.search.root_statistics import RootSummary
from spinney.search.surrogate_search import SurrogateSplits, ranked_surrogates
from spinney.trees import Tree
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Route, Surrogate, Threshold
from spinney.trees.table_batch import TableBatch

NUMBER = Attribute("number", "numeric")
LETTER = Attribute("letter", "nominal", tuple("abcd"))
SCHEMA = Schema((NUMBER, LETTER, NUMBER), Target("y", ("n", "p")))


def found(place: int, weights: list[list[float]], **more: object) -> list[Surrogate]:
    return surrogates_of({place: CountTable.of(weights, **more)}, most=5)


def surrogates_of(agreements: dict[int, CountTable], *, most: int) -> list[Surrogate]:
    """Return the surrogates by tables of value × branch, which send every row."""
    tables = {index: with_unsent(table) for index, table in agreements.items()}
    parts = [SurrogateSplits.of(TableBatch.of([tables]), SCHEMA, RootSummary())]
    (surrogates,) = ranked_surrogates(parts, 1, max_surrogates=most)
    return surrogates


def with_unsent(table: CountTable) -> CountTable:
    """Return a table with a last column for rows that the split does not send."""
    if table.weights.shape[1] > 2:
        return table
    return CountTable(
        table.values,
        np.pad(table.weights, ((0, 0), (0, 1))),
        np.pad(table.rows, ((0, 0), (0, 1))),
        np.pad(table.missing, (0, 1)),
        np.pad(table.missing_rows, (0, 1)),
    )


def test_the_agreement_of_a_threshold_by_hand():
    # Branch 0 has 6 rows, branch 1 has 4. The cut after value 1 agrees in 5 + 3 of 10.
    (surrogate,) = found(0, [[3, 0], [2, 1], [1, 3]])
    assert surrogate.split == Threshold(0, 1.5, ())
    assert not surrogate.reversed
    assert surrogate.agreement == pytest.approx(0.8)
    assert surrogate.adjusted == pytest.approx((0.8 - 0.6) / (1 - 0.6))


def test_rows_that_the_split_does_not_send_say_nothing():
    told = CountTable.of([[3, 0, 0], [0, 3, 0], [0, 0, 5]])
    parts = SurrogateSplits.of(TableBatch.of([{1: told}]), SCHEMA, RootSummary())
    assert parts.line_branch.tolist() == [0, 1, -1]
    assert parts.agreement.tolist() == [1.0]
    # One row that is sent takes the second branch; four beside it are not sent.
    assert len(found(1, [[3, 0, 0], [0, 1, 4]])) == 0
    assert len(found(1, [[3, 0, 0], [0, 2, 4]])) == 1


def test_a_threshold_may_be_reversed():
    (surrogate,) = found(0, [[1, 3], [2, 1], [3, 0]])
    assert surrogate.split.threshold == 0.5
    assert surrogate.reversed
    assert surrogate.branch_of(np.array([0.0, 2.0, np.nan])).tolist() == [1, 0, -1]
    assert surrogate.own_branch(0) == 1
    assert surrogate.agreement == pytest.approx(0.8)


def test_missing_values_of_a_surrogate_agree_with_nothing():
    (surrogate,) = found(0, [[3, 0], [2, 1], [1, 3]], missing=[0, 1])
    # 6 rows of branch 0 and 5 of branch 1; 8 of 11 agree, the heavier branch in 6.
    assert surrogate.agreement == pytest.approx(8 / 11)
    assert surrogate.adjusted == pytest.approx(2 / 5)
    # 11 rows of branch 0: sending all there is right more often.
    assert found(0, [[3, 0], [2, 1], [1, 3]], missing=[5, 0]) == []


def test_each_nominal_value_takes_its_better_branch():
    (surrogate,) = found(1, [[4, 1], [0, 3], [2, 2]])
    # c ties: the heavier branch of the rows whose letter is known, on a tie the second.
    assert surrogate.split == Groups(1, ((0,), (1, 2)), ())
    assert surrogate.agreement == pytest.approx(9 / 12)


@pytest.mark.parametrize("place", [0, 1])
def test_at_least_two_rows_go_each_way(place):
    assert found(place, [[1, 0], [0, 4]]) == []
    assert len(found(place, [[2, 0], [0, 4]])) == 1


def test_what_is_no_better_than_the_majority_is_left_out():
    assert found(0, [[3, 2], [3, 2]]) == []
    assert found(1, [[3, 2], [3, 2]]) == []
    assert found(0, [[5, 0]]) == []


def test_the_best_come_first_and_ties_go_to_the_first_column():
    good, fair = CountTable.of([[4, 0], [0, 4]]), CountTable.of([[4, 1], [0, 3]])
    tables = {2: good, 1: good, 0: fair}
    ranked = surrogates_of(tables, most=5)
    assert [each.attribute for each in ranked] == [1, 2, 0]
    assert len(surrogates_of(tables, most=2)) == 2


def test_a_threshold_is_next_to_the_last_value_on_the_left():
    # The value 1 occurs at the node in rows whose own value is missing only.
    everything = CountTable.of([[3, 0, 0], [0, 0, 2], [0, 3, 0]])
    (surrogate,) = surrogates_of({0: everything}, most=5)
    assert surrogate.split.threshold == 0.5


def test_a_route_says_who_sends_what():
    split = Threshold(0, 1.5, (0.5, 0.5))
    surrogate = Surrogate(Threshold(1, 0.5, ()), 0.9, 0.8)
    assert Route(split).fallback_branch is None
    assert Route(split, (), 1).fallback_branch == 1
    assert Route(split, (), 1).described.missing == 1
    assert Route(split, (surrogate,), 1).described is split


def test_surrogates_need_two_branches():
    with pytest.raises(ParameterError, match=r"'binary' or .* has grouping='multiway'"):
        RECIPES["cart"].changed(grouping="multiway")
    with pytest.raises(ParameterError, match="such as missing_policy='fractional'"):
        RECIPES["id3"].changed(missing_policy="surrogate")
    with pytest.raises(ParameterError, match="surrogates=-1 must be a whole number"):
        RECIPES["cart"].changed(surrogates=-1)
    with pytest.raises(ParameterError, match="surrogates=None must be"):
        Recipe("own", "gini", "binary", "surrogate", surrogates=None)


# A model that has them

ROWS = {
    "height": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, None, None],
    "weight": [1.0, 2.0, 3.0, 4.0, 15.0, 16.0, 17.0, 18.0, 2.0, None],
    "side": ["l", "l", "l", "l", "r", "r", "r", "l", "r", None],
    "y": ["n", "n", "n", "n", "p", "p", "p", "p", "n", "p"],
}


@pytest.fixture(scope="module")
def grown() -> spinney.TreeClassifier:
    return spinney.grow(
        ROWS, "y", recipe="cart", max_depth=1, forced_splits={(): "height"}
    )


def test_the_node_of_a_small_table_by_hand(grown):
    root = grown.tree.root
    weight, side = root.surrogates
    # Of the 8 rows whose height is known, weight ≤ 9.5 agrees in all, side in 7.
    assert weight == Surrogate(Threshold(1, 9.5, ()), 1.0, 1.0)
    assert side == Surrogate(Groups(2, ((0,), (1,)), ()), 0.875, 0.75)
    assert root.default_branch == 0
    # The first without a height goes left by its weight, the second with the majority.
    left, right = grown.tree.children(root)
    assert left.weights.tolist() == [5, 1]
    assert right.weights.tolist() == [0, 4]
    assert root.candidate.table.missing.tolist() == [1, 1]
    assert grown.tree.surrogate_importances.tolist() == pytest.approx([4, 4, 3])


@pytest.mark.parametrize("missing", ["surrogate", "branch"])
def test_no_row_is_lost_where_classes_weigh(missing):
    weighty = {"class_weight": {"n": 2.0}, "missing_policy": missing}
    model = spinney.grow(ROWS, "y", recipe="cart", **weighty)
    assert sum(leaf.weight for leaf in model.tree.leaves) == 15


def test_weights_of_classes_do_not_change_surrogates(grown):
    settings = {
        "max_depth": 1,
        "forced_splits": {(): "height"},
        "class_weight": {"n": 7.0},
    }
    heavy = spinney.grow(ROWS, "y", recipe="cart", **settings)
    assert heavy.tree.root.surrogates == grown.tree.root.surrogates
    assert heavy.tree.nodes[1].weights.tolist() == [35, 1]


@pytest.mark.parametrize(
    "weight, side, leaf, told",
    [
        (16.0, "l", 2, "sent by the surrogate weight > 9.5"),
        (None, "r", 2, "sent by the surrogate side = r"),
        (None, "new", 1, "no surrogate has a value, sent to the default branch"),
        (None, None, 1, "no surrogate has a value, sent to the default branch"),
    ],
)
def test_a_row_without_a_height(grown, weight, side, leaf, told):
    row = {"height": [None], "weight": [weight], "side": [side]}
    assert grown.apply(row).tolist() == [leaf]
    explained = grown.explain(row=row)
    assert explained.steps[0].sent_by == told
    assert f"(height is missing: {told})" in str(explained).splitlines()[1]


def test_a_row_with_a_height_needs_no_surrogate(grown):
    explained = grown.explain(row={"height": [3.0], "weight": [99.0], "side": ["r"]})
    assert explained.steps[0].sent_by == ""
    assert [step.node for step in explained.steps] == [0, 1]


def test_columns_that_only_surrogates_ask_for_may_lack(grown):
    assert grown.apply({"height": [3.0, 7.0, None]}).tolist() == [1, 2, 1]
    assert grown.apply({"height": [None], "side": ["r"]}).tolist() == [2]
    with pytest.raises(DataError, match="needs the column 'height'"):
        grown.apply({"weight": [3.0], "side": ["r"]})
    assert grown.unseen(grown.read({"height": [1.0], "side": ["new"]})) == {
        "side": ["new"]
    }


def test_the_explanation_of_a_node_shows_its_surrogates(grown):
    told = grown.explain(node=0)
    assert [line.attribute for line in told.surrogates] == ["weight", "side"]
    assert told.surrogates[0].branches == ("weight ≤ 9.5", "weight > 9.5")
    assert told.default_branch == "height ≤ 4.5"
    lines = [" ".join(line.split()) for line in str(told).splitlines()]
    assert lines[-4:] == [
        "surrogates for height height ≤ 4.5 height > 4.5 agreement adjusted",
        "weight weight ≤ 9.5 weight > 9.5 1.000 1.000",
        "side side = l side = r 0.875 0.750",
        "default branch: height ≤ 4.5",
    ]
    assert told.text(ascii_only=True).isascii()
    assert told.as_dict()["surrogates"][1]["adjusted"] == 0.75


def test_rules_leave_open_what_surrogates_decide(grown):
    first, second = grown.rules()
    assert first.text().startswith("IF height ≤ 4.5 THEN y = n")
    assert first.conditions[0].missing is None
    alone = spinney.grow(
        ROWS,
        "y",
        forced_splits={(): "height"},
        **by_recipe(recipe="cart", max_depth=1, surrogates=0),
    )
    first, second = alone.rules()
    assert first.text().startswith("IF height ≤ 4.5 or missing THEN")
    assert second.conditions[0].missing is False
    assert (
        alone.explain(node=0)
        .text()
        .endswith("default branch if height is missing: height ≤ 4.5 or missing")
    )


@pytest.mark.parametrize("source", ["memory", "duckdb"])
def test_a_reversed_surrogate_sends_rows_the_other_way(source, tmp_path):
    rows = {
        "height": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, None, None, None],
        "depth": [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 8.0, 2.0, 1.0],
        "y": ["n", "n", "n", "n", "p", "p", "p", "p", "n", "p", "p"],
    }
    path = tmp_path / "rows.csv"
    lines = zip(*rows.values(), strict=True)
    cells = [",".join("" if c is None else str(c) for c in line) for line in lines]
    path.write_text("\n".join([",".join(rows), *cells]) + "\n", encoding="utf-8")
    settings = {"recipe": "cart", "forced_splits": {(): "height"}, "engine": source}
    model = spinney.grow(path, "y", **settings)
    (surrogate,) = model.tree.root.surrogates
    assert surrogate == Surrogate(Threshold(1, 5.5, ()), 1.0, 1.0, reversed=True)
    # The children are counted from their rows: each has one class, and no more.
    assert [leaf.weights.tolist() for leaf in model.tree.leaves] == [[5, 0], [0, 6]]
    later = {"height": [None, None], "depth": [7.0, 4.0]}
    assert model.predict(later).tolist() == ["n", "p"]
    told = model.explain(row={"height": [None], "depth": [4.0]}).steps[0].sent_by
    assert told == "sent by the surrogate depth ≤ 5.5"
    branches = model.explain(node=0).surrogates[0].branches
    assert branches == ("depth > 5.5", "depth ≤ 5.5")


def test_a_numeric_target_has_surrogates_too():
    rows = {**ROWS, "y": [1.5, 1.0, 1.25, 1.0, 5.0, 5.5, 6.0, 5.0, 1.0, 5.0]}
    settings = {"recipe": "cart", "max_depth": 1, "forced_splits": {(): "height"}}
    model = spinney.grow(rows, "y", **settings)
    assert [s.agreement for s in model.tree.root.surrogates] == [1.0, 0.875]
    assert [node.n_rows for node in model.tree.leaves] == [6, 4]
    assert model.predict({"height": [None], "weight": [16.0]}) == pytest.approx([5.375])


# Damage


@pytest.fixture(scope="module")
def good(grown, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return bytes_of(grown.model_, tmp_path_factory.mktemp("good"))


def resized(name: str, entries: list[float]) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = np.array(entries, dtype=arrays[name].dtype)

    return change


DAMAGE = {
    "count": (setter("node.surrogates", 0, 3), "'node.surrogates' do not add up"),
    "agreements": (resized("surrogate.agreement", [1]), "has 1 entries where 2"),
    "form": (setter("surrogate.form", 0, 2), "0 is neither a threshold nor groups"),
    "attribute": (setter("surrogate.attribute", 0, 3), "unknown attribute"),
    "own attribute": (setter("surrogate.attribute", 0, 0), "that it replaces"),
    "cuts": (resized("surrogate_split.thresholds", []), "has 0 entries where 1"),
    "groups": (resized("surrogate_split.groups", [2]), "has 1 entries where 2"),
    "empty group": (resized("surrogate_split.groups", [2, 0]), "do not add up"),
    "branch": (setter("node.otherwise", 0, 2), "an unknown default branch"),
    "no last branch": (
        setter("node.otherwise", 0, -1),
        "has surrogates but no default",
    ),
    "leaf": (setter("node.otherwise", 1, 0), "node 1 is a leaf but"),
    "reversed": (
        setter("surrogate.reversed", 0, 2),
        "0 has an invalid flag (reversed)",
    ),
    "reversed groups": (setter("surrogate.reversed", 1, 1), "1 has an invalid flag"),
    "agreement": (
        setter("surrogate.agreement", 0, 1.5),
        "is not between 0 and 1 at surrogate 0",
    ),
    "adjusted": (
        setter("surrogate.adjusted", 1, np.nan),
        "is not between 0 and 1 at surrogate 1",
    ),
    "order": (setter("surrogate.agreement", 0, 0.6), "1 is better than the one"),
    "threshold": (setter("surrogate_split.thresholds", 0, np.nan), "no finite"),
    "known": (setter("surrogate_split.thresholds", 0, np.inf), "no branch for missing"),
    "kind": (setter("surrogate.attribute", slice(0, 2), [2, 1]), "does not suit it"),
    "code": (setter("surrogate_split.codes", 0, 2), "does not know"),
    "code twice": (setter("surrogate_split.codes", 0, 1), "has one code twice"),
}


@pytest.mark.parametrize("change, message", DAMAGE.values(), ids=DAMAGE)
def test_damaged_surrogates_are_refused(good, tmp_path, change, message):
    assert message in refusal(with_arrays(good, change), tmp_path)


def test_surrogates_of_a_split_of_three_branches_are_refused(tmp_path):
    model = mixed_model("fractional")
    assert model.tree.root.split.n_branches == 3
    nodes = (replace(model.tree.root, default_branch=0), *model.tree.nodes[1:])
    damaged = replace(model, tree=Tree(model.schema, nodes))
    with pytest.raises(ParameterError, match="but not two branches"):
        save_model(damaged, tmp_path / "m")


def test_a_file_from_before_surrogates_is_read(tmp_path):
    data = bytes_of(mixed_model("branch"), tmp_path)

    def older(arrays: Arrays) -> None:
        for name in [n for n in arrays if "surrogate" in n or n == "node.otherwise"]:
            arrays.pop(name)

    path = tmp_path / "older.spinney"
    path.write_bytes(with_arrays(data, older))
    assert_same_model(load_model(path), mixed_model("branch"))


def test_json_of_surrogates(grown):
    data = json.loads(to_json(grown.model_))
    assert data["nodes"][0]["surrogates"][1] == {
        "split": {
            "attribute": "side",
            "asks": "groups",
            "groups": [["l"], ["r"]],
            "shares": [],
            "missing": None,
        },
        "reversed": False,
        "agreement": 0.875,
        "adjusted": 0.75,
    }
