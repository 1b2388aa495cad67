"""Pre-pruning while a tree grows: the tree of pruning later, for fewer tables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth.test_prune_methods import cells_of
from tests.helpers.alike import same_node, same_tree
from tests.helpers.fuzz import examples
from tests.helpers.strategies import TABLES, columns_of, recipes, tables
from tests.properties.test_pruning import numeric_tables

import spinney
from spinney.data import Declarations
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.growers import BINNED, MULTIWAY, PLAIN
from spinney.growth.growth_options import Options
from spinney.growth.plain.construct import construct_and_grow
from spinney.growth.prune import EncodedRows, pruned
from spinney.output.file.file_arrays import flatten
from spinney.recipes import RECIPES, Recipe
from spinney.sources.rows import rows_in_memory
from spinney.sources.rows.memory import MemorySource
from spinney.sources.training_data import TrainingData

COSTS = np.array([[0.0, 5.0, 1.0, 2.0], [1.0, 0.0, 3.0, 1.0], [2.0, 1.0, 0.0, 4.0]])


class Counting:
    """A source that counts the tables that it is asked for."""

    def __init__(self, source):
        self._source, self.n_requests, self.sent = source, 0, 0

    def tables(self, requests):
        self.n_requests += sum(len(request.attributes) for request in requests)
        return self._source.tables(requests)

    def partition(self, *arguments, **options):
        self.sent += 1
        self._source.partition(*arguments, **options)

    def __getattr__(self, name):
        return getattr(self._source, name)


@st.composite
def validation_of(draw, schema):
    """Draw coded rows to validate by; some classes are unknown, some cells missing."""
    cells = [st.none() | cells_of(attribute) for attribute in schema.attributes]
    label = st.integers(-1, max(schema.n_classes - 1, 0))
    if schema.target.is_numeric:
        label = st.sampled_from((-3.5, 0.0, 1.0, 2.0, 7.25))
    row = st.tuples(st.tuples(*cells).map(list), label, st.sampled_from((1, 2, 0.5)))
    rows = draw(st.lists(row, min_size=1, max_size=20))
    return EncodedRows(
        columns_of(schema, [cells for cells, _, _ in rows]),
        np.array([label for _, label, _ in rows]),
        np.array([weight for _, _, weight in rows], float),
    )


def both_ways(make_source, recipe, options):
    """Return both trees and sources: stopped while it grew, and grown whole."""
    recipe = replace(recipe, pruning="pre-pruning")
    found = []
    for given_options in (options, replace(options, validation=None)):
        source = Counting(make_source())
        tree = construct_and_grow(source, recipe, given_options)
        found.append(
            (pruned(tree, "pre-pruning", validation=options.validation), source)
        )
    return found


def check_equal(one, other):
    for name, array in flatten(other.tree).items():
        np.testing.assert_array_equal(flatten(one.tree)[name], array, err_msg=name)
    for step, same in zip(one.steps, other.steps, strict=True):
        assert (step.condition, step.pruned) == (same.condition, same.pruned)
        assert step.before == pytest.approx(same.before, rel=1e-9, abs=1e-9)
        assert step.after == pytest.approx(same.after, rel=1e-9, abs=1e-9)
        assert step.risk_after == pytest.approx(same.risk_after, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(60))
def test_the_tree_is_that_of_pruning_the_whole_one(numeric, data):
    table = data.draw((numeric_tables if numeric else tables)(max_rows=30))
    recipe = data.draw(recipes())
    if not numeric:
        shares = st.sampled_from(("frequency", "laplace", "m-estimate"))
        m = data.draw(st.sampled_from((2.0, 9.0)))
        recipe = replace(recipe, probability=data.draw(shares), m=m)
    options = Options(validation=data.draw(validation_of(table.schema)))
    n_classes = table.schema.n_classes
    if not numeric and n_classes < 4 and data.draw(st.booleans()):
        options = replace(options, costs=COSTS[:n_classes, :n_classes])
    (stopped, few), (whole, many) = both_ways(lambda: table.source, recipe, options)
    check_equal(stopped, whole)
    assert few.n_requests <= many.n_requests
    assert few.sent <= many.sent


def parted(name, target):
    """Return two thirds of the rows of a table, and the last third to validate by."""
    table = spinney.read_table(TABLES / f"{name}.csv")
    rows = rows_in_memory(table, target, None, Declarations(), from_zero=False)
    held = np.arange(len(rows.classes)) % 3 == 0
    valid = rows.take(held)
    coded = EncodedRows(valid.columns, valid.classes, valid.sample_weights)
    return rows.take(~held), Options(validation=coded)


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize(
    "name, target", [("rpart_kyphosis", "Kyphosis"), ("rpart_stagec", "ploidy")]
)
def test_fewer_tables_are_asked_for(recipe, name, target):
    """Document 000: what pre-pruning is for is the training that it saves."""
    rows, options = parted(name, target)
    (stopped, few), (whole, many) = both_ways(rows.source, RECIPES[recipe], options)
    check_equal(stopped, whole)
    assert any(step.pruned for step in whole.steps)
    assert few.n_requests < many.n_requests
    assert few.sent < many.sent


@pytest.mark.parametrize("settings", [{"max_leaves": 5}, {"construct": 1}])
def test_what_depends_on_the_whole_tree_is_grown_whole(settings):
    rows, options = parted("penguins", "species")
    recipe = Recipe.named("cart").changed(missing_policy="branch", **settings)
    (stopped, few), (whole, many) = both_ways(rows.source, recipe, options)
    weights = [
        [n.weights.tolist() for n in tree] for tree in (stopped.tree, whole.tree)
    ]
    assert weights[0] == weights[1]
    assert few.n_requests == many.n_requests


def test_linear_combinations_are_stopped_too():
    rows, options = parted("iris", "class")
    recipe = Recipe.named("cart").changed(missing_policy="branch", linear_terms=2)
    (stopped, few), (whole, many) = both_ways(rows.source, recipe, options)
    assert [n.weights.tolist() for n in stopped.tree] == [
        n.weights.tolist() for n in whole.tree
    ]
    assert few.n_requests < many.n_requests


@pytest.mark.parametrize(
    "recipe, missing, engine",
    [("cart", "branch", BINNED), ("id3", "fractional", MULTIWAY)],
)
def test_all_engines_prune_alike(recipe, missing, engine):
    """Compiled loops grow the whole tree, and cut it; the plain learner stops."""
    rows, options = parted("penguins", "species")
    chosen = replace(RECIPES[recipe], pruning="pre-pruning", missing_policy=missing)
    plain, by_kernels = (
        each.grow_and_prune(TrainingData(rows), chosen, options)
        for each in (PLAIN, engine)
    )
    same_tree(plain.tree, by_kernels.tree, same_node)
    changes = [[(s.condition, s.pruned) for s in r.steps] for r in (plain, by_kernels)]
    assert changes[0] == changes[1]


def test_a_forced_split_below_a_stop_is_no_mistake(recwarn):
    train, valid = (
        TABLES / f"watermelon_2.0_{part}.csv" for part in ("train", "valid")
    )
    model = spinney.grow(
        train,
        "ripe",
        ignore=["id"],
        recipe="id3",
        tie_break_order=["umbilicus"],
        forced_splits={("umbilicus = hollow", "color = dark"): "sound"},
        pruning="pre-pruning",
        validation=valid,
    )
    assert model.tree.height == 1
    assert not recwarn.list


def test_labels_lean_on_all_rows_and_not_on_those_of_a_node():
    """An m-estimate: below x = 1, z = 0 says a by all rows, and b by those of x = 1."""
    attributes = tuple(Attribute(name, "nominal", (0, 1, 2)) for name in "xzv")
    schema = Schema(attributes, Target("y", ("a", "b")))
    lines = [(0, 1, 0, 0, 85), (1, 0, 0, 0, 4), (1, 0, 1, 1, 3), (1, 1, 0, 1, 4)]
    x, z, v, classes, weights = np.array([*lines, (2, 1, 0, 1, 60)]).T
    recipe = RECIPES["id3"].changed(
        probability="m-estimate", m=9, pruning="pre-pruning"
    )
    held = np.array([(2, 1, 0, 1), (1, 0, 0, 0), (1, 0, 1, 1)]).T
    valid = EncodedRows(list(held[:3]), held[3], np.array([3.0, 2.0, 1.0]))
    (stopped, _), (whole, _) = both_ways(
        lambda: MemorySource(schema, [x, z, v], classes=classes, weights=weights * 1.0),
        recipe,
        Options(validation=valid),
    )
    assert whole.tree.height == 3
    check_equal(stopped, whole)
