"""Trees with formulas: neither the order of rows nor units matter."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.construct import construct_and_grow
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@st.composite
def planted(draw: st.DrawFn, *, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Draw three numbers a row, and classes on two or three sides of a slope."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_rows = draw(st.integers(40, 90))
    rows = random.normal(size=(n_rows, 3)) @ random.normal(size=(3, 3))
    if whole:
        rows = np.round(2 * rows)
    slope = rows @ [1.0, draw(st.floats(-2, 2)), 0.2] + 0.2 * random.normal(size=n_rows)
    cuts = np.quantile(slope, draw(st.sampled_from([[0.5], [0.3, 0.6]])))
    return rows, np.searchsorted(cuts, slope)


def source_of(rows: np.ndarray, classes: np.ndarray, **more: Any) -> MemorySource:
    attributes = tuple(Attribute(name, "numeric") for name in "xyz")
    labels = tuple("abc"[: int(classes.max()) + 1])
    schema = Schema(attributes, Target("y", labels))
    return MemorySource(schema, rows.T, classes=classes, **more)


def outline(tree: Any) -> list[Any]:
    """What the nodes are; parts of rows that missing values divide add up roughly."""
    return [
        (n.parent, n.branch, rounded(n.split), n.weights.round(9).tolist(), n.reason)
        for n in tree.nodes
    ]


def rounded(split: Any) -> Any:
    if split is None:
        return None
    return replace(split, shares=tuple(round(share, 9) for share in split.shares))


SETTINGS = st.sampled_from(
    [
        RECIPES["id3"].changed(linear_terms=3, max_depth=3),
        RECIPES["c4.5"].changed(linear_terms=2, max_depth=4),
        RECIPES["cart"].changed(linear_terms=3),
        RECIPES["c4.5"].changed(construct=2, max_depth=3),
        RECIPES["cart"].changed(construct=2, linear_terms=2, max_depth=3),
    ]
)


@given(planted(whole=True), SETTINGS, st.randoms())
@settings(max_examples=examples(40))
def test_the_order_of_rows_does_not_matter(drawn, recipe, random):
    rows, classes = drawn
    order = list(range(len(rows)))
    random.shuffle(order)
    one = construct_and_grow(source_of(rows, classes), recipe)
    other = construct_and_grow(source_of(rows[order], classes[order]), recipe)
    assert one.schema == other.schema
    assert outline(one) == outline(other)


@given(
    planted(),
    st.sampled_from(["id3", "cart"]),
    st.lists(st.sampled_from([0.001, 0.1, 10.0, 1e6]), min_size=3, max_size=3),
)
@settings(max_examples=examples(40))
def test_units_do_not_matter(drawn, recipe, factors):
    """Powers of ten keep the digits, and so the rounded coefficients, as they are."""
    rows, classes = drawn
    settings_ = RECIPES[recipe].changed(linear_terms=3, max_depth=3)
    one = grow_tree(source_of(rows, classes), settings_)
    other = grow_tree(source_of(rows * factors, classes), settings_)
    assert [n.weights.tolist() for n in one] == [n.weights.tolist() for n in other]
    pairs = zip(one.schema.attributes, other.schema.attributes, strict=True)
    for mine, theirs in pairs:
        if mine.formula is not None:
            assert mine.formula.attribute_indices == theirs.formula.attribute_indices
            own = np.array(theirs.formula.coefficients) * np.take(
                factors, theirs.formula.attribute_indices
            )
            ratio = own / np.array(mine.formula.coefficients)
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@given(planted(), st.floats(-1e3, 1e3))
@settings(max_examples=examples(25))
def test_where_numbers_begin_does_not_matter(drawn, start):
    rows, classes = drawn
    recipe = RECIPES["cart"].changed(linear_terms=3, max_depth=2)
    one = grow_tree(source_of(rows, classes), recipe)
    other = grow_tree(source_of(rows + start, classes), recipe)
    assert [n.weights.tolist() for n in one] == [n.weights.tolist() for n in other]


@given(planted(whole=True), SETTINGS)
@settings(max_examples=examples(25))
def test_rows_go_where_they_went_in_training(drawn, recipe):
    """The counts of the leaves are those of the rows that predicting sends there."""
    rows, classes = drawn
    data = {name: rows[:, place] for place, name in enumerate("xyz")}
    data["label"] = np.array(list("abc"))[classes]
    changed = replace(recipe, missing_policy="most-common")
    model = spinney.grow(data, "label", recipe=changed)
    leaves = model.apply(data)
    for leaf in model.tree.leaves:
        assert (leaves == leaf.number).sum() == leaf.n_rows


@given(planted(whole=True))
@settings(max_examples=examples(20))
def test_a_source_grows_one_tree_after_another(drawn):
    source = source_of(*drawn)
    recipe = RECIPES["cart"].changed(linear_terms=2, construct=2, max_depth=3)
    one = construct_and_grow(source, recipe)
    construct_and_grow(source, RECIPES["id3"].changed(construct=3))
    assert outline(construct_and_grow(source, recipe)) == outline(one)
    assert source.schema.n_columns == len(source.schema.attributes) == 3
