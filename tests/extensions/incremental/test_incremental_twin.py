"""Streams of rows that come and go end in the tree of all rows at once.

The twin is the learner itself over the rows that are left: it counts all of them.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.data import Declarations
from spinney.data.readers import read_table
from spinney.errors import SpinneyWarning
from spinney.extensions.incremental import incremental_source
from spinney.models import grow_model
from spinney.recipes import Recipe
from spinney.sources.rows import rows_in_memory
from spinney.sources.training_data import TrainingData
from spinney.testing import assert_same_tree

Columns = dict[str, list[Any]]

RECIPES = {
    "id3": {"recipe": "id3"},
    "c4.5": {"recipe": "c4.5"},
    "cart": {"recipe": "cart"},
    "limited": {"recipe": "cart", "max_leaves": 5, "min_samples_leaf": 2},
    "shares": {"recipe": "cart", "min_samples_leaf": 0.05},
    "branch": {"recipe": "cart", "missing_policy": "branch"},
    "typical": {"recipe": "id3", "missing_policy": "most-common"},
    "merged": {"recipe": Recipe.named("chaid").changed(alpha_split=1.0)},
    "buckets": {"recipe": "id3", "buckets": "equal-width", "n_buckets": 3},
    "priced": {"recipe": "id3", "test_costs": {"number": 0.5}},
    "balanced": {"recipe": "cart", "class_weight": "balanced"},
}
NUMERIC = {
    "cart": {"recipe": "cart"},
    "id3": {"recipe": "id3"},
    "m5 tree": {"recipe": Recipe.named("m5").changed(leaves="mean", smoothing=0.0)},
}


class Stream:
    """Rows that come and go, and those that are left, in their order."""

    def __init__(self, seed: int, *, numeric: bool, absent: float, weighed: int):
        self.random = np.random.default_rng(seed)
        self.numeric, self.absent, self.weighed = numeric, absent, weighed
        self.left: Columns = {}
        self.n_batches = 0

    def drawn(self, n_rows: int) -> Columns:
        """Draw rows; later ones have values and classes that earlier ones lack."""
        random, n_values = self.random, 2 + min(self.n_batches, 4)
        self.n_batches += 1
        letters = np.array(list("gcxaks"))[:n_values]
        number = random.integers(0, 8 + self.n_batches, n_rows) / 2
        letter = random.choice(letters, n_rows)
        real = random.normal(size=n_rows).round(2)
        columns: Columns = {
            "letter": letter.tolist(),
            "number": number.tolist(),
            "real": real.tolist(),
            "flag": random.choice(["yes", "no"], n_rows).tolist(),
        }
        for cells in columns.values():
            for at in np.flatnonzero(random.random(n_rows) < self.absent):
                cells[at] = None
        code = (number > 2) + (letter == "g") + (random.random(n_rows) < 0.2)
        if self.numeric:
            noise = random.normal(size=n_rows).round(2) * (self.weighed != 1)
            columns["y"] = (code * 3.0 + noise + 10).tolist()
        else:
            columns["y"] = np.array(list("mnop"))[code % n_values].tolist()
        if self.weighed:
            divisor = 1 if self.weighed == 1 else 3
            columns["w"] = (random.integers(1, 4, n_rows) / divisor).tolist()
        return columns

    def take(self, n_rows: int) -> Columns | None:
        """Take rows away."""
        n_left = len(self.left["y"])
        n_rows = min(n_rows, n_left - 2)
        if n_rows <= 0:
            return None
        gone = self.random.choice(n_left, n_rows, replace=False)
        removed = {c: [cells[i] for i in gone] for c, cells in self.left.items()}
        # Of equal rows the oldest goes.
        for row in zip(*removed.values(), strict=True):
            rows = list(zip(*self.left.values(), strict=True))
            at = rows.index(row)
            self.left = {c: v[:at] + v[at + 1 :] for c, v in self.left.items()}
        return removed

    def add(self, columns: Columns) -> None:
        self.left = {c: [*self.left.get(c, []), *cells] for c, cells in columns.items()}


def grown_at_once(stream: Stream, settings: dict[str, Any], origin: float | None):
    """Return the model of all rows that are left."""
    declared = Declarations(numeric=("y",) if stream.numeric else ())
    rows = rows_in_memory(
        read_table(stream.left, declarations=declared),
        "y",
        "w" if stream.weighed else None,
        declared,
        from_zero=False,
    )
    if origin is not None:  # where moments are measured from is a matter of rounding
        target = replace(rows.schema.target, origin=origin)
        rows = replace(rows, schema=replace(rows.schema, target=target))
    options = dict(settings)
    own = {"missing_policy", "max_leaves", "min_samples_leaf", "buckets", "n_buckets"}
    changed = {name: options.pop(name) for name in own & set(options)}
    recipe = Recipe.named(options.pop("recipe")).changed(**changed)
    return grow_model(TrainingData(rows), recipe=recipe, **options)


def follow(stream: Stream, settings: dict[str, Any], steps: list[tuple[int, int]]):
    """Compare the model after each step with that of the rows that are left."""
    first = stream.drawn(40)
    stream.add(first)
    numeric = {"numeric": ["y"]} if stream.numeric else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        model = spinney.grow(
            first,
            "y",
            weight="w" if stream.weighed else None,
            keep_rows=True,
            **numeric,
            **settings,
        )
        for n_added, n_removed in steps:
            added = stream.drawn(n_added) if n_added else None
            removed = stream.take(n_removed)
            if added is not None:
                stream.add(added)
            if added is None and removed is None:
                continue
            if not stream.numeric and len(set(stream.left["y"])) < 2:
                return
            model = model.updated(added, remove=removed)
            expected = grown_at_once(stream, settings, model.schema.target.origin)
            assert model.schema == expected.schema
            whole = stream.weighed < 2 and not stream.numeric
            assert_same_tree(expected.tree, model.tree, whole=whole)
            assert model.model_.fingerprint == expected.fingerprint


steps = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=4
)
streams = st.tuples(
    st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.15]), st.integers(0, 2)
)


@pytest.fixture(autouse=True, scope="module")
def small_nodes_store_tables() -> Any:
    few, incremental_source.MAX_UNCACHED_ROWS = incremental_source.MAX_UNCACHED_ROWS, 3
    yield
    incremental_source.MAX_UNCACHED_ROWS = few


@given(st.sampled_from(sorted(RECIPES)), streams, steps)
@settings(max_examples=examples(60))
def test_streams_of_classes_end_in_the_tree_of_all_rows(name, drawn, steps):
    seed, absent, weighed = drawn
    stream = Stream(seed, numeric=False, absent=absent, weighed=weighed)
    follow(stream, RECIPES[name], steps)


@given(st.sampled_from(sorted(NUMERIC)), streams, steps)
@settings(max_examples=examples(24))
def test_streams_of_numbers_end_in_the_tree_of_all_rows(name, drawn, steps):
    seed, absent, weighed = drawn
    stream = Stream(seed, numeric=True, absent=absent, weighed=weighed)
    follow(stream, NUMERIC[name], steps)
