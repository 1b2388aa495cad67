"""The public check of sources, on every engine that the machine has."""

from contextlib import contextmanager

import duckdb
import pytest
from tests.extensions.conftest import postgres  # noqa: F401
from tests.helpers.database_tables import in_postgres
from tests.sources.comparing import arrow_of

from spinney.testing import CheckedSource, check_source, random_table

FEW = {"n_tables": 2, "n_rows": 30, "seed": 1}


@contextmanager
def in_duckdb(columns):
    with duckdb.connect() as connection:
        yield connection.from_arrow(arrow_of(columns)), {"connection": connection}


def test_duckdb():
    checked = check_source(in_duckdb, **FEW)
    assert checked.trees == dict.fromkeys(("id3", "c4.5", "cart", "chaid", "m5"), 2)
    assert min(checked.nodes.values()) > 20
    assert not any(checked.inexact.values())  # tables so small are counted by value


def test_what_is_known_by_bins_is_said():
    checked = CheckedSource({"cart": 1}, {"cart": 23}, {"cart": 4})
    assert str(checked) == (
        "cart: 1 trees of 23 nodes, the same; of 4 competitors, known by bins, only "
        "that they lose"
    )


def test_postgres(postgres):  # noqa: F811
    check_source(in_postgres(postgres), **FEW)


def test_a_source_that_loses_a_row_is_caught():
    @contextmanager
    def without_the_last(columns):
        fewer = {name: cells[:-1] for name, cells in columns.items()}
        with in_duckdb(fewer) as opened:
            yield opened

    with pytest.raises(AssertionError, match=r"recipe 'cart', table 0: "):
        check_source(without_the_last, recipes=["cart"])


def test_tables_have_what_they_should():
    tables = [random_table(seed, 40) for seed in range(4)]
    assert any(None in cells for t in tables for cells in t.columns.values())
    assert {"weight" in t.declared for t in tables} == {True, False}
    assert {t.whole for t in tables} == {True, False}
