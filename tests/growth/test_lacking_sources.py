"""A source that answers for count tables only: what grows, and what is refused."""

import numpy as np
import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney.data.declarations import Declarations
from spinney.errors import ParameterError
from spinney.extensions.databases.sql_source import SqlSource
from spinney.growth.growers import PLAIN
from spinney.growth.growth_options import Options
from spinney.models.grow import grow_model
from spinney.recipes import RECIPES
from spinney.sources import Counts, Formulas, Surrogates
from spinney.sources.rows.memory import MemorySource
from spinney.sources.training_data import TableInput, TrainingData, open_source

CART, C45, M5 = (RECIPES[name] for name in ("cart", "c4.5", "m5"))


class CountsOnly:
    """The count tables of a source, and nothing else that it answers."""

    def __init__(self, source):
        self.schema = source.schema
        for name in ("root", "tables", "partition", "release"):
            setattr(self, name, getattr(source, name))


def counts_of(name, target):
    declared = Declarations(missing=("?",))
    path = TABLES / f"{name}.csv"
    with open_source(
        TableInput(data=path, target=target, declarations=declared)
    ) as rows:
        source = CountsOnly(rows.source)
        return TrainingData(counted=source, origin=rows.fingerprint)


def test_parts_are_told_by_what_a_source_answers():
    source = counts_of("iris", "class").source
    assert isinstance(source, Counts)
    assert not isinstance(source, Surrogates | Formulas)
    for whole in (MemorySource, SqlSource):
        for part in (Counts, Surrogates, Formulas):
            questions = {name for name in vars(part) if name[0] != "_"}
            assert questions - {"schema"} <= set(dir(whole))


@pytest.mark.parametrize(
    "recipe",
    [C45, CART.changed(missing_policy="branch"), RECIPES["chaid"], RECIPES["id3"]],
)
def test_recipes_that_ask_for_tables_only_grow(recipe):
    model = grow_model(counts_of("labor", "class"), recipe=recipe)
    path = str(TABLES / "labor.csv")
    expected = spinney.grow(path, "class", recipe=recipe, missing_values=["?"])
    assert [n.split for n in model.tree] == [n.split for n in expected.tree]


def test_means_of_numbers_take_tables_only():
    recipe = CART.changed(missing_policy="branch")
    model = grow_model(counts_of("cpu_prp", "class"), recipe=recipe)
    expected = spinney.grow(str(TABLES / "cpu_prp.csv"), "class", recipe=recipe)
    found = [node.distribution for node in model.tree]
    np.testing.assert_array_equal(found, [n.distribution for n in expected.tree])


@pytest.mark.parametrize(
    "name, target, recipe, message",
    [
        ("iris", "class", CART, "missing_policy='surrogate' .*needs surrogates"),
        ("iris", "class", C45.changed(linear_terms=2), "linear_terms=2 .*formulas"),
        ("iris", "class", C45.changed(construct=1), "construct=1 .*formulas"),
        ("cpu_prp", "class", M5, "leaves='linear' .*take leaves='mean'"),
    ],
)
def test_what_needs_a_part_that_lacks_is_refused(name, target, recipe, message):
    with pytest.raises(ParameterError, match=message) as raised:
        grow_model(counts_of(name, target), recipe=recipe)
    assert "CountsOnly lacks" in str(raised.value)
    assert f"(recipe {recipe.name!r})" in str(raised.value)
    with pytest.raises(ParameterError, match=message):
        PLAIN.grow(counts_of(name, target), recipe, Options())
