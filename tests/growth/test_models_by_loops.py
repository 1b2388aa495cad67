"""The models of large trees: loops beside their twin, the sums that a source gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.engine import PLAIN
from spinney.growth.growth_options import Options
from spinney.growth.model_trees import m5, models_by_loops
from spinney.growth.model_trees.models_by_loops import fitted_by_loops
from spinney.recipes import RECIPES
from spinney.sources.opened import OpenedSource
from spinney.sources.rows import TrainingSet

M5 = RECIPES["m5"]
UNPRUNED = M5.changed(pruning="none", leaves="mean", smoothing=0.0)
MOST = m5.MOST_TERMS


@st.composite
def rows_of_numbers(draw):
    """Draw rows of numbers, ordered codes, a column twice, and weights or none."""
    n_rows, seed = draw(st.integers(20, 120)), draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    cells = random.normal(size=(3, n_rows)).round(draw(st.sampled_from([1, 9])))
    levels = random.integers(0, 4, n_rows)
    columns = [*cells, levels]
    if draw(st.booleans()):
        columns.append(cells[0] * 2 + 1)  # says what the first one says
    numbers = np.where(cells[0] > 0, 3 * cells[1], levels - cells[2])
    numbers = numbers + random.normal(size=n_rows) * draw(st.sampled_from([0, 0.3]))
    weights = draw(st.sampled_from([None, 1.0, 0.01]))
    if weights is not None:
        weights = weights * random.integers(1, 4, n_rows)
    kinds = ["numeric"] * 3 + ["ordinal"] + ["numeric"] * (len(columns) - 4)
    attributes = tuple(
        Attribute(f"x{j}", kind, ("a", "b", "c", "d") if kind == "ordinal" else ())
        for j, kind in enumerate(kinds)
    )
    origin = float(numbers.mean())
    schema = Schema(attributes, Target("y", origin=origin))
    return TrainingSet(schema, tuple(columns), numbers, weights)


def grown(rows):
    return PLAIN.grow(OpenedSource(rows), UNPRUNED, Options())


def by_loops(tree, rows, parts=models_by_loops.PARTS):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models_by_loops, "FEWEST_NODES", 2)
        patch.setattr(models_by_loops, "PARTS", parts)
        return fitted_by_loops(tree, rows, MOST)


@given(rows=rows_of_numbers())
@settings(max_examples=examples(120), deadline=None)
def test_loops_fit_the_models_of_their_twin(rows):
    tree = grown(rows)
    if len(tree) < 3:
        return
    swift = by_loops(tree, rows)
    plain = m5._fit(tree, rows.source(), linear=True)
    spread = plain.squared_errors[0]
    assert swift.n_parameters.tolist() == plain.n_parameters.tolist()
    assert swift.squared_errors == pytest.approx(
        plain.squared_errors, abs=1e-9 * spread
    )
    assert sorted(swift.linear) == sorted(plain.linear)
    assert len(swift.linear) == len(plain.linear)
    cells = [np.asarray(column, float) for column in rows.columns]
    for node in range(len(tree)):
        one, other = swift.model(node), plain.model(node)
        assert one.terms == other.terms
        assert one.values(cells) == pytest.approx(other.values(cells), abs=1e-5)


@given(rows=rows_of_numbers(), parts=st.sampled_from([2, 3, 1000]))
@settings(max_examples=examples(40), deadline=None)
def test_which_subtrees_are_side_by_side_changes_nothing(rows, parts):
    tree = grown(rows)
    if len(tree) < 3:
        return
    one, other = by_loops(tree, rows), by_loops(tree, rows, parts)
    assert one.squared_errors.tobytes() == other.squared_errors.tobytes()
    for node in one.linear:
        assert one.linear[node].intercept == other.linear[node].intercept
        same = one.linear[node].coefficients == other.linear[node].coefficients
        assert same.all()


def table(n_rows=400):
    random = np.random.default_rng(5)
    cells = random.normal(size=(n_rows, 3))
    numbers = np.where(cells[:, 0] > 0, 4 * cells[:, 1], -cells[:, 2])
    return {f"x{j}": cells[:, j] for j in range(3)} | {
        "y": numbers + random.normal(size=n_rows) / 5
    }


def test_a_pruned_and_smoothed_tree_is_the_same(monkeypatch):
    plain = spinney.grow(table(), "y", recipe="m5")
    monkeypatch.setattr(models_by_loops, "FEWEST_NODES", 2)
    swift = spinney.grow(table(), "y", recipe="m5")
    assert len(swift.tree) == len(plain.tree) > 1
    assert swift.predict(table()) == pytest.approx(plain.predict(table()), rel=1e-9)


def rows_with(columns, kinds=None):
    kinds = kinds or ["numeric"] * len(columns)
    values = tuple("abcd")
    attributes = tuple(
        Attribute(f"x{j}", kind, () if kind == "numeric" else values)
        for j, kind in enumerate(kinds)
    )
    numbers = np.arange(len(columns[0]), dtype=float) % 7
    schema = Schema(attributes, Target("y", origin=3.0))
    return TrainingSet(schema, tuple(columns), numbers, None)


def test_what_loops_do_not_fit_is_left_to_the_twin(monkeypatch):
    cells = np.random.default_rng(0).normal(size=60)
    rows = rows_with([cells])
    tree = grown(rows)
    assert fitted_by_loops(tree, rows, MOST) is None  # a small tree
    monkeypatch.setattr(models_by_loops, "FEWEST_NODES", 2)
    assert fitted_by_loops(tree, rows, MOST) is not None
    assert fitted_by_loops(tree, rows, 0) is None
    monkeypatch.setattr(models_by_loops, "DEEPEST", 1)
    assert fitted_by_loops(tree, rows, MOST) is None
    monkeypatch.undo()
    monkeypatch.setattr(models_by_loops, "FEWEST_NODES", 2)
    lacking = replace(rows, columns=(np.where(cells > 1, np.nan, cells),))
    assert fitted_by_loops(tree, lacking, MOST) is None
    named = rows_with([np.arange(60) % 4], ["nominal"])
    assert fitted_by_loops(grown(named), named, MOST) is None


def test_rows_that_are_away_are_fitted_by_what_their_engine_counts(monkeypatch):
    """Whether they were read is a matter of memory."""
    rows = rows_with([np.random.default_rng(0).normal(size=60)])
    monkeypatch.setattr(models_by_loops, "FEWEST_NODES", 2)
    monkeypatch.setattr(m5, "fitted_by_loops", None)  # to be called is an error
    away = OpenedSource(rows, origin=rows.fingerprint())
    m5.with_models(grown(rows), away, recipe=M5)
    with pytest.raises(TypeError):
        m5.with_models(grown(rows), OpenedSource(rows), recipe=M5)
