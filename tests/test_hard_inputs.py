"""Inputs that once gave a wrong answer or a bare error, through the public names."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spinney
from spinney import DataError, ParameterError, TreeClassifier

NUMBERS = [[number] for number in range(8)]


def test_days_and_instants_meet_when_predicting():
    days = [date(2020, 1, day) for day in range(1, 7)]
    model = spinney.grow({"x": days, "y": list("aaabbb")}, "y", recipe="id3")
    assert model.predict(
        {"x": [datetime(2020, 1, 1), datetime(2020, 1, 6, 9)]}
    ).tolist() == [
        "a",
        "b",
    ]
    with pytest.raises(DataError, match="'x' counted days since"):
        model.predict({"x": [3.0]})


@pytest.mark.filterwarnings("ignore:splits on high-cardinality")
def test_a_hundred_thousand_categories_in_two_groups():
    categories = [f"c{place // 2}" for place in range(200_000)]
    labels = ["b" if place // 2 % 3 == 0 else "a" for place in range(200_000)]
    tree = spinney.grow({"c": categories, "y": labels}, "y", recipe="cart").tree
    assert tree.n_leaves == 2
    assert tree.root.candidate.exact


def test_a_fit_that_fails_leaves_the_old_model():
    model = TreeClassifier("id3").fit(NUMBERS, [0, 1] * 4)
    model.set_params(max_depth=-1)
    with pytest.raises(ParameterError, match="max_depth"):
        model.fit(NUMBERS, ["p", "q"] * 4)
    assert model.predict(NUMBERS).tolist() == [0, 1] * 4
    model.set_params(max_depth=None).fit(NUMBERS, ["p", "q"] * 4)
    assert model.predict(NUMBERS).tolist() == ["p", "q"] * 4


def test_a_fit_without_names_forgets_the_old_ones():
    model = TreeClassifier("id3")
    model.fit(pd.DataFrame({"x": range(8)}), [0, 1] * 4)
    model.fit(np.array(NUMBERS), [0, 1] * 4)
    assert not hasattr(model, "feature_names_in_")


def test_categories_that_are_numbers_stay_categories():
    frame = pd.DataFrame({"c": pd.Categorical([10, 20, 30])})
    column = spinney.read_table(frame)["c"]
    assert (column.kind, column.levels) == ("nominal", (10, 20, 30))


@pytest.mark.parametrize("recipe", ["id3", "cart"])
def test_weights_that_no_float_counts_exactly(recipe, tmp_path):
    rows = {"a": [1, 2, 3, 4, 5, 6], "c": list("uvuvuv"), "y": list("aabbab")}
    rows["w"] = [1e17, 1, 1, 1, 1, 1]
    model = spinney.grow(rows, "y", weight="w", recipe=recipe)
    model.save(tmp_path / "model.spinney")
    assert spinney.load(tmp_path / "model.spinney").predict(rows).tolist() == rows["y"]


@pytest.mark.parametrize(
    "options, error",
    [
        ({"weight": "w"}, DataError),
        ({"class_weight": {"a": 1e308}}, ParameterError),
        ({"class_weight": {"a": 10**400}}, ParameterError),
        ({"missing_values": [1]}, ParameterError),
        ({"missing_values": 5}, ParameterError),
        ({"min_gain": np.complex128(1)}, ParameterError),
    ],
)
def test_values_that_cannot_be_used(options, error):
    rows = {"x": [1, 2, 3], "y": list("aab"), "w": [1e308] * 3}
    with pytest.raises(error, match=r"weight|missing_values|min_gain"):
        spinney.grow(rows, "y", **options)


def test_labels_beyond_two_to_the_53():
    labels = [2**60, 2**60, 2**60 + 1, 2**60 + 1]
    rows = {"x": [1, 2, 3, 4], "y": labels}
    model = spinney.grow(rows, "y", nominal=["y"], recipe="id3")
    assert model.predict(rows).tolist() == labels
    assert model.score(rows) == 1


def test_dates_are_no_classes_unless_declared():
    rows = {"x": [1, 2, 3], "y": [date(2020, 1, 1), date(2020, 1, 1), date(2021, 1, 1)]}
    with pytest.raises(DataError, match=r"'y' holds dates or times .*2020-01-01"):
        spinney.grow(rows, "y")
    model = spinney.grow(rows, "y", nominal=["y"], recipe="id3")
    assert model.tree.schema.target.classes == ("2020-01-01", "2021-01-01")
    with pytest.raises(DataError, match="y holds dates"):
        TreeClassifier().fit(NUMBERS[:3], pd.to_datetime(["2020", "2021", None]))


@pytest.mark.parametrize("nothing", [pd.NA, pd.NaT, None, float("nan")])
def test_a_row_without_a_class(nothing):
    labels = np.array(["a", nothing, "b"], dtype=object)
    with pytest.raises(DataError, match="every row needs a class"):
        TreeClassifier().fit(pd.DataFrame({"x": [1, 2, 3]}), labels)


def test_categories_that_are_huge_numbers_in_duckdb():
    relation = duckdb.sql(
        "FROM (VALUES (1e40, 'a'), (1e40, 'a'), (2e40, 'b'), (2.5, 'b')) t(x, y)"
    )
    tree = spinney.grow(relation, "y", nominal=["x"], recipe="id3").tree
    assert tree.n_leaves == 3


def test_pruning_leaves_out_rows_without_a_class():
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": list("abab")}
    model = spinney.grow(rows, "y", recipe="id3")
    odd = {"x": [*rows["x"], 9.0], "y": [*rows["y"], None]}
    with pytest.warns(spinney.SpinneyWarning, match="is missing in 1 of 5 rows"):
        pruned = model.prune(validation=odd)
    assert pruned.pruning_[-1].before == 1


@pytest.mark.parametrize("weights", [[1, 2], [0, 0, 0, 0], [-1, 1, 1, 1]])
def test_score_refuses_odd_weights(weights):
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": list("abab")}
    model = spinney.grow(rows, "y", recipe="id3")
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        model.score(rows, sample_weight=weights)


def test_dates_without_weight_are_no_classes_either():
    rows = {"x": [1, 2], "y": [date(2020, 1, 1), date(2021, 1, 1)], "w": [0, 0]}
    with pytest.raises(DataError, match="no row has both a weight"):
        spinney.grow(rows, "y", weight="w")


def test_levels_that_all_occur_once_are_no_identifier():
    levels = [f"level {place}" for place in range(12)]
    rows = {"size": levels, "y": list("ab" * 6)}
    relation = duckdb.from_df(pd.DataFrame(rows))
    model = spinney.grow(relation, "y", ordinal={"size": levels}, recipe="cart")
    assert model.tree.n_leaves == 12


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    "weight, numbers, match",
    [
        (1e139, list("aabbab"), None),
        (1e140, list("aabbab"), "add up to 6e\\+140.*scale them down"),
        (1e308, list("aabbab"), "add up to infinity.*scale them down"),
        (1e139, [1.5, 2, 3, 4, 5, 6], None),
        (1e139, [1e20, 2.5, 3, 4, 5, 6], "'y' holds 1e\\+20.*scale the weights"),
        (1.0, [1e140, 2.5, 3, 4, 5, 6], None),
        (1.0, [1e-139, 0, 0, 4e-139, 0, 0], None),
        (1.0, [1e-200, 0, 0, 4e-200, 0, 0], "nothing larger than 4e-200.*scale it to"),
    ],
)
def test_weights_whose_squares_no_float_adds_up(engine, weight, numbers, match):
    rows = pa.table({"a": [1, 2, 3, 4, 5, 6], "y": numbers, "w": [weight] * 6})
    data = duckdb.from_arrow(rows) if engine == "duckdb" else rows
    settings = {"weight": "w", "recipe": "cart", "pruning": "none", "engine": engine}
    if match is not None:
        with pytest.raises(DataError, match=match):
            spinney.grow(data, "y", **settings)
        return
    model = spinney.grow(data, "y", **settings)
    assert len(model.tree) > 1
    for node in model.tree:
        assert node.is_leaf or 0 < node.candidate.gain < np.inf


@pytest.mark.parametrize(
    "said, weights",
    [
        ({"class_weight": {"a": 1e140}}, [1, 1, 1]),
        ({"priors": {"a": 0.5, "b": 0.5}}, [1e139, 1, 1e-200]),
        ({"class_weight": "balanced"}, [1e139, 1, 1e-200]),
    ],
)
def test_class_weights_beyond_floats(said, weights):
    rows = {"x": [1, 2, 3], "y": list("aab"), "w": weights}
    with pytest.raises(ParameterError, match=f"{next(iter(said))} makes .*scale them"):
        spinney.grow(rows, "y", weight="w", recipe="id3", **said)


@pytest.mark.filterwarnings("error")
def test_a_class_weight_whose_inverse_is_no_float():
    rows = {"x": [1, 2, 3, 4], "y": list("aabb")}
    with pytest.raises(ParameterError, match="'a' has 1e-320; it must be"):
        spinney.grow(rows, "y", recipe="cart", class_weight={"a": 1e-320})
    least = spinney.grow(rows, "y", recipe="cart", class_weight={"a": 1e-300})
    assert least.predict(rows).tolist() == rows["y"]


@pytest.mark.parametrize("name", ["buckets", "grouping", "pruning"])
@pytest.mark.parametrize("value", [np.array([1, 2]), ["x"], 3])
def test_what_is_no_name_is_refused_as_one(name, value):
    model = spinney.TreeClassifier(**{name: value})
    with pytest.raises(ParameterError, match=f"{name}=.* is unknown"):
        model.fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize("name", ["leaves", "rule"])
@pytest.mark.parametrize("value", [np.array([1, 2]), ["x"], 3])
def test_what_is_no_name_is_refused_by_a_recipe(name, value):
    with pytest.raises(ParameterError, match=f"{name}=.* is unknown"):
        spinney.Recipe.named("cart").changed(**{name: value})


def test_a_column_of_no_dimension():
    with pytest.raises(
        DataError, match="column 'x' is of type ndarray: give it as a l"
    ):
        spinney.grow({"x": np.array(3), "y": ["a", "b"]}, "y")


class Raising:
    """A cell that answers every question with an error."""

    def _raise(self, *_):
        message = "ask me nothing"
        raise RuntimeError(message)

    __float__ = __eq__ = __str__ = __repr__ = __bool__ = __index__ = _raise
    __hash__ = object.__hash__


@pytest.mark.parametrize("where", ["attribute", "target", "later"])
@pytest.mark.parametrize("framed", [dict, pd.DataFrame])
@pytest.mark.parametrize(
    "cell, words",
    [
        (timedelta(1), "holds a Timedelta|holds a timedelta"),
        (np.timedelta64(1, "D"), "holds a Timedelta|holds a timedelta"),
        (10**400, "holds inf"),
        (10**5000, "holds inf"),
        (Raising(), "holds a Raising in row 1"),
        (Decimal("Infinity"), "holds inf"),
    ],
    ids=["timedelta", "timedelta64", "400 digits", "5000 digits", "raising", "inf"],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_cells_that_are_no_values(cell, words, framed, where):
    numbers, odd = [1.0, 2.0, 3.0, 4.0], [cell, 2.0, 3.0, 4.0]
    labels = ["a", "a", "b", "b"]
    if where == "attribute":
        with pytest.raises(DataError, match=words):
            spinney.grow(framed({"x": odd, "y": labels}), "y")
    elif where == "target":
        with pytest.raises(DataError, match=words):
            spinney.grow(framed({"x": numbers, "y": odd}), "y", recipe="cart")
    else:
        model = spinney.grow({"x": numbers, "y": labels}, "y", recipe="id3")
        with pytest.raises(DataError, match=words):
            model.predict(framed({"x": odd}))


@pytest.mark.parametrize("nothing", [pd.NA, Decimal("sNaN"), Decimal("NaN"), pd.NaT])
def test_a_number_to_learn_that_is_not_there(nothing):
    target = pd.Series([nothing, 1.0, 2.0, 3.0], dtype=object)
    with pytest.raises(DataError, match=r"missing|NaN|unknown"):
        spinney.TreeRegressor("cart").fit(pd.DataFrame({"x": [1, 2, 3, 4]}), target)
    rows = {"x": [1, 2, 3, 4, 5], "y": [nothing, 1.5, 2.5, 3.5, 4.5]}
    with pytest.warns(spinney.SpinneyWarning, match="1 of 5 rows"):
        assert spinney.grow(rows, "y", recipe="cart").tree.root.n_rows == 4


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("estimator", ["TreeClassifier", "ForestClassifier", "KMeans"])
def test_a_lazy_frame_is_resolved_once(estimator):
    resolved = []

    def look(frame):
        resolved.append(1)
        return frame

    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}).lazy().map_batches(look)
    options = {"n_clusters": 2} if estimator == "KMeans" else {}
    model = getattr(spinney, estimator)(**options).fit(frame, [0, 0, 1, 1])
    model.predict(frame)
    assert len(resolved) == 2


@pytest.mark.parametrize("source", ["memory", "duckdb", "sample_weight"])
@pytest.mark.parametrize("weight", [5e-324, 1e-310, 9e-301])
def test_weights_whose_parts_are_no_floats(source, weight):
    rows = {"x": [1.0, 1.0, None, 2.0], "y": ["a", "a", "b", "b"]}
    rows["w"] = [1.0, weight, 0.0, 1.0]
    frame = pd.DataFrame(rows)
    table = duckdb.from_df(frame) if source == "duckdb" else rows
    learner = TreeClassifier("id3")
    with pytest.raises(DataError, match=r"a row weighs .* at least 1e-300"):
        learner.fit(
            frame[["x"]], frame.y, sample_weight=frame.w
        ) if source == "sample_weight" else spinney.grow(table, "y", weight="w")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e-160, 1e-139])
def test_targets_whose_squares_are_no_floats(size):
    rows = {"x": [float(i) for i in range(12)], "y": [i * size for i in range(12)]}
    if size < 1e-140:
        with pytest.raises(DataError, match=r"'y' holds nothing larger than 1\.1e-159"):
            spinney.grow(rows, "y", recipe="m5")
    else:
        assert spinney.grow(rows, "y", recipe="m5").predict({"x": [4.0]}) == [
            pytest.approx(4 * size)
        ]


def _relation():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i AS x, i > 3 AS y FROM range(8) r(i)")
    return connection, connection.table("t")


@pytest.mark.parametrize("fault", ["closed", "dropped"])
@pytest.mark.parametrize(
    "use",
    [
        lambda rows: spinney.grow(rows, "y"),
        lambda rows: spinney.grow_forest(rows, "y"),
        lambda rows: spinney.evaluate(rows, "y"),
        lambda rows: spinney.look(rows),
        lambda rows: spinney.KMeans(2).fit(rows),
        lambda rows: spinney.grow({"x": [1, 2], "y": [0, 1]}, "y").predict(rows),
    ],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_a_database_that_is_gone(fault, use):
    connection, rows = _relation()
    if fault == "closed":
        connection.close()
    else:
        connection.execute("DROP TABLE t")
    words = "already been closed" if fault == "closed" else "t does not exist"
    with pytest.raises(DataError, match=f"cannot be read by DuckDB .*{words}"):
        use(rows)
