"""KPrototypes as a user meets it: tables, prototypes, later rows, refusals."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from spinney import DataError, KMeans, KPrototypes, ParameterError, read_table
from spinney.data.declarations import Declarations
from spinney.errors import SpinneyWarning
from spinney.extensions.clustering.prototypes.fit_k_prototypes import (
    ColumnDistributions,
)
from spinney.extensions.clustering.prototypes.mixed_cells import MixedCells
from spinney.extensions.clustering.random_rows import RandomStream

MELONS = {
    "texture": ["clear", "clear", None, "blurry", "blurry", "clear"],
    "grams": [700.0, 770.0, 630.0, 240.0, np.nan, 690.0],
    "ripeness": ["high", "middle", "high", "low", "low", None],
}
ORDER = Declarations(ordinal={"ripeness": ("low", "middle", "high")})


# Distances


def test_distance_by_hand():
    """One cluster: γ times what differs from the modes and medians, plus squares."""
    table = read_table(MELONS, declarations=ORDER)
    model = KPrototypes(1, gamma=10.0).fit(table)
    # Mode clear; mean 606; median rank: low low middle high high -> middle.
    assert model.cluster_centers_.tolist() == [["clear", 606.0, "middle"]]
    squares = 94**2 + 164**2 + 24**2 + 366**2 + 84**2
    nominal, ordinal = 2, 4 * 0.5
    assert model.cost_ == squares + 10 * (nominal + ordinal)
    assert model.score(table) == -model.inertia_


def test_gamma_by_hand():
    """Half the mean of the standard deviations: those are 1 and 3."""
    rows = {"x": [1, 3, 1, 3], "y": [0, 6, None, None], "z": ["a", "b", "a", "b"]}
    assert KPrototypes(2).fit(rows).gamma_ == 1.0
    weights = [3, 1, 2, 2]  # x: mean 1.75, variance 0.9375; y: mean 1.5, variance 6.75
    found = KPrototypes(2).fit(rows, sample_weight=weights).gamma_
    assert found == pytest.approx((0.9375**0.5 + 6.75**0.5) / 4)


def test_gamma_without_spread_is_one():
    assert KPrototypes(2).fit({"x": [5, 5], "z": ["a", "b"]}).gamma_ == 1.0
    assert KPrototypes(2).fit({"z": ["a", "b"]}).gamma_ == 1.0
    with_gap = {"x": [1.0, 3.0], "y": [None, None], "z": ["a", "b"]}
    table = read_table(with_gap, declarations=Declarations(numeric=("y",)))
    assert KPrototypes(2).fit(table).gamma_ == 0.5


def test_gamma_zero_leaves_names_out():
    rows = {"x": [0.0, 1.0, 10.0, 11.0], "z": ["a", "b", "a", "b"]}
    model = KPrototypes(2, gamma=0, init="cao").fit(rows)
    assert model.cost_ == 1.0
    model = KPrototypes(2, gamma=1e6, init="cao").fit(rows)
    assert sorted(model.cluster_centers_[:, 1]) == ["a", "b"]


def test_only_numbers_is_k_means():
    cells = np.random.default_rng(0).normal(size=(200, 3))
    one = KPrototypes(5, init=cells[:5]).fit(cells)
    two = KMeans(5, init=cells[:5]).fit(cells)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.cluster_centers_.tolist() == two.cluster_centers_.tolist()
    assert (one.inertia_, one.n_iter_) == (two.inertia_, two.n_iter_)


# Tables


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_tables_of_all_sorts(frame):
    expected = KPrototypes(2, init="cao").fit(MELONS)
    model = KPrototypes(2, init="cao").fit(frame(MELONS))
    assert model.labels_.tolist() == expected.labels_.tolist() == [0, 0, 0, 1, 1, 0]
    assert model.predict(frame(MELONS)).tolist() == model.labels_.tolist()


def test_a_file(tmp_path):
    path = tmp_path / "melons.csv"
    pd.DataFrame(MELONS).to_csv(path, index=False)
    model = KPrototypes(2, init="cao").fit(path)
    assert model.predict(path).tolist() == model.labels_.tolist()
    again = {
        "grams": [650, 200],
        "ripeness": ["low", "low"],
        "texture": ["clear", None],
    }
    assert model.predict(again).tolist() == [0, 1]


def test_a_query():
    odd = "range % 2 = 1"
    query = duckdb.sql(
        f"SELECT if({odd}, 9.0, 0.0) AS x, if({odd}, 'b', 'a') AS z FROM range(9)"
    )
    model = KPrototypes(2, init="cao").fit(query)
    assert sorted(model.cluster_centers_.tolist()) == [[0.0, "a"], [9.0, "b"]]
    assert model.predict(query).tolist() == model.labels_.tolist()


def test_prototypes_are_a_start():
    model = KPrototypes(2, random_state=0).fit(MELONS)
    again = KPrototypes(2, init=model.cluster_centers_).fit(MELONS)
    assert again.cluster_centers_.tolist() == model.cluster_centers_.tolist()
    assert again.n_iter_ <= 2
    frame = pd.DataFrame(model.cluster_centers_, columns=list(MELONS))
    named = KPrototypes(2, init=frame).fit(MELONS)
    assert named.labels_.tolist() == model.labels_.tolist()


def test_a_start_with_gaps_is_filled_by_the_middle():
    rows = {"x": [0.0, 1.0, 5.0, 6.0], "z": ["a", "a", "b", "b"]}
    model = KPrototypes(2, init=[[None, "a"], [6.0, None]], max_iter=1).fit(rows)
    # The middle is 3 and "a", the first of the two.
    assert model.cluster_centers_.tolist() == [[0.5, "a"], [5.5, "b"]]


def test_columns_that_nobody_knows():
    rows = {"x": [0.0, 1.0, 9.0], "y": [np.nan] * 3, "z": [None] * 3}
    table = read_table(rows, declarations=Declarations(nominal=("z",)))
    model = KPrototypes(2, random_state=0).fit(table)
    assert all(np.isnan(row[1]) and row[2] is None for row in model.cluster_centers_)
    assert model.cost_ == 0.5
    later = {"x": [8.0], "y": [3.0], "z": ["new"]}
    assert model.predict(later).tolist() == [model.labels_[2]]


def test_rows_that_know_nothing_go_to_the_first_cluster():
    rows = {"x": [0.0, np.nan, 9.0, np.nan], "z": ["a", None, "b", None]}
    for start in ("huang", "cao"):
        model = KPrototypes(2, init=start, random_state=0).fit(rows)
        assert model.labels_[[1, 3]].tolist() == [0, 0]
        assert model.cost_ == 0.0
        assert not pd.isna(model.cluster_centers_).any()


def test_values_that_no_row_had_differ_from_all():
    rows = {"x": [0.0, 1.0, 9.0], "z": ["a", "a", "b"]}
    model = KPrototypes(2, init="cao", gamma=5.0).fit(rows)
    later = {"x": [0.5, 9.0], "z": ["new", "new"]}
    assert model.predict(later).tolist() == model.labels_[[0, 2]].tolist()
    assert model.score(later) == -10.0
    assert model.score({"x": [0.5, 9.0], "z": [None, None]}) == 0.0


# Starts


def test_cells_are_drawn_by_weight():
    column = np.array([[3.0], [1.0], [np.nan], [2.0]])
    codes = np.array([[2], [0], [3], [0]], dtype=np.int32)
    rest = (np.array([0, 3]), np.array([False]))
    weights, counts = np.array([1.0, 5.0, 9.0, 2.0]), [1, 5, 9, 2]
    one = ColumnDistributions(MixedCells(column, codes, *rest), weights)
    copies = np.repeat(column, counts, axis=0), np.repeat(codes, counts, axis=0)
    two = ColumnDistributions(MixedCells(*copies, *rest), np.empty(0))
    chances = RandomStream(4), RandomStream(4)
    drawn = [
        [own.sample_point(c) for _ in range(800)]
        for own, c in zip((one, two), chances, strict=True)
    ]
    numbers = [[float(point.numbers[0, 0]) for point in each] for each in drawn]
    names = [[int(point.codes[0, 0]) for point in each] for each in drawn]
    assert numbers[0] == numbers[1]
    assert names[0] == names[1]
    assert np.mean(np.array(numbers[0]) == 1.0) == pytest.approx(5 / 8, abs=0.06)
    assert np.mean(np.array(names[0]) == 0) == pytest.approx(7 / 8, abs=0.06)


def test_densities_by_hand():
    """Shares of equal codes, of numbers within half a standard deviation; 0 if none."""
    cells = MixedCells(
        np.array([[0.0], [1.0], [4.0], [np.nan]]),
        np.array([[0], [0], [1], [2]], dtype=np.int32),
        np.array([0, 2]),
        np.array([False]),
    )
    found = ColumnDistributions(cells, np.empty(0)).densities(np.array([2.0]))
    assert found.tolist() == [(2 + 2) / 8, (2 + 2) / 8, (1 + 1) / 8, 0.0]


def test_same_seed_same_clusters_in_threads():
    random = np.random.default_rng(2)
    rows = {
        "x": random.normal(size=30_000),
        "y": random.normal(size=30_000),
        "z": random.choice(list("abcdef"), size=30_000),
    }
    found = [
        KPrototypes(6, random_state=1, n_init=1, max_iter=8, n_jobs=n).fit(rows)
        for n in (1, 2, None)
    ]
    for other in found[1:]:
        assert other.labels_.tolist() == found[0].labels_.tolist()
        assert other.cluster_centers_.tolist() == found[0].cluster_centers_.tolist()
        assert other.cost_ == found[0].cost_


# Odd tables


def test_one_row():
    model = KPrototypes(1).fit({"x": [3.0], "z": ["a"]})
    assert model.cluster_centers_.tolist() == [[3.0, "a"]]
    assert model.cost_ == 0.0


@pytest.mark.parametrize("start", ["huang", "cao"])
def test_fewer_distinct_rows_than_clusters(start):
    with pytest.warns(SpinneyWarning, match="1 distinct clusters"):
        model = KPrototypes(3, init=start).fit({"x": [2.0] * 4, "z": ["a"] * 4})
    assert model.cluster_centers_.tolist() == [[2.0, "a"]] * 3
    assert model.labels_.tolist() == [0] * 4
    assert model.cost_ == 0.0


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_sizes_whose_squares_are_no_floats(size):
    cells = np.array([[0.0], [1.0], [8.0], [9.0]]) * size
    model = KPrototypes(2, init=cells[[0, 3]]).fit(cells)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert np.isfinite(model.cluster_centers_).all()
    mixed = {"x": [0.0, 8 * size, 9 * size], "z": ["a", "b", "b"]}
    model = KPrototypes(2, init="cao").fit(mixed)
    assert model.labels_[1] == model.labels_[2] != model.labels_[0]


def test_an_empty_cluster_gets_the_farthest_row():
    rows = {"x": [0.0, 1.0, 2.0, 50.0], "z": ["a", "a", "a", "a"]}
    model = KPrototypes(2, init=[[1.0, "a"], [900.0, "a"]]).fit(rows)
    assert model.cluster_centers_.tolist() == [[1.0, "a"], [50.0, "a"]]
    assert model.labels_.tolist() == [0, 0, 0, 1]


# Refusals


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 2.5}, "n_clusters=2.5"),
        ({"n_clusters": 2, "gamma": -1.0}, "gamma=-1.0"),
        ({"n_clusters": 2, "gamma": np.nan}, "gamma=nan"),
        ({"n_clusters": 2, "gamma": np.inf}, "gamma=inf"),
        ({"n_clusters": 2, "gamma": 1e301}, "gamma=1e.301 .* at most"),
        ({"n_clusters": 2, "gamma": "much"}, "gamma='much'"),
        ({"n_clusters": 2, "max_iter": 0}, "max_iter=0"),
        ({"n_clusters": 2, "n_init": 0}, "n_init=0"),
        ({"n_clusters": 2, "n_init": "many"}, "n_init='many'"),
        ({"n_clusters": 2, "init": "Huang"}, "init='Huang' is unknown.*'huang'"),
        ({"n_clusters": 2, "init": [["clear", 1.0, "low"]]}, "1 prototypes"),
        ({"n_clusters": 2, "init": [[1.0], [2.0]]}, r"shape \(2, 1\)"),
        ({"n_clusters": 2, "init": 7}, r"shape \(\)"),
        ({"n_clusters": 2, "n_jobs": 0}, "n_jobs=0"),
        ({"n_clusters": 2, "random_state": -1}, "random_state=-1"),
    ],
)
def test_parameters_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        KPrototypes(**settings).fit(MELONS)


def test_more_clusters_than_rows():
    with pytest.raises(DataError, match="n_clusters=7 exceeds the 6 rows"):
        KPrototypes(7).fit(MELONS)


def test_a_start_of_a_value_that_no_row_has():
    start = [["clear", 1.0, "low"], ["striped", 1.0, "low"]]
    with pytest.raises(DataError, match="'striped' in column 'texture'"):
        KPrototypes(2, init=start).fit(MELONS)


@pytest.mark.parametrize("table", [np.array([[1.0], [np.inf]]), {"x": [1.0, np.inf]}])
def test_infinities(table):
    with pytest.raises(DataError, match="infin"):
        KPrototypes(1).fit(table)


def test_an_infinite_start():
    with pytest.raises(DataError, match="infin"):
        KPrototypes(1, init=[[np.inf]]).fit([[1.0], [2.0]])


@pytest.mark.parametrize("weights", [[0, 0], [1, -1], [1, np.nan], [1]])
def test_weights_refused(weights):
    with pytest.raises(DataError):
        KPrototypes(1).fit({"x": [1, 2]}, sample_weight=weights)


def test_a_column_that_lacks_later():
    model = KPrototypes(2, random_state=0).fit(MELONS)
    with pytest.raises(DataError, match="ripeness"):
        model.predict({"texture": ["clear"], "grams": [1.0]})


def test_a_failed_fit_leaves_the_old_clusters():
    model = KPrototypes(2, random_state=0).fit(MELONS)
    before = model.labels_.tolist()
    with pytest.raises(DataError):
        model.fit({"x": [1.0]})
    assert model.labels_.tolist() == before


def test_starts_that_draw_nothing_are_made_once():
    with pytest.warns(SpinneyWarning, match="one run"):
        KPrototypes(2, init="cao", n_init=3).fit(MELONS)
