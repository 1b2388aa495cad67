"""Evaluations as text: aligned, and never wider than asked."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.errors import ParameterError
from spinney.extensions.evaluation.results import Evaluation, FoldResult
from spinney.extensions.evaluation.splits import Scheme


def evaluation(recipes=("c4.5", "cart"), n_folds=3, **measures):
    """Return an evaluation with made figures: recipe number r gains r/10 on fold 2."""
    measures = measures or {"accuracy": 0.5, "auc": None, "leaves": 12.0}
    results = []
    for number, recipe in enumerate(recipes):
        for fold in range(n_folds):
            figures = dict(measures)
            figures["accuracy"] = 0.5 + (fold == 1) * number / 10
            results.append(FoldResult(recipe, 1, fold + 1, 20, 10, figures))
    return Evaluation(
        "y", ("a", "b"), 30, Scheme(folds=max(2, n_folds)), tuple(results)
    )


ALL = dict.fromkeys(
    ("balanced_accuracy", "macro_f", "auc", "log_loss", "brier", "cost"), 0.25
) | {"leaves": 1234.5, "nodes": 2345.0, "depth": 12.0, "seconds": 0.125}


def test_the_whole_text():
    assert str(evaluation(accuracy=0.5, auc=0.25, leaves=12.0)) == (
        "y: 30 rows, 3-fold cross-validation, seed 0\n"
        "\n"
        "recipe       accuracy    AUC  leaves\n"
        "c4.5    0.500 ± 0.000  0.250    12.0\n"
        "cart    0.533 ± 0.058  0.250    12.0\n"
        "\n"
        "Differences of accuracy on the same folds, corrected resampled t-test with 2\n"
        "degrees of freedom:\n"
        "c4.5 − cart  −0.0333  t = −0.63  p = 0.592"
    )


def test_plain_signs():
    text = evaluation().text(ascii_only=True)
    assert text.isascii()
    assert "0.533 +/- 0.058" in text
    assert "c4.5 - cart  -0.0333  t = -0.63" in text


LABELS = st.text("ab:=,.", min_size=1, max_size=40)


@given(
    st.integers(40, 120),
    st.lists(LABELS, min_size=1, max_size=4, unique=True),
    st.booleans(),
)
def test_no_line_is_too_wide(width, recipes, ascii_only):
    found = evaluation(recipes, **ALL)
    for measures in ((), ["all"]):
        text = found.text(width=width, ascii_only=ascii_only, measures=measures)
        assert max(map(len, text.splitlines())) <= width
        assert text.isascii() or not ascii_only


@pytest.mark.parametrize("width", [80, 60, 40])
def test_what_does_not_fit_is_named(width):
    text = evaluation(**ALL).text(width=width, measures=["all"])
    titles = ("accuracy", "AUC", "leaves", "Brier", "nodes", "seconds", "macro F")
    for title in titles:
        assert title in text
    assert "too narrow for" in text
    [head] = [line for line in text.splitlines() if line.startswith("recipe")]
    assert "accuracy" in head
    assert "seconds" not in head


def test_what_a_person_wants_first():
    text = str(evaluation(**ALL))
    [head] = [line for line in text.splitlines() if line.startswith("recipe")]
    titles = ["recipe", "accuracy", "balanced", "AUC", "cost", "leaves", "seconds"]
    assert head.split() == titles
    assert "more measures: quality, interpretability, speed, all" in " ".join(
        text.split()
    )


@pytest.mark.parametrize(
    "names, titles",
    [
        (["speed"], ["seconds", "µs", "a", "row"]),
        (["leaves", "interpretability"], ["leaves", "nodes", "depth"]),
        (["auc", "quality"], ["AUC", "accuracy", "balanced"]),
    ],
)
def test_groups_of_measures(names, titles):
    found = evaluation(**ALL, row_microseconds=0.5)
    text = found.text(width=None, measures=names)
    head = text.splitlines()[2].split()
    assert head[1 : 1 + len(titles)] == titles
    assert "more measures" not in text


def test_measures_that_are_asked_for_come_first_with_their_deviation():
    text = evaluation().text(measures=["leaves"])
    assert text.splitlines()[2:4] == ["recipe      leaves", "c4.5    12.0 ± 0.0"]
    assert "Differences of leaves" in text
    with pytest.raises(ParameterError, match="did you mean 'accuracy'"):
        evaluation().text(measures=["acuracy"])
    with pytest.raises(ParameterError, match="measure='rmse' is unknown"):
        evaluation().text(measures=["rmse"])


def test_a_measure_that_is_undefined_is_not_compared():
    assert "Differences" not in evaluation().text(measures=["auc"])


def test_recipes_that_never_differ_are_not_tested():
    text = evaluation(["c4.5", "cart", "id3"]).text(measures=["leaves"])
    assert text.endswith(
        "\n\nDifferences of leaves on the same folds: none, so no test is made."
    )
    assert "p =" not in text


def test_a_pair_that_never_differs_is_not_tested_beside_others():
    differing = evaluation()
    again = [replace(f, recipe="id3") for f in differing.folds if f.recipe == "c4.5"]
    three = replace(differing, folds=(*differing.folds, *again))
    assert "c4.5 − cart  −0.0333  t = −0.63  p = 0.592\n" in str(three)
    assert "c4.5 − id3    0.0000  all equal   untested\n" in str(three)
    narrow = three.text(width=40)
    assert "c4.5 − id3    0.0000   untested\n" in narrow
    assert max(map(len, narrow.splitlines())) <= 40


def test_one_fold_has_no_deviation_and_no_test():
    text = str(evaluation(n_folds=1))
    assert "±" not in text
    assert "Differences" not in text


def test_one_recipe_has_no_test():
    assert "Differences" not in str(evaluation(["id3"]))


@pytest.mark.parametrize(
    "value, shown",
    [(0.00123456, "0.00123"), (0.25, "0.250"), (12.5, "12.500"), (123456.7, "123457")],
)
def test_digits_follow_the_size_of_numbers(value, shown):
    text = evaluation(["id3"], accuracy=0.5, cost=value).text(measures=["cost"])
    assert text.splitlines()[3].split()[1] == shown


def test_repr_is_one_line():
    said = "<Evaluation of c4.5, cart on 30 rows: 3-fold cross-validation>"
    assert repr(evaluation()) == said
