"""Small tables, and where they are put: engines, databases, parts."""

from contextlib import contextmanager, nullcontext

from tests.extensions.databases.test_bins import rows_of
from tests.helpers.database_tables import in_postgres, in_sqlite
from tests.helpers.partitioned_tables import in_arrow
from tests.sources.comparing import opened

N_ROWS = 48


def table_of(seed, *, numeric=False, n_rows=N_ROWS):
    """Return mixed columns with missing cells; a quarter of the rows come twice."""
    n_others = n_rows * 3 // 4
    columns = rows_of(seed, missing=0.1, n_rows=n_others)
    columns = {n: [*cells, *cells[: n_rows - n_others]] for n, cells in columns.items()}
    columns["name"] = [None if n % 9 == 0 else "abcd"[n % 4] for n in range(n_rows)]
    if numeric:
        columns["y"] = [float(n % 7) + 0.5 * (n % 2) for n in range(n_rows)]
    return columns


@contextmanager
def placed(place, columns, folder, request):
    """Give a table where it is, and what says so."""
    if place == "memory":
        given = nullcontext((columns, {}))
    elif place == "parts":
        given = nullcontext((in_arrow(columns), {"source": "parts"}))
    elif place == "duckdb":
        given = opened("bound relation", columns, folder)
    elif place == "sqlite":
        given = in_sqlite(folder)(columns)
    else:
        given = in_postgres(request.getfixturevalue("postgres"))(columns)
    with given as (data, how):
        yield data, how
