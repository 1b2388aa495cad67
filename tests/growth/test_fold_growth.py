"""What is grown where no recipe is named: auto, and c4.5 where rows stay away."""

import inspect

import duckdb
import numpy as np
import pytest
from sklearn.base import clone
from tests.helpers.strategies import TABLES
from tests.helpers.tree_texts import without_counts

import spinney
from spinney import ParameterError, TreeClassifier, TreeRegressor
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.folds.teacher import smoothed_labels
from spinney.recipes import DEFAULT_RECIPE, RECIPES, candidates_of, default_recipe
from spinney.sources.rows.training_rows import TrainingSet

IRIS = str(TABLES / "iris.csv")
# A row whose weight is nearly all there is: every tree of a forest has seen it.
HEAVY = [1e6] + [1e-3] * 19


def numbers(n_rows: int = 20) -> dict:
    return {
        "x": list(range(n_rows)),
        "c": ["p", "q"] * (n_rows // 2),
        "y": [0.5 * (row // 5) + 7.25 for row in range(n_rows)],
    }


def test_one_place_says_what_the_default_is():
    assert default_recipe() is RECIPES["auto"]
    assert default_recipe(in_memory=False) is RECIPES["c4.5"]
    assert default_recipe().needs_rows
    assert not default_recipe(in_memory=False).needs_rows
    for estimator in (TreeClassifier, TreeRegressor):
        parameter = inspect.signature(estimator).parameters["recipe"]
        assert parameter.default == DEFAULT_RECIPE == "auto"


def test_in_memory_it_is_auto():
    model = spinney.grow(IRIS, "class")
    assert model.model_.recipe == RECIPES["auto"]
    assert model.recipe == "auto"
    assert str(model) == str(spinney.grow(IRIS, "class", recipe="auto"))
    assert str(model) != str(spinney.grow(IRIS, "class", recipe="c4.5"))


def test_settings_change_the_default():
    model = spinney.grow(IRIS, "class", max_depth=1)
    assert model.model_.recipe == RECIPES["auto"].changed(max_depth=1)
    assert model.tree.height == 1


def test_an_estimator_grows_by_auto():
    rows = spinney.read_table(IRIS)
    labels = np.array(rows["class"].levels)[rows["class"].cells]
    model = TreeClassifier().fit(rows.without(("class",)), labels)
    assert model.model_.recipe == RECIPES["auto"]
    assert model.tree.n_leaves == spinney.grow(IRIS, "class").tree.n_leaves


def test_a_numeric_target():
    model = spinney.grow(numbers(), "y")
    assert isinstance(model, TreeRegressor)
    trees_of_numbers = candidates_of(RECIPES["auto"], numeric=True).values()
    assert model.model_.recipe in trees_of_numbers
    fitted = TreeRegressor(max_depth=1).fit(
        [[x] for x in numbers()["x"]], numbers()["y"]
    )
    assert fitted.model_.recipe.max_depth == 1
    assert fitted.tree.height <= 1
    with pytest.raises(ParameterError, match="m=3 needs a target of classes"):
        TreeRegressor(RECIPES["auto"].changed(m=3)).fit([[1], [2], [3]], [1, 2, 4.5])


@pytest.mark.parametrize("as_relation", [False, True])
def test_in_duckdb_it_is_c45(as_relation):
    given = {"data": IRIS, "engine": "duckdb"}
    if as_relation:
        given = {"data": duckdb.sql(f"SELECT * FROM '{IRIS}'")}
    model = spinney.grow(**given, target="class", max_depth=2)
    assert model.model_.recipe == RECIPES["c4.5"].changed(max_depth=2)
    assert model.recipe == "c4.5"
    assert clone(model).recipe == "c4.5"
    expected = spinney.grow(IRIS, "class", recipe="c4.5", max_depth=2)
    assert str(model) == str(expected)


def test_in_duckdb_a_numeric_target_is_c45_too():
    relation = duckdb.sql("SELECT x, x // 5 + 0.5 AS y FROM range(20) AS t(x)")
    model = spinney.grow(relation, "y")
    assert isinstance(model, TreeRegressor)
    assert (model.recipe, model.model_.recipe) == ("c4.5", RECIPES["c4.5"])


def test_a_relation_that_is_read_into_memory_is_at_hand():
    relation = duckdb.sql(f"SELECT * FROM '{IRIS}'")
    model = spinney.grow(relation, "class", engine="memory")
    assert model.recipe == "auto"


def test_auto_by_name_is_pruned_by_rows_that_duckdb_reserves():
    model = spinney.grow(
        IRIS, "class", recipe="auto", engine="duckdb", memory_limit="1GiB"
    )
    assert 100 < model.tree.root.n_rows < 140
    assert model.score(IRIS) > 0.9
    recipe = RECIPES["cart"].changed(pruning="cost-complexity")
    with pytest.raises(ParameterError, match=r"cost-complexity.*needs the rows"):
        spinney.grow(IRIS, "class", recipe=recipe, engine="duckdb")


def test_it_is_kept_in_the_file(tmp_path):
    path = tmp_path / "m.spinney"
    spinney.grow(IRIS, "class").save(path)
    assert spinney.load(path).model_.recipe == RECIPES["auto"]


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1, 2], "c": ["p", "q"], "y": ["a", "b"]},
        {"x": [1, 2, 3], "c": ["p", "q", "q"], "y": ["a", "b", "b"]},
        {"x": [1, 2, 3, 4], "c": list("pqpq"), "y": list("abcd")},
        {"x": [None] * 10, "c": ["p", "q"] * 5, "y": ["a", "b"] * 5},
        {"x": [None] * 4, "y": ["a", "b"] * 2},
        {"x": [1, 2], "y": [0.5, 1.5]},
        {"x": list(range(30)), "y": ["a"] * 14 + ["b"] * 15 + ["c"]},
    ],
    ids=["two", "three", "one a class", "no x", "nothing", "numbers", "one of c"],
)
def test_small_and_odd_tables_grow_without_a_warning(table):
    """Warnings are errors here, those of scikit-learn too."""
    model = spinney.grow(table, "y")
    assert str(model) == str(spinney.grow(table, "y"))
    assert len(model.predict(table)) == len(table["y"])


def test_classes_of_equal_weight_stay_equal_in_a_single_leaf():
    """The m-estimate leans on all rows."""
    table = {"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}
    model = spinney.grow(table, "y", max_depth=0)
    assert model.tree.root.distribution.tolist() == [0.5, 0.5]
    odd = spinney.grow({"x": list(range(9)), "y": list("aabbbaabb")}, "y", max_depth=0)
    np.testing.assert_allclose(odd.tree.root.distribution, [4 / 9, 5 / 9])


@pytest.mark.parametrize("numeric", [False, True])
def test_a_row_that_all_trees_have_seen_keeps_its_own_label(numeric):
    codes = np.arange(20) % 2
    target = Target("y", origin=0.0) if numeric else Target("y", ("a", "b"))
    truth = codes + 7.25 if numeric else codes
    schema = Schema((Attribute("x", "numeric"),), target)
    rows = TrainingSet(schema, (np.arange(20.0),), truth, np.array(HEAVY))
    labels = smoothed_labels(rows, 1.0, 0)
    own = truth[0] if numeric else np.eye(2)[0]
    np.testing.assert_allclose(labels[0], own)
    if numeric:
        assert labels.min() >= truth.min() - 1e-9


@pytest.mark.parametrize(
    "changes",
    [
        {"class_weight": {"a": 3.0}},
        {"class_weight": "balanced"},
        {"priors": {"a": 0.5, "b": 0.5}},
        {"cost_matrix": {"a": {"b": 5.0}, "b": {"a": 1.0}}},
        {"test_costs": {"x": 2.0}},
        {"tie_break_order": ["c"]},
        {"forced_splits": {(): "c"}},
        {"weight": "w"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_said_beside_the_recipe_works(changes):
    table = {
        "x": list(range(40)),
        "c": ["p", "q", "q", "p"] * 10,
        "w": [0.5, 2.0] * 20,
        "y": ["a"] * 17 + ["b"] * 23,
    }
    if "weight" not in changes:
        del table["w"]
    model = spinney.grow(table, "y", **changes)
    assert model.model_.recipe.name == "auto"
    assert set(model.predict(table)) <= {"a", "b"}
    if "tie_break_order" not in changes and "forced_splits" not in changes:
        assert model.score(table) > 0.9


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
@pytest.mark.parametrize("recipe", ["auto", "cart"])
@pytest.mark.parametrize("target", ["class", "petallength"])
def test_neither_the_order_of_rows_nor_copies_change_the_tree(recipe, target):
    """Folds and forests draw rows: by what is in them, not by where they stand."""
    iris = spinney.read_table(TABLES / "iris.csv")
    random = np.random.default_rng(5)
    weights = random.integers(1, 4, iris.n_rows)
    copies = random.permutation(np.repeat(np.arange(iris.n_rows), weights))
    settings = {"pruning": "cost-complexity"} if recipe == "cart" else {}

    def grown(rows, **changes):
        table = {c.name: np.array(plain(c))[rows] for c in iris.columns} | changes
        names = {"weight": "weight"} if changes else {}
        return spinney.grow(table, target, recipe=recipe, **settings, **names)

    def plain(column):
        return (
            column.cells
            if column.kind == "numeric"
            else np.array(column.levels)[column.cells]
        )

    one, other = grown(np.arange(150), weight=weights), grown(copies)
    assert without_counts(one) == other.text()
    shuffled = grown(random.permutation(150))
    assert str(shuffled) == str(grown(np.arange(150)))


def test_another_unit_gives_the_same_tree():
    random = np.random.default_rng(3)
    size = random.normal(size=80).round(2)
    noise = random.normal(scale=0.7, size=80)
    label = np.where(size + noise > 0, "large", "small").tolist()
    one = spinney.grow({"size": size, "y": label}, "y")
    other = spinney.grow({"size": size * 1024, "y": label}, "y")
    judged = [
        [(row.alpha, row.leaves, row.error) for row in model.sequence_.subtrees]
        for model in (one, other)
    ]
    assert len(judged[0]) > 2
    assert judged[0] == judged[1]


def test_a_large_weight_is_no_million_copies():
    rows = {"x": list(range(40)), "y": list("aabb" * 10)}
    light = spinney.grow({**rows, "w": [600.0] * 40}, "y", weight="w")
    many = {name: np.repeat(cells, 600).tolist() for name, cells in rows.items()}
    heavy = spinney.grow(many, "y")
    assert without_counts(light) == heavy.text()
    assert light.tree.n_leaves > 1
