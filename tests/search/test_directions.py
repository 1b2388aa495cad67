"""Directions of linear combinations: by hand, by scikit-learn, by a twin in loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from tests.helpers.fuzz import examples
from tests.twins import naive_linear

from spinney.data.formula import Linear
from spinney.data.schema import Attribute, Schema, Target
from spinney.search.oblique import directions
from spinney.search.oblique.directions import (
    RIDGE,
    discriminant,
    linear_combinations,
    rounded,
    superclasses,
)
from spinney.sources.base import ROOT, Products, TermRequest
from spinney.sources.rows.memory import MemorySource
from spinney.trees.linear import Term


def source_of(columns, classes, *, n_classes=2, weights=None, origin=None):
    attributes = tuple(Attribute(f"x{i}", "numeric") for i in range(len(columns)))
    labels = tuple("abcdefgh"[:n_classes])
    target = Target("y", labels) if origin is None else Target("y", origin=origin)
    schema = Schema(attributes, target)
    return MemorySource(schema, columns, classes=classes, weights=weights)


def products_of(source, places, origin=None):
    """Return how the numbers at some places vary, measured from an origin."""
    origin = np.zeros(len(places)) if origin is None else origin
    terms = tuple(Term(p, None, float(o)) for p, o in zip(places, origin, strict=True))
    (found,) = source.products([TermRequest(ROOT, terms, complete=True)])
    return found


def direction_of(formula: Linear, columns) -> np.ndarray:
    found = np.zeros(len(columns))
    found[list(formula.attribute_indices)] = formula.coefficients
    return found / np.linalg.norm(found)


def test_a_direction_by_hand():
    """Two classes with the scatter 2 0 / 0 8 and means (±1, ±2) in plain numbers.

    Standardised, both attributes have the variance 2/(2+1) = 8/(8+4) = 2/3 within, so
    β = S⁻¹d is (1, 1) and, in their own units with spreads √3 and √12, 1 : ½.
    """
    weights, means = np.array([1.0, 1.0]), np.array([[1.0, 2.0], [-1.0, -2.0]])
    scatter = np.diag([2.0, 8.0])
    products = Products(weights, means, np.array([scatter, scatter]))
    (found,) = linear_combinations(products, (4, 7), max_terms=2, numeric=False)
    assert found == Linear((4, 7), (1.0, 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_finds_the_same_discriminant(seed, monkeypatch):
    monkeypatch.setattr(directions, "RIDGE", 0.0)
    random = np.random.default_rng(seed)
    mixing = random.normal(size=(4, 4))
    classes = random.integers(0, 2, 200)
    rows = random.normal(size=(200, 4)) @ mixing + classes[:, None] * [2, 0, 1, 1]
    source = source_of(rows.T, classes)
    products = products_of(source, range(4), rows.mean(axis=0))
    (found,) = [
        f
        for f in linear_combinations(products, (0, 1, 2, 3), max_terms=4, numeric=False)
        if len(f.attribute_indices) == 4
    ]
    witness = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, classes).coef_[0]
    witness /= np.linalg.norm(witness)
    cosine = abs(direction_of(found, rows.T) @ witness)
    assert cosine == pytest.approx(1, abs=1e-6)


def test_scikit_learn_finds_the_same_least_squares(monkeypatch):
    monkeypatch.setattr(directions, "RIDGE", 0.0)
    random = np.random.default_rng(1)
    rows = random.normal(size=(100, 3)) * [1, 10, 0.1]
    numbers = rows @ [1, -0.2, 30] + random.normal(size=100)
    source = source_of(rows.T, numbers, origin=0.5)
    products = products_of(source, range(3))
    found = linear_combinations(products, (0, 1, 2), max_terms=3, numeric=True)[-1]
    witness = LinearRegression().fit(rows, numbers).coef_
    np.testing.assert_allclose(
        np.array(found.coefficients) / found.coefficients[0],
        witness / witness[0],
        rtol=2e-4,
    )


def test_superclasses_are_the_classes_that_are_near():
    means = np.array([[0.0, 0.0], [5.0, 5.0], [0.5, 0.0], [5.0, 4.0]])
    assert superclasses(means, np.ones(4)).tolist() == [True, False, True, False]
    assert superclasses(np.zeros((3, 2)), np.ones(3)) is None
    assert superclasses(np.zeros((3, 0)), np.ones(3)) is None


def test_the_weight_of_classes_moves_the_centres():
    means = np.array([[0.0], [4.0], [9.0]])
    assert superclasses(means, np.array([1.0, 1.0, 1.0])).tolist() == [1, 1, 0]
    assert superclasses(np.array([[0.0], [5.0], [9.0]]), np.ones(3)).tolist() == [
        1,
        0,
        0,
    ]


def test_constant_and_collinear_columns_do_no_harm():
    random = np.random.default_rng(2)
    x, y = random.normal(size=(2, 80))
    classes = (x + y > 0).astype(int)
    columns = [x, np.full(80, 3.0), y, 2 * x + 1]
    products = products_of(source_of(columns, classes), range(4))
    found = linear_combinations(products, (0, 1, 2, 3), max_terms=4, numeric=False)
    assert all(1 not in formula.attribute_indices for formula in found)
    assert all(np.isfinite(formula.coefficients).all() for formula in found)
    assert found[0].attribute_indices in {(0, 2), (2, 3)}


def test_nothing_to_tell_apart_is_no_direction():
    rows = np.random.default_rng(0).normal(size=(2, 20))
    one_class = source_of(rows, np.zeros(20, dtype=int))
    products = products_of(one_class, (0, 1))
    assert linear_combinations(products, (0, 1), max_terms=2, numeric=False) == []
    mirrored = np.hstack([rows, -rows, rows, -rows])
    classes = np.repeat([0, 1], 40)
    products = products_of(source_of(mirrored, classes), (0, 1))
    assert linear_combinations(products, (0, 1), max_terms=2, numeric=False) == []
    absent = source_of(np.full((2, 4), np.nan), np.array([0, 1, 0, 1]))
    products = products_of(absent, (0, 1))
    assert linear_combinations(products, (0, 1), max_terms=2, numeric=False) == []


@pytest.mark.parametrize("within", [0.0, 1e200])
def test_numbers_whose_squares_overflow_are_not_combined(within):
    classes = np.array([0, 0, 1, 1] * 5)
    x = np.where(classes, 1e200, -1e200) + within * np.tile([0.0, 1.0], 10)
    products = products_of(source_of([x, np.arange(20.0)], classes), (0, 1))
    assert linear_combinations(products, (0, 1), max_terms=2, numeric=False) == []


def test_terms_that_do_not_matter_are_left_out():
    assert rounded((0, 1, 2), np.array([1.0, 1e-7, -2.0]), np.ones(3)) == Linear(
        (0, 2), (0.5, -1.0)
    )
    assert rounded((0, 1), np.array([1.0, 1e-7]), np.ones(2)) is None
    # What matters is more than the last of four digits.
    assert rounded((0, 1), np.array([1.0, 0.99e-4]), np.ones(2)) is None
    assert rounded((0, 1), np.array([1.0, 1.01e-4]), np.ones(2)) is not None
    assert rounded((0, 1), np.zeros(2), np.ones(2)) is None


def test_rounding_does_not_hang_on_the_last_digits():
    half = np.array([1.0, 0.12345])
    above, below = half * [1, 1 + 1e-14], half * [1, 1 - 1e-14]
    assert rounded((0, 1), above, np.ones(2)) == rounded((0, 1), below, np.ones(2))


numbers = st.one_of(st.none(), st.integers(-9, 9).map(float))


@st.composite
def drawn_rows(draw, *, complete=False):
    cell = st.integers(-9, 9).map(float) if complete else numbers
    row = st.tuples(
        st.lists(cell, min_size=3, max_size=3),
        st.integers(0, 2),
        st.sampled_from([0.5, 1.0, 3.0]),
    )
    return draw(st.lists(row, min_size=4, max_size=30))


def as_source(rows):
    cells = [[np.nan if c is None else c for c in numbers] for numbers, *_ in rows]
    return source_of(
        np.array(cells).T,
        np.array([group for _, group, _ in rows]),
        n_classes=3,
        weights=np.array([weight for *_, weight in rows]),
    )


@given(drawn_rows())
@settings(max_examples=examples(60))
def test_products_are_those_of_plain_loops(rows):
    origin = np.array([0.5, -1.0])
    found = products_of(as_source(rows), (0, 2), origin)
    weights, means, spreads = naive_linear.products(rows, (0, 2), origin, 3)
    np.testing.assert_allclose(found.weights, weights)
    np.testing.assert_allclose(found.means, means, atol=1e-9)
    np.testing.assert_allclose(found.spreads, spreads, atol=1e-9)


@given(drawn_rows(complete=True))
@settings(max_examples=examples(100))
def test_the_direction_is_that_of_plain_loops(rows):
    system = discriminant(products_of(as_source(rows), range(3)), numeric=False)
    if len(system.terms) < 2:
        return
    present = sorted({group for _, group, _ in rows})
    places = tuple(system.terms)
    means = np.array(
        [
            [naive_linear.mean([r for r in rows if r[1] == g], p) for p in places]
            for g in present
        ]
    )
    weights = np.array([sum(r[2] for r in rows if r[1] == g) for g in present])
    sides = [False] * 3
    first = superclasses((means - means.mean(axis=0)) / system.spread, weights)
    for group, side in zip(present, first, strict=True):
        sides[group] = bool(side)
    direction, separation, spread = naive_linear.direction(rows, places, sides, RIDGE)
    np.testing.assert_allclose(system.spread, spread, rtol=1e-9)
    matrix = system.scatter + RIDGE * np.eye(len(places))
    found = np.linalg.solve(matrix, system.contrast)
    np.testing.assert_allclose(found, direction, rtol=1e-6, atol=1e-7)
    assert found @ system.contrast == pytest.approx(separation, rel=1e-6)
    # The loss that one solution gives is the loss of solving again without a term.
    inverse = np.linalg.inv(matrix)
    losses = found**2 / np.diag(inverse)
    for term, place in enumerate(places):
        rest = tuple(p for p in places if p != place)
        fewer = naive_linear.direction(rows, rest, sides, RIDGE)[1]
        assert separation - losses[term] == pytest.approx(fewer, rel=1e-5, abs=1e-6)
