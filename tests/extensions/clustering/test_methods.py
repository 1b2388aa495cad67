"""How many clusters a mixed table has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extensions.clustering.test_fit_k_prototypes import numeric_cells
from tests.twins import naive_choosing
from tests.twins.naive_prototypes import distance_of_rows

import spinney
from spinney import KPrototypes
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering.choose_k.choice_rules import find_elbow
from spinney.extensions.clustering.choose_k.cluster_measures import (
    mean_silhouette_widths,
)
from spinney.extensions.clustering.choose_k.select_k import WorkLimits, choose
from spinney.extensions.clustering.prototypes.fit_k_prototypes import KPrototypesMethod
from spinney.extensions.clustering.prototypes.mixed_cells import distances_between_rows

KINDS = ["numeric", "nominal", 3]
CLUMPS = [(0.0, 0, 0), (10.0, 1, 1), (20.0, 2, 2)]


def choose_mixed(cells, ks="auto", *, n_init=1, **how):
    """Choose by k-prototypes."""
    return choose(cells, ks, method=KPrototypesMethod(n_init=n_init), **how)


def clumps(copies=6):
    """Return rows about three middles, with gaps here and there."""
    rows = []
    for number, name, rank in CLUMPS:
        for turn in range(copies):
            row = [number + turn / 10, name, rank]
            if turn % 3:
                row[turn % 3] = None
            rows.append(row)
    return rows


@st.composite
def mixed_rows(draw):
    """Return rows, the cluster and the weight of each, and γ."""
    number = st.none() | st.integers(-3, 3).map(float)
    name = st.none() | st.integers(0, 2)
    row = st.tuples(number, name, name).map(list)
    lines = draw(
        st.lists(
            st.tuples(row, st.integers(0, 2), st.integers(1, 3)),
            min_size=1,
            max_size=12,
        )
    )
    return *map(list, zip(*lines, strict=True)), draw(st.sampled_from([0.0, 0.5, 2.0]))


@given(mixed_rows())
def test_the_naive_twin(case):
    rows, labels, weights, gamma = case
    cells, own = numeric_cells(rows, KINDS), np.array(weights, float)

    def apart(one, other):
        return distance_of_rows(one, other, KINDS, gamma)

    distances = distances_between_rows(cells, slice(None), gamma)
    by_hand = [[apart(one, other) for other in rows] for one in rows]
    np.testing.assert_allclose(distances, by_hand, rtol=1e-12)
    codes = np.unique(labels, return_inverse=True)[1]
    (found,) = mean_silhouette_widths(lambda part: distances[part], [codes], own)
    told = naive_choosing.silhouette(rows, labels, weights, apart)
    assert (found is None) == (told is None)
    assert told is None or found == pytest.approx(told, abs=1e-9)


def test_a_line_is_k_prototypes_and_its_silhouette():
    rows = clumps()
    weights = [1 + place % 3 for place in range(len(rows))]
    own = np.array(weights, float)
    method = KPrototypesMethod(gamma=0.5, n_init=2, seed=1)
    choice = choose(numeric_cells(rows, KINDS), weights=own, method=method)

    def apart(one, other):
        return distance_of_rows(one, other, KINDS, 0.5)

    for line in choice.curve[:2]:
        found = method.fit(numeric_cells(rows, KINDS), line.k, weights=own)
        assert line.inertia == pytest.approx(found.inertia, rel=1e-12)
        told = naive_choosing.silhouette(rows, found.labels.tolist(), weights, apart)
        assert line.silhouette == pytest.approx(told, abs=1e-9)


def test_three_clumps():
    told = []
    choice = choose_mixed(
        numeric_cells(clumps(), KINDS),
        n_init=4,
        progress=lambda done, total: told.append((done, total)),
    )
    assert (choice.k, choice.rule, choice.silhouette_rows) == (3, "silhouette", None)
    assert choice.measures == ("silhouette", "elbow")
    assert told == [(done, 9) for done in range(1, 10)]
    costs = np.array([line.inertia for line in choice.curve])
    heights = find_elbow(np.arange(2.0, 11.0), costs).differences
    assert [line.elbow for line in choice.curve] == heights.tolist()
    by_elbow = choose_mixed(numeric_cells(clumps(), KINDS), n_init=4, rule="elbow")
    assert (by_elbow.k, by_elbow.rule) == (3, "elbow")


def test_numbers_alone_have_the_silhouettes_of_k_means():
    rows = [[number] for number in (0.0, 1.0, 10.0, 11.0, 20.0, 21.5)]
    mixed = choose_mixed(numeric_cells(rows, ["numeric"]), range(2, 4), n_init=9)
    plain = choose(np.array(rows), range(2, 4))
    for one, other in zip(mixed.curve, plain.curve, strict=True):
        assert one.inertia == pytest.approx(other.inertia)
        assert one.silhouette == pytest.approx(other.silhouette)


def test_order_weights_and_samples():
    rows = clumps()
    order = np.random.default_rng(3).permutation(len(rows))
    cells = numeric_cells(rows, KINDS)
    twice = numeric_cells([*rows, *rows], KINDS)
    first = choose_mixed(cells, n_init=3)
    assert choose_mixed(cells[order], n_init=3).curve == first.curve
    weighted = choose_mixed(cells, weights=np.full(len(rows), 2.0), n_init=3)
    assert choose_mixed(twice, n_init=3).curve == weighted.curve
    some = choose_mixed(cells, n_init=3, limits=WorkLimits(silhouette_rows=10))
    assert (some.k, some.silhouette_rows) == (3, 10)
    assert "silhouette: from a sample of 10 rows" in str(some)


def test_hard_cases():
    one = choose_mixed(numeric_cells([[1.0, 0, 0]] * 4, KINDS))
    assert (one.k, one.n_rows) == (1, 1)
    with pytest.raises(DataError, match="contains 5, but there are 3 distinct rows"):
        choose_mixed(numeric_cells([[x, 0, 0] for x in (1.0, 2.0, 3.0)], KINDS), [2, 5])
    with pytest.raises(DataError, match="no row has weight"):
        choose_mixed(numeric_cells(clumps(), KINDS), weights=np.zeros(18))
    with pytest.raises(ParameterError, match="rule='gap' applies to k-means"):
        choose_mixed(numeric_cells(clumps(), KINDS), rule="gap")
    unknown = choose_mixed(numeric_cells([[None, 0, 0], [None, 1, 2]], KINDS))
    assert [line.k for line in unknown.curve] == [2]


def test_numbers_near_the_limits_of_floats():
    huge = [[row[0] and row[0] * 1e300, *row[1:]] for row in clumps()]
    choice = choose_mixed(numeric_cells(huge, KINDS), range(2, 5), n_init=4)
    assert choice.k == 3
    assert choice.curve[0].inertia == np.inf
    assert choice.curve[0].elbow is None
    with pytest.raises(DataError, match="rule='elbow' needs finite inertias"):
        choose_mixed(numeric_cells(huge, KINDS), range(2, 5), rule="elbow")
    tiny = [[row[0] * 1e-300] for row in clumps() if row[0] is not None]
    assert choose_mixed(numeric_cells(tiny, ["numeric"]), range(2, 5), n_init=4).k == 3


def test_the_estimator_chooses(tmp_path):
    melons = {"hue": list("aaabbbccc"), "size": [0, 1, 2, 50, 51, 52, 90, 91, 92]}
    model = KPrototypes("auto", random_state=0).fit(melons)
    assert (model.choice_.k, model.choice_.rule) == (3, "silhouette")
    assert len(model.cluster_centers_) == 3
    assert model.choice_.line.inertia == pytest.approx(model.cost_)
    same = KPrototypes(3, random_state=0).fit(melons)
    assert same.labels_.tolist() == model.labels_.tolist()
    model.save(tmp_path / "m")
    again = spinney.load(tmp_path / "m")
    assert again.n_clusters == "auto"
    assert again.predict(melons).tolist() == model.labels_.tolist()
    assert not hasattr(model.set_params(n_clusters=2).fit(melons), "choice_")
    with pytest.raises(ParameterError, match="n_clusters='many' is unknown"):
        KPrototypes("many").fit(melons)
    with pytest.raises(ParameterError, match="init must be a name"):
        KPrototypes("auto", init=same.cluster_centers_).fit(melons)


def test_standardised_columns(tmp_path):
    sizes = np.array([0.0, 10.0, 20.0, 900.0, np.nan, 920.0])
    table = {"hue": list("aabbab"), "size": sizes, "age": [1.0, 5, 1, 5, 1, 5]}
    spreads = {name: np.nanstd(table[name]) for name in ("size", "age")}
    scaled = {
        name: column if name == "hue" else np.array(column) / spreads[name]
        for name, column in table.items()
    }
    model = KPrototypes(2, standardise=True, random_state=0).fit(table)
    plain = KPrototypes(2, random_state=0).fit(scaled)
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert model.gamma_ == pytest.approx(0.5)
    assert model.cost_ == pytest.approx(plain.cost_)
    for place, name in ((1, "size"), (2, "age")):
        np.testing.assert_allclose(
            model.cluster_centers_[:, place].astype(float),
            plain.cluster_centers_[:, place].astype(float) * spreads[name],
        )
    assert model.predict(table).tolist() == model.labels_.tolist()
    assert model.score(table) == pytest.approx(-model.cost_)
    model.save(tmp_path / "m")
    again = spinney.load(tmp_path / "m")
    assert again.standardise
    assert again.predict(table).tolist() == model.labels_.tolist()
    assert again.fit(table).cost_ == pytest.approx(model.cost_)
    start = KPrototypes(2, init=model.cluster_centers_, standardise=True).fit(table)
    assert start.labels_.tolist() == model.labels_.tolist()
