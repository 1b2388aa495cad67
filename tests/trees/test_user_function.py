"""A user's own function as a criterion: growing, explaining, saving, refusing."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import spinney
from spinney import TreeClassifier
from spinney.errors import ParameterError
from spinney.output.file.model_files import load_model
from spinney.recipes import RECIPES, Recipe
from spinney.trees.counts import CountTable
from spinney.trees.criteria import criterion_named, gini_gain, stored_name

MELONS = Path(__file__).parents[2] / "examples" / "melons.csv"


def my_gini(table):
    """Return the decrease of Gini's index, as anyone would write it."""
    total, n = table.weights.sum(axis=0), table.weights.sum()
    before = 1 - sum((total / n) ** 2)
    after = 0.0
    for branch in table.weights:
        after += branch.sum() / n * (1 - sum((branch / branch.sum()) ** 2))
    return table.known_share * (before - after)


class Scaled:
    """A criterion with a state, as an object that is called."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, table):
        return self.factor * float(gini_gain(table))


def grown(criterion, recipe="cart", **settings):
    return spinney.grow(
        MELONS, "ripe", ignore=["id"], recipe=recipe, criterion=criterion, **settings
    )


@pytest.mark.parametrize("recipe", ["id3", "cart"])
def test_a_function_grows_the_tree_that_it_means(recipe):
    own, named = grown(my_gini, recipe), grown("gini", recipe)
    assert str(own) == str(named)
    merit = own.tree.root.candidate.merit
    assert f"the greatest my_gini, {merit:.3f}" in own.explain(node=0).why
    assert f"\n  my_gini = {merit:.3f}\n" in str(own.explain(node=0))
    found = [candidate.merit for candidate in own.tree.root.candidates]
    expected = [candidate.merit for candidate in named.tree.root.candidates]
    assert found == pytest.approx(expected)


def test_it_sees_one_plain_table_at_a_time():
    seen = []

    def spy(table):
        seen.append(table)
        return 0.0

    grown(spy, "id3", max_depth=2)
    assert all(table.weights.ndim == 2 for table in seen)
    assert all(table.rows.any(axis=1).all() for table in seen)  # no empty branch
    assert all(len(table.values) == len(table.weights) >= 2 for table in seen)
    with pytest.raises(ValueError, match="read-only"):
        seen[0].weights[0] = 0


def test_nothing_is_taken_for_granted_about_the_best_subset():
    # By the share of the class the order is a, b, c, but a and c balance b.
    table = {"letter": list("aabbbbbbcc"), "class": [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]}

    def even(counts):
        return -abs(counts.sizes[0] - counts.sizes[1])

    recipe = RECIPES["cart"].changed(criterion=even, max_depth=1)
    model = spinney.grow(table, "class", recipe=recipe, forced_splits={(): "letter"})
    candidate = model.tree.root.candidate
    assert candidate.exact
    assert candidate.split.groups == ((0, 2), (1,))
    assert candidate.gain == -2
    assert model.tree.importances.tolist() == [0]  # and not −1


def test_as_an_estimator():
    model = TreeClassifier("cart", criterion=my_gini)
    assert clone(model).get_params()["criterion"] is my_gini
    rows = np.random.default_rng(0).normal(size=(60, 3))
    labels = (rows[:, 0] > 0).astype(int)
    assert cross_val_score(model, rows, labels, cv=3).min() > 0.8
    assert Recipe("own", my_gini, "binary", "branch").criterion is my_gini


def test_other_callables_have_the_name_of_their_kind():
    assert stored_name(my_gini) == "function:my_gini"
    assert stored_name(Scaled(2.0)) == "function:Scaled"
    assert stored_name(partial(my_gini)) == "function:partial"
    assert grown(Scaled(2.0)).explain(node=0).criterion == "function:Scaled"


@pytest.mark.parametrize(
    "answer", [np.nan, np.inf, None, "high", [0.1, 0.2], np.array([0.1]), 1j]
)
def test_an_answer_that_is_no_merit_is_refused(answer):
    def odd(table):
        return answer

    with pytest.raises(
        ParameterError,
        match=r"criterion='function:odd' returned .* \[\[.*finite number",
    ):
        grown(odd)


def test_an_error_inside_goes_through_with_a_note():
    def broken(table):
        return 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        grown(broken)
    (note,) = caught.value.__notes__
    assert note.startswith("raised by criterion='function:broken' for the table [[")


def test_a_saved_model_explains_and_does_not_grow(tmp_path):
    model = grown(my_gini)
    model.save(tmp_path / "melons.spinney")
    loaded = spinney.load(tmp_path / "melons.spinney")
    assert loaded.recipe.criterion == "function:my_gini"
    assert str(loaded) == str(model)
    for node in model.tree:
        told = loaded.explain(node=node.number)
        assert str(told) == str(model.explain(node=node.number))
    table = spinney.read_table(MELONS)
    assert (loaded.predict(table) == model.predict(table)).all()
    rows, labels = [[1.0], [2.0], [3.0]], ["a", "b", "b"]
    with pytest.raises(ParameterError, match=r"pass the function itself, .*=my_gini"):
        loaded.fit(rows, labels)
    again = TreeClassifier(loaded.recipe, criterion=my_gini).fit(rows, labels)
    assert again.tree.n_leaves == 2
    assert load_model(tmp_path / "melons.spinney").recipe == loaded.recipe


@pytest.mark.parametrize("name", ["function:", "function:a b", "function:\x1b[2J"])
def test_a_name_that_no_function_has_is_unknown(name):
    with pytest.raises(ParameterError, match="is unknown"):
        criterion_named(name)


def test_a_numeric_target_is_counted_from_zero():
    criterion = criterion_named(my_gini)
    assert criterion.from_zero
    assert criterion.suits(numeric=True)
    assert criterion.suits(numeric=False)


def test_each_table_of_a_stack_is_asked_with_its_own_missing_rows():
    """A stack has the rows that lack a value for all of its tables, or for each."""
    one, other = ([[3, 1], [0, 2]], [2, 0]), ([[1, 1], [2, 2]], [0, 5])
    tables = [CountTable.of(*each) for each in (one, other)]
    stack = replace(
        tables[0],
        **{
            name: np.stack([getattr(table, name) for table in tables])
            for name in ("weights", "rows", "missing", "missing_rows")
        },
    )
    asked = []

    def measure(table):
        asked.append(table.missing.tolist())
        return float(table.missing.sum())

    assert criterion_named(measure).merit(stack).tolist() == [2, 5]
    assert asked == [[2, 0], [0, 5]]
