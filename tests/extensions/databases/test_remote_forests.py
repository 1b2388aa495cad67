"""Forests on tables in engines and in parts: tree by tree those of memory."""

from itertools import product

import numpy as np
import pytest
from tests.helpers.database_tables import TABLE, in_postgres
from tests.helpers.partitioned_tables import in_arrow
from tests.sources.comparing import assert_same_tree, opened
from tests.sources.tables_away import placed, table_of

import spinney
from spinney.cli import run
from spinney.errors import ParameterError, SpinneyWarning
from spinney.extensions.databases import number_bins
from spinney.extensions.partitions import (
    open_partitions,
    partition_facts,
    partitioned_source,
)
from spinney.growth.forest import bags
from spinney.growth.plain import learner
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import open_data

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

COUNTED = 36 * CELL_BYTES * 8  # of 48 rows


@pytest.fixture(autouse=True)
def room(monkeypatch):
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: COUNTED)
    monkeypatch.setattr(bags, "SAMPLE_SIZE", 24)


def assert_same_forest(one, other):
    assert len(one.trees) == len(other.trees)
    for here, there in zip(one.trees, other.trees, strict=True):
        assert_same_tree(here.tree, there.tree, whole=False)
    assert one.forest_.shrinkage == pytest.approx(other.forest_.shrinkage)
    assert one.forest_.settings == other.forest_.settings


SETTINGS = {
    "plain": {},
    "weights": {"weight": "w", "max_samples": 0.5, "min_samples_leaf": 2},
    "balanced": {"class_weight": "balanced", "replace": False},
    "subsample": {"class_weight": "balanced_subsample", "recipe": ["c4.5", "id3"]},
    "by class": {"class_weight": {"a": 3.0}, "voting": "majority", "shrinkage": 1.0},
    "drawn cuts": {"extra_random": True, "max_features": None},
    "all rows": {"bootstrap": False},
    "numbers": {"max_depth": 3},
}


CASES = (
    *(("parts", kind) for kind in SETTINGS if kind not in ("weights", "balanced")),
    ("duckdb", "balanced"),
    ("postgres", "weights"),
    ("postgres", "plain"),
    *(
        pytest.param(place, kind, marks=pytest.mark.slow)
        for place, kind in product(("duckdb", "postgres", "parts"), SETTINGS)
    ),
)


@pytest.mark.parametrize(("place", "kind"), CASES)
def test_trees_are_those_of_memory(place, kind, tmp_path, request):
    columns = table_of(1, numeric=kind == "numbers")
    options = {"n_estimators": 2, "random_state": 3, **SETTINGS[kind]}
    by_hash = {**options, "bootstrap": options.get("bootstrap", True) and "hash"}
    expected = spinney.grow_forest(columns, "y", **by_hash)
    with placed(place, columns, tmp_path, request) as (data, how):
        grown = spinney.grow_forest(data, "y", **options, **how)
    assert_same_forest(expected, grown)
    assert sum(len(model.tree) for model in grown.trees) > 8


@pytest.mark.parametrize(
    "place", ["parts", pytest.param("duckdb", marks=pytest.mark.slow)]
)
def test_bins_that_cannot_matter_stay_closed(place, monkeypatch, tmp_path, request):
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 0)
    for module, few in (
        (
            number_bins,
            {"MAX_VALUES": 20, "MAX_ROWS_BY_VALUE": 10, "QUANTILES": 6, "PARTS": 6},
        ),
        (partition_facts, {"MAX_VALUES": 20}),
        (partitioned_source, {"MAX_ROWS_BY_VALUE": 10}),
        (open_partitions, {"N_BINS": 9}),
    ):
        for name, value in few.items():
            monkeypatch.setattr(module, name, value)
    opened_bins = []
    bins_to_open = learner.bins_to_open

    def heard(*given):
        answer = bins_to_open(*given)
        opened_bins.append(answer[0].mean())
        return answer

    monkeypatch.setattr(learner, "bins_to_open", heard)
    columns = table_of(7, n_rows=80)
    options = {"n_estimators": 2, "shrinkage": 0.0, "min_samples_leaf": 3}
    options |= {"missing_policy": "fractional", "random_state": 1}
    expected = spinney.grow_forest(columns, "y", bootstrap="hash", **options)
    opened_bins.clear()
    with placed(place, columns, tmp_path, request) as (data, how):
        grown = spinney.grow_forest(data, "y", **options, **how)
    assert_same_forest(expected, grown)
    assert opened_bins
    assert min(opened_bins) < 1


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("place", ["parts", "duckdb", "postgres"])
def test_identifiers_are_left_out_as_in_memory(place, complete, tmp_path, request):
    columns = table_of(5)
    n_rows = len(columns["y"])
    columns["id"] = [(7 * n) % n_rows + 1 for n in range(n_rows)]  # in any order
    columns["key"] = [f"k{n}" for n in range(n_rows - 1)] + [None]
    columns["number"] = [n % 2 for n in range(n_rows)]
    columns["index"] = [n / 2 for n in range(n_rows)]
    options = {"n_estimators": 2, "random_state": 3, "shrinkage": 0.0}
    if complete:
        options["missing_policy"] = "drop"
    expected = spinney.grow_forest(columns, "y", bootstrap="hash", **options)
    told = {}
    with placed(place, columns, tmp_path, request) as (data, how):
        for declared in ({}, {"nominal": ["key"]}):
            with pytest.warns(SpinneyWarning) as caught:
                grown = spinney.grow_forest(data, "y", **options, **declared, **how)
            told[len(declared)] = [str(each.message) for each in caught]
            names = set(grown.forest_.schema.names)
            assert ("key" in names) is bool(declared)
            if not declared:
                assert_same_forest(expected, grown)
                assert names == set(expected.forest_.schema.names)
    assert names == {*columns, "key"} - {"y", "id"}
    for text in (
        "column 'id' numbers the rows and was excluded; to keep it, declare it "
        "(numeric=['id'])",
        "column 'key' has only unique values (47) and was excluded; to keep it, "
        "declare it (nominal=['key'])",
    ):
        assert (text in told[0]) is True
        assert (text in told[1]) is ("'id'" in text)


def test_a_count_of_many_rows_in_parts_is_one_whatever_its_order(monkeypatch):
    monkeypatch.setattr(partition_facts, "MAX_VALUES", 20)
    monkeypatch.setattr(open_partitions, "NUMBERS_IN_MEMORY", 10)
    for cells, counted in (
        (range(48, 0, -1), True),
        ([1, 1, *range(3, 49)], True),  # not that, but nearly all differ
        ([*[1] * 8, *range(9, 49)], False),
        ([1, 2.5, *range(3, 49)], False),
    ):
        columns = {**table_of(5), "id": list(cells)}
        options = {"n_estimators": 1, "shrinkage": 0.0, "engine": "partitions"}
        grown = spinney.grow_forest(in_arrow(columns), "y", **options)
        assert ("id" in grown.forest_.schema.names) is not counted


def test_rows_with_room_are_read_and_give_the_same_forest(monkeypatch, tmp_path):
    columns = table_of(2)
    forests = []
    for n_bytes in (COUNTED, 1 << 30):
        monkeypatch.setattr(open_data, "default_memory_limit", lambda n=n_bytes: n)
        with opened("bound relation", columns, tmp_path) as (data, how):
            forests.append(spinney.grow_forest(data, "y", n_estimators=3, **how))
    assert_same_forest(*forests)
    assert forests[0].forest_.fingerprint == forests[1].forest_.fingerprint


def test_a_bag_without_rows_has_all(tmp_path, request):
    columns = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    options = {"n_estimators": 12, "shrinkage": 0.0, "random_state": 4}
    options["max_samples"] = 1
    expected = spinney.grow_forest(columns, "y", bootstrap="hash", **options)
    n_rows = [model.tree.root.n_rows for model in expected.trees]
    assert n_rows.count(3) > 2  # a bag of Poisson's law of mean 1 seldom has all
    assert min(n_rows) == 1
    for place in ("duckdb", "postgres", "parts"):
        with placed(place, columns, tmp_path, request) as (data, how):
            how = {**how, "memory_limit": 0}
            grown = spinney.grow_forest(data, "y", **options, **how)
        assert_same_forest(expected, grown)


def test_rows_to_ask_need_room(tmp_path, request):
    columns = table_of(3)
    for place in ("postgres", "parts"):
        with placed(place, columns, tmp_path, request) as (data, how):
            words = "shrinkage=None is chosen by about 24 out-of-bag rows, and 0 fit"
            with pytest.raises(ParameterError, match=words) as refused:
                spinney.grow_forest(data, "y", memory_limit=0, **how)
            assert refused.value.parameter == "shrinkage"
            options = {"n_estimators": 2, "shrinkage": 0.0, "memory_limit": 0}
            assert len(spinney.grow_forest(data, "y", **options, **how).trees) == 2


def test_bags_of_memory_are_those_of_the_hash():
    columns = table_of(4, n_rows=80)
    del columns["w"]
    model = spinney.ForestClassifier(30, bootstrap="hash", random_state=0)
    names = [name for name in columns if name != "y"]
    rows = np.array([columns[name] for name in names], dtype=object).T
    model.set_params(oob_score=True).fit(rows, columns["y"])
    sizes = [tree.tree.root.weights.sum() for tree in model.trees]
    assert 60 < np.mean(sizes) < 100
    assert len(set(sizes)) > 10  # Poisson's law, and no fixed size
    assert 0 < model.oob_score_ <= 1
    with pytest.raises(ParameterError, match="bootstrap='hsah'"):
        model.set_params(bootstrap="hsah").fit(rows, columns["y"])
    with pytest.raises(ParameterError, match="bootstrap='hsah'"):
        spinney.grow_forest(
            in_arrow(columns), "y", engine="partitions", bootstrap="hsah"
        )


def test_forests_are_kept_with_their_bags(tmp_path):
    model = spinney.grow_forest(in_arrow(table_of(5)), "y", engine="partitions",
                                n_estimators=2)  # fmt: skip
    model.save(tmp_path / "f.spinney")
    loaded = spinney.load(tmp_path / "f.spinney")
    assert loaded.forest_.settings.bootstrap == "hash"
    assert_same_forest(model, loaded)


def test_the_shell_grows_them(tmp_path, monkeypatch, capfd, postgres):
    columns = table_of(6)
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 30)
    with in_postgres(postgres)(columns) as (data, _):
        asked = [
            "forest",
            data,
            "--table",
            TABLE,
            "--target",
            "y",
            "--n-estimators",
            "3",
        ]
        assert run(asked) == 0
        assert "out-of-bag accuracy" in capfd.readouterr().out
        assert run([*asked, "--memory-limit", "0"]) != 0
        words = "give one (--shrinkage 0), or raise --memory-limit"
        assert words in capfd.readouterr().err
        none = [*asked, "--memory-limit", "0", "--shrinkage", "0"]
        assert run(none) == 0
        kept = tmp_path / "f.spinney"
        assert run([*none, "--permutation-importances", "-o", str(kept)]) != 0
        assert "raise --memory-limit" in capfd.readouterr().err
        assert not kept.exists()
