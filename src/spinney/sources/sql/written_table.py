"""A table made of a query, where the rows are: all of it, or nothing.

The rows stand under a name of our own, a temporary view, so that a query of a user's is
as good as a table. What is made gets its name last, and all of it is one transaction::

    CREATE TEMPORARY VIEW spinney_… AS SELECT * FROM orders
    CREATE TABLE spinney_new_… AS SELECT …, predictions FROM spinney_…
    DROP TABLE predictions            -- if it is there, and may be replaced
    ALTER TABLE spinney_new_… RENAME TO predictions
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from sqlglot import exp

from spinney.data import missing_columns
from spinney.errors import ParameterError, Setting, refusal
from spinney.sources.sql.databases import DatabaseTable, names_in, opened_engine
from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import count_all, named, select, table

CAN_WRITE = ("postgres", "sqlite")


def write_table(
    at: DatabaseTable,
    into: str,
    query: Callable[[str], str],
    *,
    needed: Sequence[str] = (),
    force: bool = False,
) -> int:
    """Make a table of a query over the rows, and return how many lines it has.

    Parameters
    ----------
    at : DatabaseTable
        Where the rows are.
    into : str
        The name of the new table, or schema and name.
    query : function
        From the name that the rows have to the words of the query.
    needed : sequence of str
        The columns that the query asks for.
    force : bool
        Whether a table of that name is replaced.
    """
    if at.engine not in CAN_WRITE:
        raise refusal(
            Setting("into", into),
            f"is of no use to {at.engine}",
            f"only {' and '.join(CAN_WRITE)} make tables; export the model as SQL",
        )
    name, _, schema = (part[::-1] for part in into[::-1].partition("."))
    if not name or (not schema and "." in into):
        raise refusal(Setting("into", into), "is no name of a table")
    with opened_engine(at, writes=True) as engine, _at_once(engine):
        engine.purpose = "write the predictions"
        is_there = _checked(engine, at, name, schema, force=force)
        _check_columns(engine, needed)
        view, new = f"spinney_{token_hex(8)}", f"spinney_new_{token_hex(8)}"
        # PostgreSQL binds no values where it defines a view, and there are none here.
        engine.run(f"CREATE TEMPORARY VIEW {view} AS {_rows_of(engine)}")
        made = _words(engine, table(new, schema or None))
        engine.run(f"CREATE TABLE {made} AS {query(view)}")
        engine.run(f"DROP VIEW {view}")
        target = table(name, schema or None)
        if is_there:
            engine.run(f"DROP TABLE {_words(engine, target)}")
        engine.run(f"ALTER TABLE {made} RENAME TO {_words(engine, table(name))}")
        (n_lines,) = engine.line(select([named(count_all(), "n")], target))
    return int(n_lines)


def _checked(
    engine: SqlEngine, at: DatabaseTable, name: str, schema: str, *, force: bool
) -> bool:
    """Return whether the table is there; refuse one that is not to be replaced."""
    rows = engine.rows
    listed = names_in(at.engine, engine.connection)
    place = next(
        (
            each
            for each in listed
            if each[-1] == name and (not schema or each[0] == schema)
        ),
        None,
    )
    shown = f"{schema}.{name}" if schema else name
    if place is None:
        return False
    if isinstance(rows, exp.Table) and rows.name == name:
        raise ParameterError(
            Setting("into", shown),
            " is the table that is read",
            remedy="write to another one",
        )
    if not force:
        raise ParameterError(
            Setting("into", shown),
            " is in the database already",
            remedy="name another table, or replace it by force",
        )
    return True


def _check_columns(engine: SqlEngine, needed: Sequence[str]) -> None:
    """Refuse rows that lack a column: for SQLite its quoted name would be a text."""
    words, _ = engine.written(select([exp.Star()], engine.rows).limit(0, copy=False))
    with engine.translated():
        described = engine.connection.execute(words).description
    names = [each[0] for each in described]
    absent = [name for name in needed if name not in names]
    if absent:
        raise missing_columns(absent, names)


def _rows_of(engine: SqlEngine) -> str:
    return engine.written(select([exp.Star()], engine.rows))[0]


def _words(engine: SqlEngine, expression: exp.Expr) -> str:
    return engine.written(expression)[0]


@contextmanager
def _at_once(engine: Any) -> Iterator[None]:
    """Let several statements be one; PostgreSQL's engine is a transaction by itself."""
    if engine.dialect == "postgres":
        yield
        return
    begin, end, undo = "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"
    if engine.connection.in_transaction:
        mark = f"spinney_{token_hex(8)}"
        begin, end, undo = f"SAVEPOINT {mark}", f"RELEASE {mark}", f"ROLLBACK TO {mark}"
    engine.run(begin)
    try:
        yield
        engine.run(end)
    except BaseException:
        engine.run(undo)
        raise
