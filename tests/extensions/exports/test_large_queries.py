"""SQL of large trees: engines read it in seconds, and say what Python says."""

import random
import re
import sqlite3
from dataclasses import replace
from math import log2

import duckdb
import pytest
from tests.helpers.export_compare import WAYS

from spinney.data import Target
from spinney.errors import ParameterError
from spinney.extensions.exports.portable import FormNode, FormSplit, Input, Portable
from spinney.extensions.exports.python_code import to_python
from spinney.extensions.exports.sql_code import to_sql
from spinney.extensions.exports.sql_dialects import DIALECTS

NAMES = ("x0", "x1", "x2")


def bushy(leaves, *, divides=False):
    """Return a tree of some numbers, each node of which asks for one at random."""
    rng, nodes = random.Random(leaves), [None]
    stack = [(0, leaves, ((0.0, 1.0),) * len(NAMES))]
    while stack:
        number, n, bounds = stack.pop()
        if n == 1:
            nodes[number] = FormNode(outputs=(rng.random(),))
            continue
        cell, (left, right) = rng.randrange(len(NAMES)), (len(nodes), len(nodes) + 1)
        low, high = bounds[cell]
        cut = rng.uniform(low, high)
        inside = [
            tuple(part if at == cell else each for at, each in enumerate(bounds))
            for part in ((low, cut), (cut, high))
        ]
        share = rng.randint(1, n - 1)
        asks = (FormSplit(cell, (cut,), (left, right)),)
        parts = ((left, 0.25), (right, 0.75)) if divides else ()
        nodes[number] = FormNode(asks, None if divides else left, parts)
        nodes += [None, None]
        stack += [(left, share, inside[0]), (right, n - share, inside[1])]
    columns = tuple(Input(name, True) for name in NAMES)
    target = Target("y", origin=0.0)
    return Portable(columns, (), tuple(nodes), (0,), False, target)


def some_rows(n=60):
    rng = random.Random(n)
    return [
        [None if rng.random() < 0.1 else rng.random() for _ in NAMES] for _ in range(n)
    ]


def by_sqlite(query, rows):
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE data ({', '.join(NAMES)})")
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    return connection.execute(query).fetchall()


def by_duckdb(query, rows):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data (x0 DOUBLE, x1 DOUBLE, x2 DOUBLE)")
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    return connection.execute(query).fetchall()


def by_postgres(query, rows):
    from tests.helpers.export_runs import postgres

    cursor = postgres().cursor()
    cursor.execute("DROP TABLE IF EXISTS data")
    cursor.execute("CREATE TEMP TABLE data (x0 float8, x1 float8, x2 float8)")
    cursor.executemany("INSERT INTO data VALUES (%s, %s, %s)", rows)
    return cursor.execute(query).fetchall()


ENGINES = {"sqlite": by_sqlite, "duckdb": by_duckdb, "postgres": by_postgres}


def check(engine, form, rows):
    names = {}
    exec(to_python(form), names)
    expected = [names["predict"](dict(zip(NAMES, r, strict=True))) for r in rows]
    said = [line[-1] for line in ENGINES[engine](to_sql(form, dialect=engine), rows)]
    assert said == (pytest.approx(expected, rel=1e-12) if form.divides else expected)


@pytest.mark.parametrize("divides", [False, True])
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_engines_read_large_trees(engine, divides):
    check(engine, bushy(100 if divides else 400, divides=divides), some_rows())


def test_a_share_asks_for_its_branch_alone_and_no_list_is_a_join():
    """DuckDB makes a join of every IN; a divided tree of 538 leaves took it minutes."""
    texts = {f"v{at}": 1 + at // 3 for at in range(9)}
    parts = ((1, 0.5), (2, 0.25), (3, 0.25))
    root = FormNode((FormSplit(0, texts=texts),), None, parts)
    leaves = [FormNode(outputs=(float(at),)) for at in (1, 2, 4)]
    column = Input("x0", False, tuple(texts))
    form = Portable(
        (column,), (), (root, *leaves), (0,), False, Target("y", origin=0.0)
    )
    query = to_sql(form, dialect="duckdb")
    assert " IN (" not in query
    # A branch is asked for by its own share, and by those of the two others.
    assert query.count("= 'v0'") == 3
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data AS SELECT 'v' || range AS x0 FROM range(10)")
    said = [line[-1] for line in connection.execute(query).fetchall()]
    assert said == [1, 1, 1, 2, 2, 2, 4, 4, 4, 2]


def many_branches(trees, values):
    """Return a forest that divides rows, of trees with a branch for each value."""
    rng, nodes, roots = random.Random(trees), [], []
    texts = tuple(f"v{at}" for at in range(values))
    for _ in range(trees):
        roots.append(len(nodes))
        stack = [(len(nodes), 0)]
        nodes.append(None)
        while stack:
            at, level = stack.pop()
            if level == 40 or (level and rng.random() * values > 1):
                nodes[at] = FormNode(outputs=(rng.random(),))
                continue
            below = range(len(nodes), len(nodes) + values)
            asks = FormSplit(
                rng.randrange(len(NAMES)), texts=dict(zip(texts, below, strict=True))
            )
            parts = tuple((child, 1 / values) for child in below)
            nodes[at] = FormNode((asks,), None, parts)
            nodes += [None] * values
            stack += [(child, level + 1) for child in below]
    columns = tuple(Input(name, False, texts) for name in NAMES)
    target = Target("y", origin=0.0)
    return Portable(columns, (), tuple(nodes), tuple(roots), False, target)


def test_sqlite_reads_sums_over_many_branches():
    """Pairs of terms in parentheses were more than its parser holds at 12 values."""
    rng = random.Random(0)
    rows = [
        [rng.choice([None, "v0", "v7", "v11", "other"]) for _ in NAMES]
        for _ in range(20)
    ]
    check("sqlite", many_branches(10, 12), rows)


def test_what_grows_with_values_is_the_query_and_not_the_work_on_a_sign(monkeypatch):
    """A tree of 200 values took half a minute to write: each was written for each."""
    dialect, written = DIALECTS["sqlite"], []
    literal = type(dialect).literal
    monkeypatch.setattr(
        type(dialect),
        "literal",
        lambda own, value: written.append(value) or literal(own, value),
    )
    to_sql(many_branches(2, 50), dialect="sqlite")
    assert len(written) == len(NAMES) * 50


def test_what_duckdb_would_plan_for_minutes_is_refused(monkeypatch):
    """Ten divided trees of 300 leaves are 7 million signs, and had no end there."""
    form = bushy(30, divides=True)
    signs = len(to_sql(form, dialect="duckdb"))

    def limited(most):
        dialect = replace(DIALECTS["duckdb"], max_divided_length=most)
        monkeypatch.setitem(DIALECTS, "duckdb", dialect)

    limited(signs)
    assert len(to_sql(form, dialect="duckdb")) == signs
    limited(signs - 1)
    words = (
        rf"format='sql' cannot express .* {signs:,} characters, .*at most {signs - 1:,}"
    )
    with pytest.raises(ParameterError, match=words) as refused:
        to_sql(form, dialect="duckdb")
    assert "missing_policy='branch'" in str(refused.value)
    assert to_sql(form, dialect="sqlite")
    assert to_sql(bushy(300), dialect="duckdb")  # which divides no row


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_read_three_thousand_leaves(engine):
    missing = WAYS[engine].missing_tool
    if missing:
        pytest.skip(missing)
    check(engine, bushy(3000), some_rows())


def test_each_branch_is_asked_for_once_and_little_is_nested():
    query = to_sql(bushy(1000), dialect="postgres")
    tree = query[query.rindex("SELECT t.") :]
    depth = deepest = 0
    for word in re.findall(r"\b(?:CASE|END)\b", tree):
        depth += 1 if word == "CASE" else -1
        deepest = max(deepest, depth)
    assert deepest <= log2(1000)
    assert tree.count("WHEN") == 999
