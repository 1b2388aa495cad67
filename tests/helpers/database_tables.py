"""Columns as tables of databases, for as long as a test needs them."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

Columns = dict[str, list[Any]]
Opener = Callable[[Columns], AbstractContextManager[tuple[Any, dict[str, Any]]]]
TABLE = 'the "orders"; DROP TABLE x; -- %s'


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def kind_of(cells: list[Any], kinds: dict[type, str]) -> str:
    known = [type(cell) for cell in cells if cell is not None]
    return kinds[known[0]] if known else kinds[str]


def created(columns: Columns, kinds: dict[type, str]) -> str:
    listed = ", ".join(f"{quoted(n)} {kind_of(c, kinds)}" for n, c in columns.items())
    return f"CREATE TABLE {quoted(TABLE)} ({listed})"


def fill_sqlite(connection: sqlite3.Connection, columns: Columns) -> None:
    kinds = {str: "TEXT", float: "REAL", int: "INTEGER", bool: "BOOLEAN"}
    connection.execute(created(columns, kinds))
    marks = ", ".join("?" * len(columns))
    lines = list(zip(*columns.values(), strict=True))
    connection.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({marks})", lines)
    connection.commit()


def in_sqlite(folder: Path) -> Opener:
    """Return what puts columns into a SQLite file; it is opened by its address."""

    @contextmanager
    def opened(columns: Columns) -> Iterator[tuple[Any, dict[str, Any]]]:
        path = folder / "rows.db"
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        fill_sqlite(connection, columns)
        connection.close()
        before = path.read_bytes()
        yield f"sqlite:///{path}", {"table": TABLE}
        assert path.read_bytes() == before

    return opened


def in_postgres(address: str) -> Opener:
    """Return what puts columns into a PostgreSQL table."""
    import psycopg

    kinds = {str: "text", float: "float8", int: "int8", bool: "boolean"}

    @contextmanager
    def opened(columns: Columns) -> Iterator[tuple[Any, dict[str, Any]]]:
        with psycopg.connect(address) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {quoted(TABLE)}".encode())
            connection.execute(created(columns, kinds).encode())
            copy = f"COPY {quoted(TABLE)} FROM STDIN"
            with connection.cursor() as cursor, cursor.copy(copy.encode()) as lines:
                for line in zip(*columns.values(), strict=True):
                    lines.write_row(line)
        yield address, {"table": TABLE}
        with psycopg.connect(address) as connection:
            left = "SELECT relname FROM pg_class WHERE relname LIKE 'spinney%'"
            assert connection.execute(left).fetchall() == []

    return opened
