"""Clusters as files: the same after loading, and no damage goes unnoticed."""

import json
from datetime import date

import numpy as np
import pytest
from tests.helpers.models import (
    GOLDEN,
    NEWER,
    refused,
    set_at,
    signed,
    with_arrays,
    with_model,
    with_texts,
)

import spinney
from spinney import ForestClassifier, KMeans, KPrototypes, MiniBatchKMeans
from spinney.errors import DataError, ModelFormatError, ParameterError
from spinney.output.file.container import read_header
from spinney.output.file.kind import CLUSTERS
from spinney.output.file.model_files import load_model, save_model

NUMBERS = {
    "size": [1.0, 1.5, 3.0, 5.0, 3.5, 9.0],
    "age": [10.0, 20.0, 40.0, 70.0, 50.0, 1.0],
}
MIXED = {**NUMBERS, "hue": ["red", "red", "blue", None, "blue", "grey"]}
ROWS = np.column_stack(list(NUMBERS.values()))
SMALL = ROWS.astype("f4")
WEIGHTS = np.arange(1.0, 7.0)
MAKERS = [
    (lambda: KMeans(2, random_state=3).fit(NUMBERS), NUMBERS),
    (lambda: KMeans(3, random_state=0).fit(ROWS), ROWS),
    (lambda: KMeans(2, random_state=0).fit(SMALL), SMALL),
    (lambda: KMeans(2, standardise=True, random_state=1).fit(NUMBERS), NUMBERS),
    (lambda: KMeans(2, init=ROWS[:2]).fit(ROWS, sample_weight=WEIGHTS), ROWS),
    (lambda: KMeans("auto", random_state=0).fit(NUMBERS), NUMBERS),
    (lambda: MiniBatchKMeans(2, batch_size=3, random_state=0).fit(NUMBERS), NUMBERS),
    (lambda: KPrototypes(2, random_state=0).fit(MIXED), MIXED),
    (lambda: KPrototypes(2, init="cao", gamma=2.0).fit(MIXED), MIXED),
]


def found(which):
    """Return an estimator, and the rows that it was fitted on."""
    make, rows = MAKERS[which]
    return make(), rows


@pytest.mark.parametrize("which", range(9))
def test_a_round_trip(which, tmp_path):
    model, rows = found(which)
    path = tmp_path / "c.spinney"
    model.save(path)
    assert read_header(path.read_bytes()).texts["format"] == CLUSTERS
    loaded = spinney.load(path)
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)
    assert loaded.cluster_centers_.dtype == model.cluster_centers_.dtype
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(loaded.counts_, model.counts_)
    assert loaded.inertia_ == model.inertia_
    assert loaded.n_iter_ == model.n_iter_
    assert str(loaded) == str(model)
    loaded.save(tmp_path / "again.spinney")
    again = tmp_path / "again.spinney"
    assert load_model(again, kinds=["clusters"]).fingerprint.n_rows == 6
    spinney.load(again).save(tmp_path / "third.spinney")
    assert (tmp_path / "third.spinney").read_bytes() == again.read_bytes()


def test_the_same_clusters_give_the_same_bytes(tmp_path):
    for name in "ab":
        KMeans(2, random_state=3).fit(NUMBERS).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    model, _ = found(4)
    model.save(tmp_path / "c")
    loaded = spinney.load(tmp_path / "c")
    np.testing.assert_array_equal(loaded.init, ROWS[:2])
    again = loaded.fit(ROWS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("which", [0, 3, 6, 7])
def test_a_new_fit_forgets_what_was_loaded(which, tmp_path):
    model, _ = found(which)
    model.save(tmp_path / "c")
    loaded = spinney.load(tmp_path / "c")
    if which == 3:
        loaded.set_params(standardise=False)
    rows = np.array([[1.0, 500.0, 3.0], [2.0, 900.0, 1.0], [30.0, 10.0, 2.0]])
    again = loaded.fit(rows)
    assert again.predict(rows).tolist() == again.labels_.tolist()
    again.save(tmp_path / "d")
    held = load_model(tmp_path / "d", kinds=["clusters"])
    assert held.names == ("x0", "x1", "x2")
    assert not held.named
    assert not held.standardised
    assert held.fingerprint.n_rows == 3


def test_batches_go_on_after_loading(tmp_path):
    for whole in (True, False):
        model = MiniBatchKMeans(2, random_state=0, batch_size=3)
        model = model.fit(NUMBERS) if whole else model.partial_fit(NUMBERS)
        model.save(tmp_path / "c")
        update_state_file = load_model(tmp_path / "c", kinds=["clusters"])
        assert update_state_file.sizes.sum() == pytest.approx(6)
        assert update_state_file.fingerprint.n_rows == 6
        loaded = spinney.load(tmp_path / "c")
        more = {"size": [8.0, 2.0], "age": [2.0, 30.0]}
        one, other = model.partial_fit(more), loaded.partial_fit(more)
        np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
        np.testing.assert_array_equal(one.counts_, other.counts_)


def test_columns_are_found_by_name(tmp_path):
    model, _ = found(0)
    model.save(tmp_path / "c")
    loaded = spinney.load(tmp_path / "c")
    turned = {"note": ["a"] * 6, "age": NUMBERS["age"], "size": NUMBERS["size"]}
    np.testing.assert_array_equal(loaded.predict(turned), model.labels_)
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(
        loaded.predict(pandas.DataFrame(turned)), model.labels_
    )
    with pytest.raises(DataError, match="needs the column 'age'"):
        loaded.predict({"size": [1.0]})
    with pytest.raises(DataError, match="'age' is missing"):
        loaded.predict({"size": [1.0], "age": [None]})


def test_dates_keep_their_unit(tmp_path):
    days = [date(2024, 1, 1), date(2024, 1, 3), date(2024, 6, 1), date(2024, 6, 5)]
    model = KMeans(2, random_state=0).fit({"day": days})
    model.save(tmp_path / "c")
    loaded = spinney.load(tmp_path / "c")
    assert loaded.predict({"day": days}).tolist() == model.labels_.tolist()
    assert "2024-01-02" in str(loaded)


def test_other_files(tmp_path):
    model, _ = found(0)
    model.save(tmp_path / "c")
    with pytest.raises(ModelFormatError, match="holds clusters"):
        load_model(tmp_path / "c")
    forest = ForestClassifier(2, random_state=0).fit(NUMBERS, [0, 1] * 3)
    forest.save(tmp_path / "f")
    with pytest.raises(ModelFormatError, match=r"no clusters.* clusters again$"):
        load_model(tmp_path / "f", kinds=["clusters"])
    with pytest.raises(ParameterError, match="exists"):
        save_model(model.clusters_, tmp_path / "f", force=False)
    with pytest.raises(ModelFormatError, match="No such file"):
        load_model(tmp_path / "nothing", kinds=["clusters"])


def test_what_is_not_fitted_is_not_saved(tmp_path):
    for model in (KMeans(2), KPrototypes(2)):
        with pytest.raises(ValueError, match="not fitted"):
            model.save(tmp_path / "c")
    assert not list(tmp_path.iterdir())
    assert str(KMeans(2)) == "KMeans(n_clusters=2)"


# Damage


def saved(tmp_path, which=0):
    path = tmp_path / "c.spinney"
    found(which)[0].save(path)
    return path


DAMAGES = [
    (
        set_at("centroids", (0, 0), np.nan),
        "cluster 0 is no point; restore it .* clusters again$",
    ),
    (set_at("centroids", (1, 1), np.inf), "centroid of cluster 1 is no point"),
    (set_at("start", (1, 0), np.nan), "start of cluster 1"),
    (set_at("scale", 0, 0.0), "scale of column 0"),
    (set_at("scale", 1, np.nan), "scale of column 1"),
    (set_at("scale", 1, -1.0), "scale of column 1"),
    (set_at("scale", 0, 1e308), "no point"),
    (set_at("weights", 1, -1.0), "weight of cluster 1"),
    (set_at("weights", 0, np.inf), "weight of cluster 0"),
    (lambda a: a.update(centroids=a["centroids"][:, :1]), "entries where"),
    (lambda a: a.update(centroids=a["centroids"][:1]), "entries where"),
    (lambda a: a.update(centroids=a["centroids"][:0]), "no cluster"),
    (lambda a: a.update(centroids=a["centroids"][0]), "no cluster"),
    (lambda a: a.update(start=a["start"][:1]), "entries where"),
    (lambda a: a.update(scale=a["scale"][:1]), "entries where"),
    (lambda a: a.update(weights=np.ones(3)), "entries where"),
    (lambda a: a.update(codes=np.zeros((2, 1), np.int32)), "entries where"),
    (lambda a: a.update(start=a["start"].astype("f4")), "precision"),
    (lambda a: a.update(weights=a["weights"].astype("f4")), "dtype of another"),
    (lambda a: a.update(centroids=np.zeros((2, 2), np.int64)), "dtype of another"),
    (lambda a: a.pop("scale"), "no 'scale'"),
    (lambda a: a.update(more=np.zeros(1)), "unknown key 'more'"),
]


@pytest.mark.parametrize(("change", "words"), DAMAGES)
def test_damaged_arrays(change, words, tmp_path):
    path = saved(tmp_path)
    refused(path, with_arrays(path.read_bytes(), change), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.update(method="k-medians"), "method 'k-medians' is unknown"),
        (lambda m: m.update(method="k-prototypes"), "settings"),
        (lambda m: m.update(named="yes"), "true or false"),
        (lambda m: m.update(inertia=-1.0), "inertia is negative"),
        (lambda m: m.update(inertia="x"), "inertia must be a number"),
        (lambda m: m.update(n_iterations=-1), "number of iterations"),
        (lambda m: m.update(gamma=1.0), "gamma"),
        (lambda m: m.pop("markers"), "no 'markers'"),
        (lambda m: m.update(extra=1), "unknown key 'extra'"),
        (lambda m: m["attributes"].pop(), "entries where"),
        (lambda m: m.update(attributes=[]), "no column"),
        (lambda m: m["attributes"][0].update(kind="nominal"), "cannot use"),
        (lambda m: m["attributes"][0].update(name="age"), "one name"),
        (lambda m: m["attributes"][0].update(unit="days since ever"), "unknown unit"),
        (lambda m: m["settings"].update(max_iter=0), "max_iter"),
        (lambda m: m["settings"].update(n_clusters=0), "n_clusters"),
        (lambda m: m["settings"].update(n_init="often"), "n_init"),
        (lambda m: m["settings"].update(tol=-1.0), "tol is negative"),
        (lambda m: m["settings"].update(random_state=-1), "random_state"),
        (lambda m: m["settings"].update(standardise=1), "standardise"),
        (lambda m: m["settings"].pop("init"), "no 'init'"),
        (lambda m: m["fingerprint"].pop("weight"), "no 'weight'"),
    ],
)
def test_damaged_headers(change, words, tmp_path):
    path = saved(tmp_path)
    refused(path, with_model(path.read_bytes(), change), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_at("codes", ..., -2), "value that is none"),
        (set_at("codes", ..., 3), "value that is none"),
        (set_at("centroids", (0, 0), np.nan), "no point"),
    ],
)
def test_damaged_prototypes(change, words, tmp_path):
    path = saved(tmp_path, 7)
    refused(path, with_arrays(path.read_bytes(), change), words)


def test_truncated_and_flipped(tmp_path):
    path = saved(tmp_path)
    data = path.read_bytes()
    for end in range(0, len(data), 37):
        path.write_bytes(data[:end])
        with pytest.raises(ModelFormatError, match=r"find the clusters again$"):
            load_model(path, kinds=["clusters"])
    for place in range(0, len(data), 11):
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(ModelFormatError):
            load_model(path, kinds=["clusters"])


def test_a_newer_file(tmp_path):
    path = saved(tmp_path)
    newer = with_texts(path.read_bytes(), **NEWER)
    refused(path, newer, "newer Spinney .*, and this one .*; upgrade Spinney$")


def test_signed_nonsense_does_not_pass(tmp_path):
    """A checksum that is right says nothing of what it is of."""
    path = saved(tmp_path)
    data = path.read_bytes().replace(b':\\"k-means\\"', b':\\"k-moans\\"')
    refused(path, signed(data), "method")


@pytest.mark.parametrize("name", ["five_means", "melon_prototypes"])
def test_golden_files_still_load(name):
    model = spinney.load(GOLDEN / f"{name}.v1.spinney")
    told = json.loads((GOLDEN / f"{name}.v1.json").read_text(encoding="utf-8"))
    assert model.cluster_centers_.tolist() == told["centers"]
    assert model.counts_.tolist() == told["counts"]
    assert model.inertia_ == told["inertia"]
    rows = told["rows"]
    assert model.predict(rows).tolist() == told["labels"]
