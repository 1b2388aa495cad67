"""Attributes with formulas: DuckDB counts and sums what memory does."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe
from tests.helpers.stacks import by_node
from tests.sources.comparing import answers_of, assert_same_tables

import spinney
from spinney.data.formula import Clause, Conjunction, Difference, Formula, Linear, Ratio
from spinney.sources.base import (
    ROOT,
    AgreementRequest,
    Source,
    TableRequest,
    TermRequest,
)
from spinney.trees.linear import Term
from spinney.trees.split import Groups, Route, Surrogate, Threshold

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

FORMULAS: tuple[Formula, ...] = (
    Difference(0, 1),
    Ratio(1, 0),
    Linear((0, 1), (0.3333, -1.0)),
    Conjunction((Clause(0, high=1.0), Clause(2, codes=(0, 2)))),
    Conjunction((Clause(0, low=-1.0, high=2.0), Clause(1, low=0.0), Clause(3, (1,)))),
)


def rows(n_rows: int = 60, *, seed: int = 0) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    x, y = random.integers(-3, 4, (2, n_rows)).astype(float)
    return {
        "x": [None if random.random() < 0.1 else cell for cell in x.tolist()],
        "y": y.tolist(),
        "k": random.choice(["it's", "u", "?"], n_rows).tolist(),
        "b": random.choice([True, False], n_rows).tolist(),
        "c": random.choice(["yes", "no"], n_rows).tolist(),
    }


def test_formulas_are_counted_alike():
    def ask(source: Source) -> Any:
        places = tuple(range(4, 4 + len(FORMULAS)))
        for place, formula in zip(places, FORMULAS, strict=True):
            source.extend(place, source.schema.constructed(formula))
        found = by_node(source.tables([TableRequest(ROOT, places)]), 1)
        # By a formula to a node, and there again.
        source.partition(ROOT, Route(Threshold(4, 0.0, (0.5, 0.5), 1)), {0: 1, 1: 2})
        source.partition(2, Route(Groups(7, ((0,), (1,)), (0.5, 0.5))), {0: 3, 1: 4})
        below = [TableRequest(1, places), TableRequest(3, (0, *places))]
        return found + by_node(source.tables(below), 2)

    memory, *others = answers_of(ask, rows(), "c")
    assert memory[0][4].missing_rows.any()
    for other in others:
        assert_same_tables(memory, other)


def test_surrogates_by_formulas_are_counted_alike():
    split = Threshold(5, 0.5, (0.5, 0.5))
    surrogates = (
        Surrogate(Groups(7, ((0,), (1,)), ()), 0.9, 0.8),
        Surrogate(Threshold(4, 0.0, ()), 0.8, 0.7, reversed=True),
    )
    route = Route(split, surrogates, 0)

    def ask(source: Source) -> Any:
        places = tuple(range(4, 4 + len(FORMULAS)))
        for place, formula in zip(places, FORMULAS, strict=True):
            source.extend(place, source.schema.constructed(formula))
        others = (0, 2, 4, *places[2:])
        found = by_node(source.agreements([AgreementRequest(ROOT, split, others)]), 1)
        sent = source.routed([(ROOT, route)])
        source.partition(ROOT, route, {0: 1, 1: 2})
        below = [TableRequest(1, places), TableRequest(2, (0, *places))]
        found += by_node(source.tables(below), 2)
        found += by_node(source.agreements([AgreementRequest(1, split, others)]), 1)
        return [*found, dict(enumerate(sent + source.routed([(2, route)])))]

    memory, *others = answers_of(ask, rows(), "c")
    assert memory[0][4].missing_rows.sum() < memory[1][5].missing_rows.sum() > 0
    for other in others:
        assert_same_tables(memory, other)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("numeric", [False, True])
def test_products_are_summed_alike(numeric, complete):
    columns = rows()
    if numeric:
        columns["c"] = [0.5 + place % 7 for place in range(60)]

    def ask(source: Source) -> Any:
        source.partition(ROOT, Route(Threshold(1, 0.5, (0.25, 0.75))), {0: 1, 1: 2})
        source.partition(1, Route(Threshold(0, 0.5, (0.25, 0.75))), {0: 3, 1: 4})
        terms = (Term(0, None, 0.5), Term(1, None, -1.0), Term(2, (0,), 0.0))
        # Each node is asked about other terms, and in one question.
        asked = {ROOT: terms[:2], 2: terms[1:], 4: terms[::-1]}
        return source.products([TermRequest(n, t, complete) for n, t in asked.items()])

    memory, *others = answers_of(ask, columns, "c", recipe="cart")
    assert memory[0].spreads.shape == ((1, 3, 3) if numeric else (2, 2, 2))
    for other in others:
        for one, two in zip(memory, other, strict=True):
            for name in ("weights", "means", "spreads"):
                np.testing.assert_allclose(
                    getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-12
                )


def test_a_place_can_be_given_to_another_attribute():
    def ask(source: Source) -> Any:
        found = []
        for formula in FORMULAS[:2]:
            source.extend(4, source.schema.constructed(formula))
            found += by_node(source.tables([TableRequest(ROOT, (4,))]), 1)
        return [tables[4].values.tolist() for tables in found]

    memory, *others = answers_of(ask, rows(), "c")
    assert memory[0] != memory[1]
    assert others == [memory, memory]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["id3", "c4.5", "cart"]),
    st.sampled_from([{"linear_terms": 3}, {"construct": 2}]),
)
@settings(max_examples=examples(12))
def test_both_grow_the_same_tree(seed, recipe, made):
    random = np.random.default_rng(seed)
    x, y, z = random.uniform(1, 9, (3, 80)).round(2)
    label = np.where(
        (x - y > random.uniform(-2, 2)) ^ (random.random(80) < 0.03), "a", "b"
    )
    columns = {
        "x": [None if random.random() < 0.05 else cell for cell in x.tolist()],
        "y": y.tolist(),
        "z": z.tolist(),
        "k": random.choice(["it's", "u"], 80).tolist(),
        "c": label.tolist(),
    }
    options = {"recipe": recipe, "max_depth": 4, **made}
    in_memory = spinney.grow(columns, "c", **by_recipe(**options))
    in_duckdb = spinney.grow(
        duckdb.from_arrow(pa.table(columns)), "c", **by_recipe(**options)
    )
    assert str(in_memory) == str(in_duckdb)
    assert in_memory.tree.schema == in_duckdb.tree.schema
    for one, other in zip(in_memory.tree, in_duckdb.tree, strict=True):
        assert one.surrogates == other.surrogates
        assert one.default_branch == other.default_branch
