"""Associations against SciPy, and against their naive twin."""

from math import isnan, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.helpers.fuzz import examples
from tests.helpers.strategies import TABLES
from tests.twins.naive_association import association as twin

import spinney
from spinney.data.association import association_of
from spinney.data.table import Column
from spinney.errors import DataError, ParameterError

PENGUINS = pd.read_csv(TABLES / "penguins.csv", na_values=["?", ""])


@pytest.fixture(scope="module")
def penguins():
    return spinney.association(TABLES / "penguins.csv", missing_values=["?"])


def value(found, one, other):
    return found.values[found.names.index(one), found.names.index(other)]


def test_numbers_as_scipy(penguins):
    pair = PENGUINS[["bill_length_mm", "bill_depth_mm"]].dropna()
    expected = stats.pearsonr(*pair.to_numpy().T).statistic
    assert value(penguins, *pair.columns) == pytest.approx(expected, abs=1e-12)
    assert penguins.rows[2, 3] == len(pair)


def test_names_as_scipy(penguins):
    pair = PENGUINS[["species", "island"]].dropna()
    table = pd.crosstab(pair["species"], pair["island"]).to_numpy()
    expected = stats.contingency.association(table, method="cramer")
    assert value(penguins, "species", "island") == pytest.approx(expected, abs=1e-12)


def test_names_and_numbers_as_scipy(penguins):
    pair = PENGUINS[["species", "body_mass_g"]].dropna()
    groups = [own["body_mass_g"] for _, own in pair.groupby("species")]
    f, n, k = stats.f_oneway(*groups).statistic, len(pair), len(groups)
    expected = sqrt(f * (k - 1) / (f * (k - 1) + n - k))
    assert value(penguins, "body_mass_g", "species") == pytest.approx(expected)


def test_ordered_columns_by_their_ranks_as_scipy():
    random = np.random.default_rng(0)
    size = random.integers(0, 4, 50)
    price = size + random.normal(size=50)
    sort = random.choice(["x", "y", "z"], size=50)
    levels = np.array(["small", "middle", "large", "huge"])
    table = {"size": levels[size], "price": price, "sort": sort}
    found = spinney.association(table, ordinal={"size": levels.tolist()})
    rho = stats.spearmanr(size, price).statistic
    assert value(found, "size", "price") == pytest.approx(rho, abs=1e-12)
    h = stats.kruskal(*(size[sort == each] for each in "xyz")).statistic
    assert value(found, "size", "sort") == pytest.approx(sqrt(h / 49))
    assert found.measure(0, 1) == "Spearman's rho"
    assert found.measure(0, 2) == "correlation ratio"


cells = {
    "numeric": st.sampled_from([None, -1.5, 0.0, 0.1, 2.0, 1e6]),
    "ordinal": st.sampled_from([None, 0, 1, 2]),
    "nominal": st.sampled_from([None, 0, 1, 2]),
}


@st.composite
def pairs(draw):
    kinds = draw(st.tuples(*[st.sampled_from(sorted(cells))] * 2))
    n = draw(st.integers(1, 12))
    rows = [draw(st.tuples(*(cells[kind] for kind in kinds))) for _ in range(n)]
    weights = [draw(st.integers(0, 3)) for _ in range(n)]
    return kinds, rows, weights


def columns(kinds, rows):
    made = []
    for at, kind in enumerate(kinds):
        own = [row[at] for row in rows]
        if kind == "numeric":
            codes = np.array([nan if cell is None else cell for cell in own])
            made.append(Column("ab"[at], kind, codes))
        else:
            codes = np.array([-1 if cell is None else cell for cell in own], np.int32)
            made.append(Column("ab"[at], kind, codes, ("x", "y", "z")))
    return made


@given(pairs())
@settings(max_examples=examples(300))
def test_the_twin(pair):
    kinds, rows, weights = pair
    found = association_of(columns(kinds, rows), np.array(weights, float))
    copies = [
        row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)
    ]
    expected = twin(kinds, copies)
    for at in ((0, 1), (1, 0)):
        assert isnan(found.values[at]) == isnan(expected)
        assert isnan(expected) or found.values[at] == pytest.approx(expected, abs=1e-7)
    if copies:
        again = association_of(columns(kinds, copies))
        np.testing.assert_allclose(found.values, again.values, atol=1e-9)


def test_weights_of_a_column():
    table = {"a": [1, 2, 3, 4], "b": [1, 3, 2, 9], "w": [1, 2, 0, 1]}
    found = spinney.association(table, weight="w", numeric=["a", "b"])
    assert found.names == ("a", "b")
    r = stats.pearsonr([1, 2, 2, 4], [1, 3, 3, 9]).statistic
    assert found.values[0, 1] == pytest.approx(r)
    with pytest.raises(DataError, match="there is no column 'v'"):
        spinney.association(table, weight="v")


def test_a_column_of_one_value_goes_with_nothing():
    found = spinney.association({"a": [1.5, 2.5, 3.5], "b": ["x", "x", "x"]})
    assert isnan(found.values[0, 1])
    assert isnan(found.values[1, 1])
    assert found.pairs() == []
    assert found.as_dict()["values"] == [[1.0, None], [None, None]]
    assert str(found).splitlines()[-1] == "2 b     -  -"


def test_groups_are_those_of_complete_linkage():
    random = np.random.default_rng(0)
    a = random.normal(size=200)
    b = a + 0.75 * random.normal(size=200)
    c = b + 0.75 * random.normal(size=200)
    found = spinney.association({"a": a, "b": b, "c": -c, "d": random.normal(size=200)})
    assert abs(value(found, "b", "c")) > 0.7 > abs(value(found, "a", "c"))
    # a and c hang together by b alone, so they are in two groups.
    groups = found.groups(0.7)
    assert len(groups) == 3
    for group in groups:
        least = found.least(group)
        assert least is None or least >= 0.7
    assert found.groups(0.0) == [(0, 1, 2, 3)]
    assert found.groups(1.0) == [(0,), (1,), (2,), (3,)]
    assert spinney.association({"a": [1, 2]}).groups() == [(0,)]
    with pytest.raises(ParameterError, match="threshold"):
        found.groups(1.5)


def test_the_text(penguins):
    lines = str(penguins).splitlines()
    assert lines[0].split() == [str(n) for n in range(1, 8)]
    assert lines[1].startswith("1 species")
    assert "  species, island                    0.6598  Cramér's V" in lines
    assert "Cramer's V" in penguins.text(ascii_only=True)
    assert max(map(len, penguins.text(width=40).splitlines()[:20])) <= 40


def test_many_columns_and_rows_without_any():
    assert spinney.association({"a": [], "b": []}).values.shape == (2, 2)
    wide = np.random.default_rng(0).normal(size=(30, 40))
    found = association_of(
        [Column(str(n), "numeric", line) for n, line in enumerate(wide.T)]
    )
    np.testing.assert_allclose(found.values, np.corrcoef(wide.T), atol=1e-12)
