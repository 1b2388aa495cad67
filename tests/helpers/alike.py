"""What it is for trees of compiled kernels to be those of the plain learner."""

import numpy as np
import pytest

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.growth_options import Options
from spinney.output.file.file_arrays import flatten
from spinney.sources.rows.training_rows import TrainingSet
from spinney.trees import Tree

# What no compiled loop knows.
PLAIN_OPTIONS = (
    Options(preference=(1,)),
    Options(forced={(): 0}),
    Options(prices={0: 1.0}),
)


def four_rows():
    """Return rows of a number, which is missing once, and a name."""
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("c", "nominal", ("u", "v"))),
        Target("y", ("a", "b")),
    )
    columns = (np.array([1.0, np.nan, 3.0, 4.0]), np.array([0, 1, 1, 0]))
    return TrainingSet(schema, columns, np.array([0, 1, 0, 1]), None)


def same_tree(plain, swift, same, **options):
    """Refuse trees of which some nodes are not the same."""
    assert len(plain) == len(swift)
    for one, other in zip(plain, swift, strict=True):
        same(one, other, **options)
    filed_as_its_nodes(swift)


def filed_as_its_nodes(tree):
    """Refuse a tree whose arrays are filed otherwise than the nodes made of them."""
    from_arrays = flatten(tree)
    from_nodes = flatten(Tree(tree.schema, tuple(tree)))
    for name, array in from_nodes.items():
        np.testing.assert_array_equal(from_arrays[name], array, err_msg=name)


def same_numbers(one, other, *, rtol=1e-7, atol=0.0):
    """Refuse numbers that differ in more than rounding.

    Nearly all are the same to the last bit, which is seen in a tenth of the time.
    """
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or not (one == other).all():
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def same_node(one, other):
    """Refuse nodes that differ in more than rounding."""
    for name in ("number", "parent", "branch", "depth", "n_rows", "label", "reason"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.children == other.children
    same_numbers(one.weights, other.weights, atol=1e-9)
    same_numbers(one.distribution, other.distribution, atol=1e-9)
    assert one.is_leaf == other.is_leaf
    if not one.is_leaf:
        assert other.candidate.exact or other.candidate.given
        same_candidate(one.candidate, other.candidate)


def same_candidate(one, other):
    """Refuse splits and counts that differ in more than rounding."""
    assert type(one.split) is type(other.split)
    for name in ("attribute", "missing", "threshold", "groups"):
        assert getattr(one.split, name, None) == getattr(other.split, name, None), name
    same_numbers(one.split.shares, other.split.shares)
    assert one.gain == pytest.approx(other.gain, abs=1e-9)
    assert one.merit == pytest.approx(other.merit, abs=1e-9)
    for name in ("values", "weights", "rows", "missing", "missing_rows"):
        mine, theirs = getattr(one.table, name), getattr(other.table, name)
        same_numbers(mine, theirs, rtol=1e-9, atol=1e-9)
        assert mine.dtype == theirs.dtype


def same_surrogates(one, other):
    """Refuse nodes whose surrogates differ in more than rounding."""
    assert one.children == other.children
    assert one.default_branch == other.default_branch
    found = [surrogate.split for surrogate in other.surrogates]
    assert [surrogate.split for surrogate in one.surrogates] == found
    for plain, swift in zip(one.surrogates, other.surrogates, strict=True):
        assert plain.reversed == swift.reversed
        assert plain.agreement == pytest.approx(swift.agreement, abs=1e-12)
        assert plain.adjusted == pytest.approx(swift.adjusted, abs=1e-9)
