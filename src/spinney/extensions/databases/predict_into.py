"""Predictions where the rows are: a table of a database, made there."""

from collections.abc import Sequence
from typing import Any

from spinney import registry
from spinney._support.text import first_of
from spinney.errors import Setting, refusal, warn
from spinney.models.fitted_model import FittedBase
from spinney.sources.training_data import engine_of

MOST_LISTED = 4  # columns in a warning


def predict_into(
    model: FittedBase,
    data: Any,
    into: str,
    *,
    table: str | None = None,
    force: bool = False,
) -> int:
    """Let a database predict its rows, and return how many lines the new table has.

    The table is that of ``model.export("sql")``: all columns of the rows, and beside
    them what is predicted. A column that has the name of a prediction, as in the table
    of an earlier run, is left out with a warning. No row leaves the database; if
    anything fails, there is no new table.

    Parameters
    ----------
    model : tree, forest, rules or clusters
    data : address or connection
        A database, as ``spinney.grow`` takes it.
    into : str
        The table to make, or schema and table.
    table : str, optional
        The table or view to read, or one SELECT.
    force : bool
        Whether a table of that name is replaced.

    Examples
    --------
    >>> import sqlite3, spinney
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(
    ...     "CREATE TABLE shop (x, y); "
    ...     "INSERT INTO shop VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b')"
    ... )
    >>> tree = spinney.grow(connection, "y", table="shop", recipe="cart")
    >>> predict_into(tree, connection, "predictions", table="shop")
    4
    >>> connection.execute('SELECT x, "predicted y" FROM predictions').fetchall()
    [(1, 'a'), (2, 'a'), (3, 'b'), (4, 'b')]
    """
    engine = engine_of(data)
    if engine is None:
        raise refusal(
            Setting("into", into),
            "is a table of a database",
            "give its address as DATA, such as postgresql://user@host/database",
        )
    from spinney.extensions.databases import DatabaseTable, write_table

    def query(rows: str, columns: Sequence[str]) -> str:
        exported: Any = model
        keep = _without_predictions(columns, model, engine)
        return str(exported.export("sql", dialect=engine, table=rows, keep=keep))

    at = DatabaseTable(data, engine, table)
    return write_table(at, into, query, needed=model.asked, force=force)


def _without_predictions(columns: Sequence[str], model: Any, engine: str) -> list[str]:
    """Return the columns whose names no prediction has; warn of the others."""
    names_of_predictions = registry.load("operation", "names of predictions")
    made: list[str] = names_of_predictions(model, engine, columns)
    if made:
        listed = first_of([*map(repr, made)], MOST_LISTED)
        who = f"column {listed} is" if len(made) == 1 else f"columns {listed} are"
        warn(f"{who} replaced by the new predictions, which have the same names")
    return [name for name in columns if name not in made]
