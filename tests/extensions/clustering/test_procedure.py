"""How many clusters: the rules, the curve, hard tables, and what must not matter."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)
from tests.helpers.fuzz import examples
from tests.twins import naive_choosing as naive

import spinney
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering.choose_k.choice import MEASURES, CurvePoint
from spinney.extensions.clustering.choose_k.choice_rules import apply_rule
from spinney.extensions.clustering.choose_k.select_k import WorkLimits, choose
from spinney.extensions.clustering.fit_k_means import KMeansMethod

IRIS = "tests/tables/iris.csv"


def iris():
    return spinney.read_table(IRIS).without(["class"])


def clumps(k, n=30, spread=0.3, seed=0):
    random = np.random.default_rng(seed)
    middles = np.array([[7.0 * (i % 3), 6.0 * (i // 3)] for i in range(k)])
    return (middles[:, None] + random.normal(0, spread, (k, n, 2))).reshape(-1, 2)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("rule", ["silhouette", "calinski_harabasz", "davies_bouldin"])
def test_rules_find_clumps(rule, k):
    choice = choose(clumps(k), range(2, 8), rule=rule, measures=[])
    assert choice.k == k
    assert choice.rule == rule
    assert f"k = {k} by {rule}" in choice.why


@pytest.mark.parametrize("k", [3, 4, 5])
def test_elbow_finds_clumps(k):
    """Clumps that are all as far from each other: inertia falls in a line until k."""
    random = np.random.default_rng(0)
    cells = np.repeat(10 * np.eye(k), 30, axis=0) + random.normal(size=(30 * k, k)) / 5
    choice = choose(cells, range(1, 10), rule="elbow", measures=[])
    assert choice.k == k
    assert "sensitivity 1" in choice.why


def test_iris_beside_scikit_learn():
    """Each number of the curve is that of the clusters of KMeans with the same seed."""
    table = iris()
    cells = np.column_stack([column.cells for column in table.columns])
    choice = spinney.choose_k(table, range(2, 6))
    for line in choice.curve:
        model = spinney.KMeans(line.k, n_init=4, random_state=0).fit(table)
        labels = model.labels_
        assert line.inertia == pytest.approx(model.inertia_, rel=1e-12)
        assert line.silhouette == pytest.approx(silhouette_score(cells, labels))
        assert line.calinski_harabasz == pytest.approx(
            calinski_harabasz_score(cells, labels)
        )
        assert line.davies_bouldin == pytest.approx(davies_bouldin_score(cells, labels))
    assert choice.k == 2  # setosa and the others, as the silhouette is known to say
    assert spinney.choose_k(table, rule="calinski_harabasz").k == 3


def test_penguins():
    """Numbers of the rows that know them, each in its standard deviations."""
    table = spinney.read_table("tests/tables/penguins.csv")
    columns = [column for column in table.columns if column.kind == "numeric"]
    cells = np.column_stack([column.cells for column in columns])
    cells = cells[~np.isnan(cells).any(axis=1)]
    cells = (cells - cells.mean(axis=0)) / cells.std(axis=0)
    assert len(cells) == 342
    choice = spinney.choose_k(cells, rule="elbow")
    best = max(choice.curve, key=lambda line: line.silhouette)
    assert best.k == 2
    inertias = [line.inertia for line in choice.curve]
    place = naive.elbow([line.k for line in choice.curve], inertias)
    assert choice.k == choice.line.k == choice.curve[place].k


@st.composite
def tables(draw):
    n_columns = draw(st.integers(1, 2))
    row = st.lists(
        st.integers(-4, 4).map(float), min_size=n_columns, max_size=n_columns
    )
    rows = draw(st.lists(row, min_size=1, max_size=14))
    weights = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    weights[0] = max(1, weights[0])
    return rows, weights


QUICK = WorkLimits(gap_tables=2)


@settings(max_examples=examples(30))
@given(tables(), st.sampled_from(MEASURES), st.randoms(use_true_random=False))
def test_weights_are_copies_and_order_does_not_matter(table, rule, random):
    rows, weights = table
    cells, own = np.array(rows), np.array(weights, dtype=float)
    one = choose(cells, weights=own, rule=rule, limits=QUICK)
    order = [i for i, weight in enumerate(weights) for _ in range(weight)]
    random.shuffle(order)
    assert choose(cells[order], rule=rule, limits=QUICK) == one


@settings(max_examples=examples(60))
@given(tables(), st.sampled_from(["silhouette", "calinski_harabasz", "davies_bouldin"]))
def test_the_best_is_chosen(table, rule):
    rows, weights = table
    choice = choose(np.array(rows), weights=np.array(weights, dtype=float), rule=rule)
    values = [getattr(line, rule) for line in choice.curve]
    sign = -1 if rule == "davies_bouldin" else 1

    def better(one, other):
        return sign * (one - other) > 1e-12 * abs(other) if other != one else False

    if all(value is None or np.isfinite(value) for value in values):
        assert choice.k == choice.curve[naive.best(values, better)].k
    assert not any(value is not None and np.isnan(value) for value in values)
    assert "nan" not in str(choice)


@pytest.mark.parametrize("rule", MEASURES)
@pytest.mark.parametrize(
    ("cells", "k"),
    [
        ([[3.0]], 1),
        ([[3.0, 1.0]] * 5, 1),
        ([[0.0]] * 4 + [[1.0]] * 4, 2),
        ([[1.0, 1e300], [1.0, -1e300], [1.0, 1e300]], 2),
        ([[1e-300], [2e-300]], 2),
        ([[0.0, 7.0]] * 3 + [[1.0, 7.0]] * 3 + [[9.0, 7.0]] * 3, None),
        ([[float(i)] for i in range(5)], None),
    ],
)
def test_hard_tables(rule, cells, k):
    choice = choose(np.array(cells), rule=rule, limits=QUICK)
    if rule == "gap" and len({*map(tuple, cells)}) > 1:
        k = None  # one cluster is among those tried
    assert k is None or choice.k == k
    assert choice.line.inertia == choice.line.inertia
    assert "nan" not in str(choice)


def test_three_places_are_three_clusters():
    cells = np.array([[0.0, 7.0]] * 3 + [[1.0, 7.0]] * 3 + [[9.0, 7.0]] * 3)
    for rule in ("silhouette", "calinski_harabasz", "davies_bouldin"):
        choice = choose(cells, rule=rule)
        assert choice.k == 3
    assert choose(cells).line.silhouette == 1.0
    assert "infinite" in str(choose(cells, rule="calinski_harabasz"))


def test_lines_without_a_measure():
    """Of one cluster there is no silhouette; rows alone have no index."""
    choice = choose(np.array([[0.0], [1.0], [10.0]]), [3, 1])
    assert [line.k for line in choice.curve] == [1, 3]
    assert choice.curve[0].silhouette is None
    assert choice.k == 3
    choice = choose(np.array([[0.0], [1.0], [10.0]]), [1, 3], rule="davies_bouldin")
    assert choice.k == 1
    assert "no k has" in choice.why


def test_ties_go_to_fewer_clusters():
    lines = [
        CurvePoint(2, 3.0, 0.25),
        CurvePoint(3, 2.0, 0.5),
        CurvePoint(4, 1.0, 0.5 + 1e-15),
    ]
    assert apply_rule("silhouette", lines, None)[0] == 3
    lines = [
        CurvePoint(2, 3.0, davies_bouldin=0.0),
        CurvePoint(3, 2.0, davies_bouldin=0.0),
    ]
    assert apply_rule("davies_bouldin", lines, None)[0] == 2
    infinite = [CurvePoint(k, 1.0, calinski_harabasz=np.inf) for k in (2, 3)]
    assert apply_rule("calinski_harabasz", infinite, None)[0] == 2
    lines = [CurvePoint(1, 1.0, calinski_harabasz=5.0), *infinite]
    assert apply_rule("calinski_harabasz", lines, None)[0] == 2
    gaps = [(0.1, 0.0), (0.5, 0.1), (0.9, 0.1)]
    rising = [
        CurvePoint(k, 1.0, gap=g, gap_error=e) for k, (g, e) in enumerate(gaps, 1)
    ]
    assert apply_rule("gap", rising, None)[0] == 3


def test_a_sample_says_so_and_comes_near():
    cells = clumps(3, n=700)
    exact = choose(cells, [2, 3, 4], measures=[])
    some = choose(cells, [2, 3, 4], measures=[], limits=WorkLimits(silhouette_rows=400))
    assert exact.silhouette_rows is None
    assert some.silhouette_rows == 400
    assert "from a sample of 400 rows" in str(some)
    assert some.k == exact.k == 3
    for one, other in zip(exact.curve, some.curve, strict=True):
        assert one.inertia == other.inertia
        assert one.silhouette != other.silhouette
        assert one.silhouette == pytest.approx(other.silhouette, abs=0.02)


def test_threads_and_repetition_change_nothing():
    cells = clumps(4, n=200, spread=1.5)
    limits = WorkLimits(silhouette_rows=300, gap_rows=100, gap_tables=3)
    one, two, again = (
        choose(
            cells, [2, 3, 4], rule="gap", method=KMeansMethod(n_jobs=n), limits=limits
        )
        for n in (1, 2, 2)
    )
    assert one == two == again
    other = choose(
        cells, [2, 3], rule="gap", method=KMeansMethod(seed=1), limits=limits
    )
    assert other.curve[0].gap != one.curve[0].gap


def test_the_curve_in_print():
    choice = spinney.choose_k(clumps(3), range(2, 5), measures=["davies_bouldin"])
    lines = str(choice).splitlines()
    assert lines[0].split() == ["k", "inertia", "silhouette", "davies_bouldin"]
    assert len({len(line) for line in lines[:4]}) == 1  # aligned
    assert [bool(re.match(r"\*  ", line)) for line in lines[1:4]] == [
        False,
        True,
        False,
    ]
    assert lines[5] == choice.why
    assert lines[6] == "90 rows, 90 of them distinct; 4 restarts per k, seed 0"
    for line, told in zip(lines[1:4], choice.curve, strict=True):
        numbers = [float(text) for text in line.replace("*", " ").split()]
        assert numbers[0] == told.k
        assert numbers[2] == pytest.approx(told.silhouette, abs=1e-6)
    assert choice.as_dict()["curve"][1]["k"] == 3
    assert choice.as_dict()["k"] == 3


def test_kmeans_auto_is_the_choice():
    cells = clumps(4)
    model = spinney.KMeans("auto", random_state=3).fit(cells)
    assert model.choice_ == spinney.choose_k(cells, random_state=3)
    assert model.choice_.k == len(model.cluster_centers_) == 4
    assert model.inertia_ == pytest.approx(model.choice_.line.inertia, rel=1e-12)
    assert model.n_clusters == "auto"
    assert not hasattr(spinney.KMeans(4).fit(cells), "choice_")
    weights = np.arange(len(cells)) % 3
    model = spinney.KMeans("auto", n_init=2, random_state=3)
    model.fit(cells, sample_weight=weights)
    assert model.choice_.weight == weights.sum()
    assert model.choice_.n_starts == 2
    assert len(spinney.KMeans("auto").fit(np.ones((4, 2))).cluster_centers_) == 1


def test_bad_input():
    cells = clumps(2)
    with pytest.raises(ParameterError, match="did you mean 'silhouette'"):
        spinney.choose_k(cells, rule="silhouete")
    with pytest.raises(ParameterError, match="rule="):
        spinney.choose_k(cells, rule=["gap"])
    with pytest.raises(ParameterError, match="did you mean 'gap'"):
        spinney.choose_k(cells, measures=["gaps"])
    with pytest.raises(ParameterError, match="list of names"):
        spinney.choose_k(cells, measures="gap")
    for ks in (0, [], [0, 2], [2.5], ["2"], [True], None):
        with pytest.raises(ParameterError, match="ks="):
            spinney.choose_k(cells, ks)
    with pytest.raises(ParameterError, match="ks='all'"):
        spinney.choose_k(cells, "all")
    with pytest.raises(DataError, match="contains 5, but there are 2 distinct rows"):
        spinney.choose_k([[1.0], [2.0], [1.0], [2.0], [1.0], [1.0]], [2, 5])
    for name in ("silhouette_rows", "gap_rows", "gap_tables"):
        with pytest.raises(ParameterError, match=name):
            spinney.choose_k(cells, **{name: 0})
    with pytest.raises(ParameterError, match="init must be a name"):
        spinney.choose_k(cells, init=cells[:2])
    with pytest.raises(ParameterError, match="init must be a name"):
        spinney.KMeans("auto", init=cells[:2]).fit(cells)
    with pytest.raises(ParameterError, match="n_clusters='many'"):
        spinney.KMeans("many").fit(cells)
    with pytest.raises(DataError, match="NaN"):
        spinney.choose_k([[np.nan], [1.0]])
    with pytest.raises(DataError, match="weight"):
        spinney.choose_k(cells, sample_weight=np.zeros(len(cells)))
    with pytest.raises(DataError, match="no row has weight"):
        choose(cells, weights=np.zeros(len(cells)))
    with pytest.raises(DataError, match="nominal"):
        spinney.choose_k({"hue": ["a", "b", "a"]})


@pytest.mark.parametrize("init", ["random", "optimal"])
def test_other_starts(init):
    cells = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    choice = spinney.choose_k(cells, init=init)
    assert choice.k == 3
    assert choice.n_starts == {"random": 4, "optimal": 1}[init]
    model = spinney.KMeans("auto", init=init, random_state=0).fit(cells)
    assert model.choice_ == choice
