"""Faults 23 to 31: shapes, names, kinds of tables and categories."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from tests.faults.fault_rows import AB, NAN, answers, grown, random_rows
from tests.helpers.hostile_names import NAMES

import spinney
from spinney import (
    DataError,
    ForestClassifier,
    KMeans,
    SpinneyError,
    SpinneyWarning,
    TreeClassifier,
    TreeRegressor,
)


@pytest.mark.parametrize(
    "rows, words",
    [
        ({"x": [], "y": []}, "no row"),
        ({"x": [1.0], "y": ["a"]}, r"there is 1 sample \(row\)"),
        ({}, "no columns"),
    ],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_23_tables_too_small_to_learn_from(rows, words):
    with pytest.raises(SpinneyError, match=words):
        grown(rows)


def test_fault_23_without_attributes_a_tree_is_one_leaf():
    model = grown({"y": ["a", "a", "b"]})
    assert (model.tree.n_leaves, answers(model, {"z": [1]})) == (1, ["a"])


@pytest.mark.parametrize("x", [[1, 1, 1, 1], ["c"] * 4])
@pytest.mark.parametrize("kind", [TreeClassifier, ForestClassifier])
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_23_rows_that_nothing_tells_apart(x, kind):
    model = kind().fit(pd.DataFrame({"x": x, "z": x}), AB)
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    shares = model.predict_proba(pd.DataFrame({"x": x, "z": x}))
    assert shares.sum(axis=1) == pytest.approx(1)
    if kind is TreeClassifier:
        assert model.tree.n_leaves == 1
        assert shares[0].tolist() == [0.5, 0.5]


def test_fault_24_names_of_columns(tmp_path):
    names = [*NAMES, "[ ] < > , : ' \"", "名前", "with\nline", "x" * 5000]
    names = list(dict.fromkeys(names))
    rows = {name: [i % 2, i % 3, 1, i] for i, name in enumerate(names)}
    model = grown({**rows, "y": AB})
    model.save(tmp_path / "m")
    assert answers(spinney.load(tmp_path / "m"), rows) == answers(model, rows)
    assert [a.name for a in spinney.load(tmp_path / "m").schema.attributes] == [
        a.name for a in model.schema.attributes
    ]
    assert str(model.rules())
    assert model.export("json")


def test_fault_24_names_that_are_no_texts_or_not_unique():
    twice = pd.DataFrame([[1, 2, "a"], [2, 1, "b"]], columns=["x", "x", "y"])
    with pytest.raises(DataError, match="'x'"):
        grown(twice)
    numbered = pd.DataFrame({0: [1, 1, 2, 2], "y": AB})
    assert answers(grown(numbered), {"0": [1, 2]}) == ["a", "b"]


@pytest.mark.parametrize("empty", ["", " "])
def test_fault_24_a_column_without_a_name(empty):
    rows = {empty: [1, 1, 2, 2], "z": [2, 1, 2, 1], "y": AB}
    with pytest.raises(DataError, match=r"column 1 of the table .* has no name"):
        grown(rows)


def test_fault_25_columns_in_another_order_or_not_there():
    rows = random_rows(40)
    model = grown(rows)
    turned = {"extra": [1] * 40, "word": rows["word"], "x": rows["x"]}
    assert answers(model, turned) == answers(model, rows)
    for lacking in ("x", "word"):
        others = {n: rows[n] for n in rows if n != lacking}
        with pytest.raises(DataError, match=f"'{lacking}'"):
            model.predict(others)
    assert len(model.predict(pd.DataFrame({"x": [], "word": []}))) == 0
    fitted = TreeClassifier("id3").fit(pd.DataFrame(rows)[["x", "word"]], rows["y"])
    with pytest.raises(DataError, match="feature names"):
        fitted.predict(pd.DataFrame(rows)[["word", "x"]])


FRAMES = {
    "nullable": lambda: pd.DataFrame({"x": pd.array([1, 1, 2, None], "Int64")}),
    "strings": lambda: pd.DataFrame({"x": pd.array(["u", "u", "v", None], "string")}),
    "arrow-backed": lambda: pd.DataFrame(
        {"x": pd.Series([1, 1, 2, None], dtype="int64[pyarrow]")}
    ),
    "float categories": lambda: pd.DataFrame(
        {"x": pd.Categorical([1.5, 1.5, 2.5, None], [0.5, 1.5, 2.5])}
    ),
    "dictionary": lambda: pa.table(
        {"x": pa.array(["u", "u", "v", None]).dictionary_encode()}
    ),
    "polars": lambda: pl.DataFrame(
        {"x": pl.Series(["u", "u", "v", None], dtype=pl.Categorical)}
    ),
    "booleans": lambda: pd.DataFrame({"x": pd.array([0, 0, 1, None], "boolean")}),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_26_frames_of_every_kind(kind):
    frame = FRAMES[kind]()
    model = TreeClassifier("id3").fit(frame, AB)
    assert list(model.predict(frame))[:3] == ["a", "a", "b"]
    assert spinney.read_table(frame)["x"].missing.tolist() == [0, 0, 0, 1]


def test_fault_26_levels_without_rows_are_kept():
    frame = pd.DataFrame({"x": pd.Categorical(["u", "v"] * 2, ["t", "u", "v"])})
    model = TreeClassifier("id3").fit(frame, ["a", "b"] * 2)
    assert model.schema.attributes[0].values == ("t", "u", "v")
    assert "t" in str(model)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [0, "0"], [1, "a"]])
def test_fault_27_labels_that_are_falsy_or_mixed(labels, tmp_path):
    y = [labels[0], labels[0], labels[1], labels[1]]
    rows = {"x": [1, 1, 2, 2], "y": y}
    alike = len(set(map(str, labels))) == 1
    told = pytest.warns(SpinneyWarning, match="look alike") if alike else nullcontext()
    with told:
        model = grown(rows)
    assert answers(model, {"x": [1, 2]}) == labels
    assert [*map(repr, model.classes_.tolist())] == [
        *map(repr, sorted(labels, key=str))
    ]
    model.save(tmp_path / "m")
    assert answers(spinney.load(tmp_path / "m"), {"x": [1, 2]}) == labels
    page = model.export("svg")
    assert all(f"{label:g}" in page for label in labels if isinstance(label, int))


def test_fault_27_a_text_of_nothing_is_no_class():
    rows = {"x": [1, 1, 2, 2], "y": ["", "", "u", "v"]}
    with pytest.warns(SpinneyWarning, match="is missing in 2 of 4 rows"):
        model = grown(rows)
    assert model.classes_.tolist() == ["u", "v"]


def test_fault_28_targets_of_the_wrong_kind():
    x = [[1.0], [2.0], [3.0]]
    with pytest.raises(DataError, match=r"continuous|regress"):
        TreeClassifier().fit(x, [0.5, 1.5, 2.25])
    with pytest.raises(DataError, match=r"'a'|number"):
        TreeRegressor().fit(x, ["a", "b", "c"])
    for odd in (NAN, np.inf):
        with pytest.raises(DataError, match=r"(?i)nan|inf|missing"):
            TreeRegressor().fit(x, [1.0, odd, 2.0])
    with pytest.raises(DataError, match=r"1d|column"):
        TreeRegressor().fit(x, [[1.0, 2.0]] * 3)


def test_fault_29_arrays_of_every_layout(tmp_path):
    cells = np.random.default_rng(0).integers(0, 3, (30, 3)).astype(float)
    y = (cells.sum(axis=1) > 3).astype(int)
    expected = str(TreeClassifier("id3").fit(cells, y))
    np.save(tmp_path / "cells.npy", cells)
    mapped = np.load(tmp_path / "cells.npy", mmap_mode="r")
    wide = np.zeros((30, 6))
    wide[:, ::2] = cells
    fixed = cells.copy()
    fixed.setflags(write=False)
    sparse = csr_matrix(cells)
    sparse.indices = sparse.indices.astype(np.int64)
    rows, columns = np.indices(cells.shape).reshape(2, -1)
    zeros = csr_matrix((cells.ravel(), (rows, columns)), shape=cells.shape)
    assert zeros.nnz == cells.size > sparse.nnz
    layouts = [mapped, np.asfortranarray(cells), wide[:, ::2], fixed, sparse, zeros]
    for each in [*layouts, cells.astype(">f8")]:
        model = TreeClassifier("id3").fit(each, y)
        assert str(model) == expected
        assert list(model.predict(each)) == list(model.predict(cells))
    assert (sparse.toarray() == cells).all()


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_fault_30_as_many_categories_as_rows(recipe):
    rows = {"id": [f"n{i}" for i in range(5000)], "y": ["a", "b"] * 2500}
    with pytest.warns(SpinneyWarning, match="'id'.*identifier"):
        grown(rows, recipe)


def test_fault_30_subsets_of_many_categories_are_no_enumeration():
    """Two classes need no enumeration, several are searched within bounds."""
    random = np.random.default_rng(0)
    n, k = 4000, 60
    codes = random.integers(0, k, n)
    words = np.array([f"v{i:02}" for i in range(k)])[codes]
    for n_classes in (2, 4):
        y = (codes * 7 % k + random.integers(0, 30, n)) * n_classes // (k + 30)
        rows = {"x": words.tolist(), "y": [f"c{c}" for c in y]}
        assert grown(rows, "cart", max_depth=1).tree.n_leaves == 2
    assert grown(rows, "chaid", max_depth=1).tree.n_leaves >= 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:splits on high-cardinality")
def test_fault_30_a_million_categories():
    rows = {"x": [f"n{i // 2}" for i in range(2_000_000)], "y": ["a", "b"] * 1_000_000}
    assert grown(rows, "cart", max_depth=1).tree.n_leaves <= 2


def test_fault_31_categories_never_seen_or_alone():
    rows = {"x": ["u", "u", "v", "v"], "y": AB, "w": [1.0, 1.0, 1.0, 1.0]}
    model = grown(rows, weight="w")
    # What is not known is divided, as a missing value is.
    assert model.predict_proba({"x": ["never"]}).tolist() == [[0.5, 0.5]]
    light = {"x": ["u", "u", "v", "z"], "y": AB, "w": [1.0, 1.0, 1.0, 0.0]}
    assert "z" not in str(grown(light, weight="w"))
    assert grown({"x": ["u"] * 4, "y": AB}).tree.n_leaves == 1


def test_fault_31_clusters_refuse_what_they_cannot_measure():
    with pytest.raises(DataError, match="'x'"):
        KMeans(2).fit({"x": ["u", "v", "w"]})
