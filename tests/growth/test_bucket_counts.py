"""Numbers counted by buckets below the root: the tree of counts by every value."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import _Learner
from spinney.search.buckets import in_buckets
from spinney.sources import TableRequest
from spinney.sources.rows import TrainingSet

CHAID = {"recipe": "chaid", "min_samples_split": 2, "min_samples_leaf": 1}


@st.composite
def tables(draw):
    """Draw a table of numbers and names, some of them missing, of two or three classes.

    Numbers of few digits are there often; -0.0 is 0.0.
    """
    n_rows, seed = draw(st.integers(30, 200)), draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    cells = random.normal(size=(3, n_rows)).round(draw(st.sampled_from([0, 1, 9])))
    names = random.choice(list("abcd"), n_rows)
    score = cells[0] + np.abs(cells[1]) + (names == "b") + random.normal(size=n_rows)
    classes = np.digitize(score, draw(st.sampled_from([[0.5], [0.0, 1.5]])))
    if draw(st.booleans()):
        cells[1, random.random(n_rows) < 0.1] = np.nan
    columns = {f"x{j}": own.tolist() for j, own in enumerate(cells)}
    return columns | {"name": names.tolist(), "class": [f"c{c}" for c in classes]}


def written(tree):
    """Return all that nodes and their candidates are, to the last bit."""
    return [repr(replace(node, candidates=tuple(node.candidates))) for node in tree]


@given(table=tables())
@settings(max_examples=examples(60), deadline=None)
def test_the_tree_is_that_of_counts_by_every_value(table):
    asked = []
    by_buckets = _Learner.buckets_suffice

    def noted(self, front):
        asked.append(by_buckets(self, front))
        return asked[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Learner, "buckets_suffice", noted)
        by_kernels = spinney.grow(table, "class", **CHAID, measure_quality=False)
        patch.setattr(_Learner, "buckets_suffice", lambda self, front: False)
        plain = spinney.grow(table, "class", **CHAID, measure_quality=False)
    assert not asked[0]  # the root makes the buckets
    assert all(asked[1:])
    assert written(by_kernels.tree) == written(plain.tree)


@pytest.mark.parametrize(
    "more", [{"class_weight": {"c0": 2, "c1": 1, "c2": 1}}, {"weight": "w"}]
)
def test_what_rows_weigh_is_counted_by_every_value(more, monkeypatch):
    random = np.random.default_rng(0)
    table = {f"x{j}": random.uniform(0.1, 1, 90).tolist() for j in range(3)}
    noisy = random.uniform(-0.3, 0.3, 90) + table["x1"]
    table["class"] = [f"c{c}" for c in np.digitize(noisy, [0.4, 0.7])]
    table["w"] = random.choice([1.0, 1.5, 2.5], 90).tolist()
    asked, by_buckets = [], _Learner.buckets_suffice

    def noted(self, front):
        asked.append(by_buckets(self, front))
        return asked[-1]

    monkeypatch.setattr(_Learner, "buckets_suffice", noted)
    settings = by_recipe(**CHAID, alpha_split=0.99)
    spinney.grow(table, "class", **settings, **more, measure_quality=False)
    assert len(asked) > 1
    assert not any(asked)


def source_of(numbers):
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("name", "nominal", ("a", "b"))),
        Target("class", ("no", "yes")),
    )
    names, classes = np.arange(len(numbers)) % 2, np.arange(len(numbers)) % 2
    return TrainingSet(schema, (numbers, names), classes, None).source()


def test_a_bucket_has_the_least_and_the_greatest_of_its_numbers():
    numbers = np.array([1.0, 2.0, 4.0, 8.0, np.nan, -0.0, 2.0])
    cuts = {0: np.array([2.0, 5.0])}  # to 2, to 5, and above
    (stack,) = source_of(numbers).tables_in_buckets([TableRequest(0, (0, 1))], cuts)
    assert stack.values.tolist() == [2.0, 4.0, 8.0, 0.0, 1.0]
    assert stack.low.tolist() == [0.0, 4.0, 8.0, 0.0, 1.0]
    assert str(stack.low[0]) == "0.0"
    assert stack.rows[:3].tolist() == [[2, 2], [1, 0], [0, 1]]
    assert stack.missing_rows[0].tolist() == [1, 0]


@given(seed=st.integers(0, 2**32 - 1), n_cuts=st.integers(0, 4))
@settings(max_examples=examples(60), deadline=None)
def test_buckets_count_what_their_values_do(seed, n_cuts):
    random = np.random.default_rng(seed)
    numbers = random.normal(size=40).round(1)
    numbers[random.random(40) < 0.1] = np.nan
    cuts = {0: np.sort(random.normal(size=n_cuts))}
    source, asked = source_of(numbers), [TableRequest(0, (0, 1))]
    (fine,) = source.tables(asked)
    (stack,) = source.tables_in_buckets(asked, cuts)
    (one, _), (other, _) = in_buckets(fine, cuts), in_buckets(stack, cuts)
    for name in ("start", "values", "weights", "rows", "missing", "missing_rows"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
