"""One row is predicted as the table of that row is."""

import datetime
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney import DataError, ParameterError, Recipe, SpinneyError
from spinney.models import load_model

RECIPES: dict[str, dict[str, Any]] = {
    "id3": {"recipe": "id3"},
    "c4.5": {"recipe": "c4.5"},
    "cart": {"recipe": "cart"},
    "chaid": {"recipe": "chaid"},
    "surrogates": {"recipe": "cart", "missing_policy": "surrogate"},
    "divided": {
        "recipe": "cart",
        "missing_policy": "fractional",
        "probability": "laplace",
    },
    "costs": {"recipe": "cart", "cost_matrix": [[0, 5], [1, 0]]},
    "oblique": {"recipe": Recipe.named("c4.5").changed(linear_terms=2)},
}
NUMBER_RECIPES: dict[str, dict[str, Any]] = {
    "cart": {"recipe": "cart"},
    "m5": {"recipe": "m5"},
    "m5, unsmoothed": {"recipe": Recipe.named("m5").changed(smoothing=0)},
    "divided": {"recipe": "cart", "missing_policy": "fractional"},
    "oblique": {"recipe": Recipe.named("m5").changed(linear_terms=2)},
}
FORESTS: dict[str, dict[str, Any]] = {
    "shares": {},
    "majority": {"voting": "majority"},
    "shrunk": {"shrinkage": 10.0},
    "divided": {"missing_policy": "fractional"},
    "one": {"n_estimators": 1},
}
DECLARED: dict[str, Any] = {
    "ordinal": {"size": ["small", "medium", "large"]},
    "missing_values": ["?", "-9"],
}

colours = st.sampled_from(["red", "green", "blue", None, "?"])
sizes = st.sampled_from(["small", "medium", "large", None])
numbers = st.one_of(st.none(), st.integers(0, 8).map(lambda n: n / 2), st.just(-9.0))
codes = st.sampled_from([1, 2, 3, None])
ODD = [None, np.nan, "?", "", "purple", "7", "x", 7, 2, 2.0, 0.5, -9, -9.0, True]
ODD += [np.float64(1.5), np.float32(0.5), np.int64(2), np.str_("red"), np.bool_(0)]
ODD += [np.inf, -np.inf, 2**60, 10**400, [1], object(), datetime.date(2020, 1, 2)]
ODD += [-0.0, np.float64("nan"), "medium", "2", b"red", 1 + 2j]


@st.composite
def shops(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Draw a table of every kind of column, and two targets."""
    n_rows = draw(st.integers(8, 30))
    table = {
        name: draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
        for name, cells in {
            "colour": colours,
            "size": sizes,
            "width": numbers,
            "depth": numbers,
            "grade": codes,
        }.items()
    }
    labels = st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)
    table["sold"] = ["yes" if sold else "no" for sold in draw(labels)]
    table["sold"][:2] = ["yes", "no"]
    widths = zip(table["width"], table["sold"], strict=True)
    table["price"] = [(w or 0) * 1.7 + (sold == "yes") + 0.1 for w, sold in widths]
    return table


@st.composite
def shop_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw rows: mostly such as were seen, some with odd cells, some without one."""
    usual = {
        "colour": colours,
        "size": sizes,
        "width": numbers,
        "depth": numbers,
        "grade": codes,
    }
    row = st.fixed_dictionaries(usual)
    odd = st.sampled_from(ODD)
    oddly = st.builds(lambda r, k, v: {**r, k: v}, row, st.sampled_from([*usual]), odd)
    less = st.builds(
        lambda r, k: {n: v for n, v in r.items() if n != k},
        row,
        st.sampled_from([*usual]),
    )
    return draw(st.lists(st.one_of(row, oddly, less), min_size=1, max_size=6))


def answer(question: Any) -> Any:
    """Return what a question comes to: an answer, or the words of a refusal."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = question()
        except SpinneyError as error:
            result = type(error), str(error)
    return result, [str(warning.message) for warning in warned]


def assert_predicts(model: Any, rows: list[dict[str, Any]]) -> None:
    predictor = model.predictor()
    if not len(model._fitted()._needed):  # then no cell is looked at
        assert predictor({}) == model.predict({"width": [1]})[0]
        return
    for row in [*rows, *rows]:  # the second time by what is kept
        table = {name: [value] for name, value in row.items()}
        expected = answer(lambda table=table: model.predict(table)[0])
        assert answer(lambda row=row: predictor(row)) == expected
        if expected[0] is None or isinstance(expected[0], tuple):
            continue
        outputs = model.outputs(table)[0]
        assert predictor.outputs(row).tolist() == outputs.tolist()
        if not model.schema.target.is_numeric:
            shares = predictor.probabilities(row)
            assert shares == dict(zip(model.classes_, outputs, strict=True))
            assert type(predictor(row)) is str


def without(table: dict[str, Any], name: str) -> dict[str, Any]:
    return {column: cells for column, cells in table.items() if column != name}


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
@pytest.mark.parametrize("recipe", RECIPES)
@given(table=shops(), rows=shop_rows())
@settings(max_examples=examples(40), deadline=None)
def test_trees_of_classes(recipe, table, rows):
    table = without(table, "price")
    model = spinney.grow(
        table, "sold", nominal=["grade"], **RECIPES[recipe], **DECLARED
    )
    assert_predicts(model, rows)


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
@pytest.mark.parametrize("recipe", NUMBER_RECIPES)
@given(table=shops(), rows=shop_rows())
@settings(max_examples=examples(40), deadline=None)
def test_trees_of_numbers(recipe, table, rows):
    given = {**NUMBER_RECIPES[recipe], **DECLARED, "numeric": ["price"]}
    assert_predicts(spinney.grow(without(table, "sold"), "price", **given), rows)


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
@pytest.mark.parametrize("target", ["sold", "price"])
@pytest.mark.parametrize("forest", FORESTS)
@given(table=shops(), rows=shop_rows())
@settings(max_examples=examples(20), deadline=None)
def test_forests(forest, target, table, rows):
    given = {"n_estimators": 12, "random_state": 0, **FORESTS[forest], **DECLARED}
    if target == "price":
        given = {**without(given, "voting"), "numeric": ["price"]}
    table = without(table, "price" if target == "sold" else "sold")
    assert_predicts(spinney.grow_forest(table, target, **given), rows)


SHOP = {
    "colour": ["red", "green", "blue", "red"] * 6,
    "width": [0.5, 0.5, 2.5, 3.5] * 6,
    "sold": ["yes", "no", "no", "no"] * 6,
}


def test_a_row_by_name_in_order_and_as_an_array():
    pandas = pytest.importorskip("pandas")
    predictor = spinney.grow(SHOP, "sold", recipe="cart").predictor()
    frame = pandas.DataFrame(without(SHOP, "sold"))
    for row in (
        {"width": 0.5, "colour": "red"},
        {"colour": "red", "width": 0.5, "sold": "never", "other": object()},
        ["red", 0.5],
        ("red", np.float64(0.5)),
        np.array(["red", 0.5], dtype=object),
        frame.iloc[0],
    ):
        assert predictor(row) == "yes"
        assert predictor.probabilities(row) == {"no": 0.0, "yes": 1.0}


def test_a_row_of_a_numeric_array():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = (X[:, 0] > X[:, 2]).astype(int)
    for model in (
        spinney.TreeClassifier("cart").fit(X, y),
        spinney.ForestClassifier(7, random_state=0).fit(X, y),
        spinney.TreeRegressor("m5").fit(X, X @ [1.0, 2.0, 3.0]),
        spinney.ForestRegressor(7, random_state=0).fit(X, X @ [1.0, 2.0, 3.0]),
    ):
        predictor = model.predictor()
        predicted = [predictor(row) for row in X]
        assert predicted == model.predict(X).tolist()
        assert predicted == [predictor(row.tolist()) for row in X]
        assert type(predicted[0]) is type(model.predict(X)[0].item())


def test_a_row_of_another_length_and_what_is_no_row():
    predictor = spinney.grow(SHOP, "sold", recipe="cart").predictor()
    with pytest.raises(DataError, match=r"the row has 1 values, .* 2 columns"):
        predictor(["red"])
    with pytest.raises(DataError, match="of type str is not a row"):
        predictor("red")
    with pytest.raises(DataError, match="of type float is not a row"):
        predictor(0.5)
    with pytest.raises(DataError, match="needs the column 'colour'"):
        predictor({"width": 0.5, "color": "red"})
    with pytest.raises(DataError, match=r"'width' was numeric .* holds 'wide'"):
        predictor({"colour": "red", "width": "wide"})


def test_numbers_have_no_shares():
    predictor = spinney.grow(
        {"x": [1, 2, 3, 4], "y": [0.5, 0.7, 2.5, 2.7]}, "y", recipe="cart"
    ).predictor()
    assert predictor([1]) == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="no class probabilities"):
        predictor.probabilities([1])


def test_dates_are_read_in_any_form():
    days = [datetime.date(2024, 1, day) for day in range(1, 21)]
    table = {"day": days, "y": ["a"] * 9 + ["b"] * 11}
    model = spinney.grow(table, "y", recipe="cart")
    rows = [{"day": day} for day in (days[3], days[15], "2024-01-04", None, "soon", 4)]
    rows += [{"day": np.datetime64("2024-01-15")}, {"day": np.datetime64("NaT")}]
    rows += [{"day": datetime.datetime(2024, 1, 15, 3)}]
    assert_predicts(model, rows)


def test_a_single_leaf_asks_nothing():
    model = spinney.grow({"x": [1, 1, 1], "y": ["a", "b", "a"]}, "y", recipe="cart")
    assert model.predictor()({"z": object()}) == "a"


def test_a_loaded_model_and_a_copy_of_a_predictor(tmp_path):
    for model in (
        spinney.grow(SHOP, "sold", recipe="c4.5"),
        spinney.grow_forest(SHOP, "sold", n_estimators=5),
    ):
        model.save(tmp_path / "model")
        rows = [{"colour": c, "width": w} for c in ("red", "x") for w in (1, 3.0, None)]
        expected = [model.predictor()(row) for row in rows]
        for same in (spinney.load(tmp_path / "model"), load_model(tmp_path / "model")):
            assert [same.predictor()(row) for row in rows] == expected
        copy = pickle.loads(pickle.dumps(model.predictor()))  # noqa: S301
        assert [copy(row) for row in rows] == expected


def test_an_estimator_that_is_not_fitted_has_no_predictor():
    from sklearn.exceptions import NotFittedError

    for estimator in (spinney.TreeClassifier(), spinney.ForestRegressor()):
        with pytest.raises(NotFittedError):
            estimator.predictor()


def test_it_says_what_it_is():
    predictor = spinney.grow_forest(SHOP, "sold", n_estimators=5).predictor()
    assert repr(predictor) == "<RowPredictor of 'sold': 5 trees>"
