"""k-means of tables in engines and in parts: the clusters of memory, from one start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.database_tables import TABLE, in_postgres
from tests.helpers.partitioned_tables import in_arrow
from tests.sources.tables_away import placed

import spinney
from spinney.cli import run
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering.lloyd import iterate
from spinney.extensions.clustering.models import cluster_table
from spinney.extensions.clustering.models.cluster_table import RemoteRows
from spinney.sources.rows.cluster_sums import Points, sums_by_point
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import open_data

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

SOME = 100 * CELL_BYTES * 7
SAMPLED = 60


@pytest.fixture(autouse=True)
def room(monkeypatch):
    """Let the sample have room, and not all of the rows."""
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: SOME)
    monkeypatch.setattr(cluster_table, "MAX_SAMPLED", SAMPLED)


def table_of(seed, n_rows=200):
    random = np.random.default_rng(seed)
    near = random.integers(0, 3, n_rows)
    columns = {
        "x": (4.0 * near + random.normal(size=n_rows)).tolist(),
        "y": (100.0 * (near == 1) + 20.0 * random.normal(size=n_rows)).tolist(),
        "w": [1.0 + n % 3 for n in range(n_rows)],
        "name": ["abc"[n % 3] for n in range(n_rows)],
    }
    return columns


@pytest.mark.parametrize("place", ["duckdb", "postgres", "parts", "read"])
def test_clusters_are_those_of_memory_from_the_same_start(
    place, monkeypatch, tmp_path, request
):
    columns = table_of(1)
    if place == "read":
        monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 30)
    options = {"columns": ["x", "y"], "weight": "w", "standardise": True}
    with placed("duckdb" if place == "read" else place, columns, tmp_path, request) as (
        data,
        how,
    ):
        model = spinney.find_clusters(data, 3, **options, **how)
    clusters = model.clusters_
    cells = np.column_stack([columns["x"], columns["y"]]) / clusters.scale
    expected = spinney.KMeans(3, init=clusters.start).fit(
        cells, sample_weight=columns["w"]
    )
    assert clusters.centroids == pytest.approx(expected.cluster_centers_, rel=1e-9)
    assert clusters.inertia == pytest.approx(expected.inertia_, rel=1e-9)
    sums = np.bincount(expected.labels_, columns["w"], 3)
    assert clusters.weights.tolist() == pytest.approx(sums.tolist())
    assert clusters.fingerprint.n_rows == 200
    rows = {"x": columns["x"], "y": columns["y"]}
    assert model.predict(rows).tolist() == expected.labels_.tolist()


def test_a_cluster_without_rows_stays_where_in_memory_it_is_filled():
    cells, far = np.array([0.0, 1.0, 10.0, 11.0]), np.array([[0.5], [10.5], [100.0]])
    rows = [cells], np.ones(4)
    start = Points((0,), np.ones(1), far, np.zeros(1))
    remote = RemoteRows(lambda points: sums_by_point(*rows, points), start)
    found = iterate(remote, far, max_iterations=5)
    assert found.centroids.ravel().tolist() == [0.5, 10.5, 100.0]
    assert remote.sums.weights.tolist() == [2, 2, 0]
    filled = spinney.KMeans(3, init=far).fit(cells[:, None])
    assert sorted(np.bincount(filled.labels_).tolist()) == [1, 1, 2]


@pytest.mark.parametrize(("factor", "base"), [(1e-13, 0.0), (1.0, 1e13)])
def test_iterations_are_as_many_as_in_memory(factor, base, tmp_path, request):
    # However small the numbers are, and however far from 0.
    cells = base + factor * np.random.default_rng(3).random((400, 2))
    columns = dict(zip("xy", cells.T.tolist(), strict=True))
    with placed("duckdb", columns, tmp_path, request) as (data, how):
        clusters = spinney.find_clusters(data, 4, standardise=False, **how).clusters_
    expected = spinney.KMeans(4, init=clusters.start).fit(cells)
    assert clusters.n_iterations == expected.n_iter_ > 2
    assert clusters.inertia == pytest.approx(expected.inertia_, rel=1e-9)


def test_every_place_begins_with_the_same_rows(tmp_path, request):
    columns = table_of(2)
    starts = []
    for place in ("duckdb", "postgres", "parts"):
        with placed(place, columns, tmp_path, request) as (data, how):
            options = {"ignore": ["name"], "n_init": 2}
            model = spinney.find_clusters(data, "auto", **options, **how)
            starts.append(model.clusters_.start)
    for start in starts[1:]:
        assert start.tolist() == starts[0].tolist()


@given(
    cells=st.lists(
        st.tuples(st.integers(-5, 5), st.one_of(st.none(), st.integers(-5, 5))),
        max_size=12,
    ),
    at_once=st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_sums_are_those_of_plain_loops(cells, at_once):
    places = np.array([[0.0, 0.0], [3.0, -1.0], [-1.0, 2.0]])
    scale, origin = np.array([2.0, 0.5]), np.array([0.25, 1.0])
    columns = [np.array([np.nan if c[at] is None else c[at] for c in cells], float)
               for at in (0, 1)]  # fmt: skip
    weights = np.arange(1.0, len(cells) + 1)
    total, lacking = np.zeros((3, 4)), 0
    for (one, two), weight in zip(cells, weights, strict=True):
        if two is None:
            lacking += 1
            continue
        x, y = one / scale[0], two / scale[1]
        squares = [(x - p) ** 2 + (y - q) ** 2 for p, q in places.tolist()]
        near = squares.index(min(squares))
        own = [1.0, x - origin[0], y - origin[1], squares[near]]
        total[near] += weight * np.array(own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "spinney.sources.rows.cluster_sums.DISTANCES_PER_BATCH", 3 * at_once
        )
        told = sums_by_point(columns, weights, Points((0, 1), scale, places, origin))
    assert told.n_lacking == lacking
    assert np.column_stack([told.weights, told.sums, told.squares]) == pytest.approx(
        total
    )


def test_what_is_refused(tmp_path, request):
    columns = table_of(3)
    parts, given_ = in_arrow(columns), {"engine": "partitions"}
    with pytest.raises(DataError, match=r"'name' is nominal, and k-prototypes needs"):
        spinney.find_clusters(parts, 2, **given_)
    with pytest.raises(ParameterError, match="method='k-prototypes' needs the rows"):
        spinney.find_clusters(parts, 2, method="k-prototypes", **given_)
    with pytest.raises(DataError, match="no column 'z'"):
        spinney.find_clusters(parts, 2, columns=["z"], **given_)
    with pytest.raises(DataError, match="only 0 fit in memory"):
        spinney.find_clusters(parts, 2, columns=["x"], memory_limit=0, **given_)
    columns["x"][7] = None
    for place in ("duckdb", "parts"):
        with (
            placed(place, columns, tmp_path, request) as (data, how),
            pytest.raises(
                DataError, match="have missing cells, and k-means accepts none"
            ),
        ):
            spinney.find_clusters(data, 2, columns=["x"], **how)
    columns["w"] = [0.0] * 200
    for place in ("duckdb", "parts"):
        with (
            placed(place, columns, tmp_path, request) as (data, how),
            pytest.raises(DataError, match="weight 'w' is 0 in every row"),
        ):
            spinney.find_clusters(data, 2, columns=["y"], weight="w", **how)


def test_the_shell_finds_them(tmp_path, capfd, monkeypatch, postgres):
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 30)
    with in_postgres(postgres)(table_of(4)) as (data, _):
        asked = [
            "cluster",
            data,
            "--table",
            TABLE,
            "--columns",
            "x,y",
            "--n-clusters",
            "3",
        ]
        assert run([*asked, "--model", str(tmp_path / "c.spinney")]) == 0
        assert "200 rows, 2 columns: x, y" in capfd.readouterr().out
        assert len(spinney.load(tmp_path / "c.spinney").clusters_) == 3
        assert run([*asked, "--explain"]) != 0
        assert "--explain needs all rows" in capfd.readouterr().err
        memory = ["--engine", "memory", "-o", str(tmp_path / "rows.csv")]
        assert run([*asked, *memory]) == 0
