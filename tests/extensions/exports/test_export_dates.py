"""Exports read dates and times as the model does, in whatever form they come."""

import datetime
import json
import math
import re
import sqlite3
import subprocess

import duckdb
import numpy as np
import psycopg
import pytest
import sqlglot
from tests.helpers.export_cases import CASES, grown
from tests.helpers.export_runs import NODE, postgres
from tests.helpers.postgres import programs

import spinney
from spinney.data.cells import column_from_values
from spinney.data.declarations import Declarations
from spinney.data.schema import Attribute
from spinney.data.times import TIME_UNITS
from spinney.errors import DataError, ParameterError
from spinney.extensions.exports.portable_models import portable
from spinney.extensions.exports.sql_dialects import DIALECTS

DAY = datetime.date(2026, 1, 5)
NOON = datetime.datetime(2026, 1, 5, 12, 0, 1, 5)
ZONED = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
TEXTS = [
    "2026-01-05",
    "1969-12-31",
    "0001-01-01",
    "9999-12-31",
    "2026-01-05 12:00",
    "2026-01-05T12:00:01.123456",
    "2026-01-05T12:00:01.1234567",
    "1969-12-31 23:59:59.999999",
    "2199-12-31 23:59:59.999999",  # until 2242 seconds have microseconds
    "",
]
IN_ZONES = ["2026-01-05 12:00:00Z", "2026-01-05 12:00:00+01"]
IN_ZONES += ["2026-01-05T12:00:00.5-05:30", "2026-01-05 23:30-0100"]
IN_ZONES += ["1800-01-05 12:00:00-04:56:02"]
UNREADABLE = ["03.04.2026", "20604", "2026-02-31", "abc", "2026-01-05 25:00", "now"]
UNREADABLE += [" 2026-01-05", "2026-01-05 ", "2026-01-05\n", "epoch", "infinity"]
UNREADABLE += ["2026/01/05", "2026-1-5", "0000-01-05", "2026-01-05 24:00", "10:30"]
UNREADABLE += ["2026-01-05 12:00:00 UTC", "2026-01-05 10:30 PM", "2026-01-05T12:00:01."]
UNREADABLE += [
    "2026-01-05 12:00+25:00",
    "2026-01-05 12:00+0100:30",
    "2026-01-05 12:60",
    "2026-01-05 12:00:60",
]
CLOCKS = ["12:00", "12:00:01.5", "12:00:01.1234567", "", datetime.time(12, 0, 1, 5)]
NO_CLOCKS = ["25:00", "abc", "now", "allballs", "2026-01-05 10:30", "24:00", "9:30"]
NO_CLOCKS += [" 12:00", "12:00 ", "12:00:01.", "12:60", "10:30 PM"]
# Other forms of ISO 8601, which Python reads, and so do models.
OTHER_FORMS = [("day", "20260105"), ("instant", "2026-W02-1"), ("day", "2026-01-05T12")]
OTHER_FORMS += [("clock", "12"), ("clock", "12:00+02:00")]

READABLE = [
    (kind, cell)
    for kind in ("day", "instant")
    for cell in (*TEXTS, *IN_ZONES, DAY, NOON, ZONED, None)
] + [("clock", cell) for cell in CLOCKS]
REFUSED = [(kind, cell) for kind in ("day", "instant") for cell in UNREADABLE]
REFUSED += [("clock", cell) for cell in NO_CLOCKS]


def by_the_model(kind, cell):
    """Return the number that a model makes of a cell, None where it is missing."""
    column = column_from_values("x", [cell], Declarations())
    number = Attribute("x", "numeric", (), TIME_UNITS[kind]).encode(column)[0]
    return None if math.isnan(number) else float(number)


def tree_of(kind):
    """Return a tree that asks a column of this kind."""
    cells = {
        "day": [DAY, datetime.date(2026, 2, 1)],
        "instant": [NOON, NOON + datetime.timedelta(3)],
        "clock": [datetime.time(9), datetime.time(15)],
    }
    data = {"x": cells[kind] * 2, "y": ["no", "yes"] * 2}
    return spinney.grow(data, "y", recipe="id3")


def by_python(kind, cell):
    names = {}
    exec(tree_of(kind).export("python"), names)
    return names["_read"]({"x": cell})["x"]


def by_duckdb(kind, cell):
    connection = duckdb.connect()
    connection.execute("SET timezone = 'America/New_York'")
    query = f"SELECT {DIALECTS['duckdb'].time('x', kind)} FROM (SELECT $1 AS x)"
    return connection.execute(query, [cell]).fetchone()[0]


def by_postgres(kind, cell):
    cursor = postgres().cursor()
    cursor.execute("SET timezone = 'America/New_York'; SET datestyle = 'German'")
    given = "%s::text" if isinstance(cell, str) else "%s"
    cell_ = DIALECTS["postgres"].time("x", kind)
    try:
        query = f"SELECT {cell_} FROM (SELECT {given} AS x) AS q"
        return cursor.execute(query, [cell]).fetchone()[0]
    finally:
        cursor.execute("RESET timezone; RESET datestyle")


def by_sqlite(kind, cell):
    text = cell if cell is None else str(cell)
    query = f"SELECT {DIALECTS['sqlite'].time('x', kind)} FROM (SELECT ? AS x)"
    return sqlite3.connect(":memory:").execute(query, [text]).fetchone()[0]


@pytest.fixture(scope="module")
def by_javascript(tmp_path_factory):
    """Return what JavaScript makes of all cells, or what it says against them."""
    if NODE is None:
        pytest.skip("node is not installed")
    folder = tmp_path_factory.mktemp("javascript")
    for kind in TIME_UNITS:
        code = tree_of(kind).export("javascript")
        (folder / f"{kind}.mjs").write_text(f"{code}\nexport {{read}};\n")
    given = READABLE + REFUSED + OTHER_FORMS
    cells = [(kind, c if c is None else str(c)) for kind, c in given]
    (folder / "run.mjs").write_text(
        "const said = [];\n"
        f"for (const [kind, x] of {json.dumps(cells)}) {{\n"
        "  const model = await import(`./${kind}.mjs`);\n"
        "  try { said.push(model.read({x}).get('x')); }\n"
        "  catch (error) { said.push(error.message); }\n"
        "}\nconsole.log(JSON.stringify(said));\n"
    )
    done = subprocess.run(
        [NODE, folder / "run.mjs"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


WAYS = {"python": by_python, "duckdb": by_duckdb, "sqlite": by_sqlite}
ERRORS = {
    "python": (
        ValueError,
        r"^column 'x' holds .*, which is no (date|time of day) such",
    ),
    "duckdb": (duckdb.ConversionException, r"no (date|time of day) such|out of range"),
    "sqlite": (sqlite3.OperationalError, "^malformed JSON$"),
    "postgres": (psycopg.DataError, r"no (date|time of day) such|out of range"),
}
if programs():
    WAYS["postgres"] = by_postgres


def knows(way, cell):
    """Tell whether a way knows time zones, as SQLite does not in texts."""
    is_zoned = cell in IN_ZONES or cell is ZONED
    return way != "sqlite" or not is_zoned


@pytest.mark.parametrize("way", WAYS)
def test_dates_are_read_as_the_model_reads_them(way):
    for kind, cell in READABLE:
        if knows(way, cell):
            assert WAYS[way](kind, cell) == by_the_model(kind, cell), (kind, cell)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_date_is_an_error_and_no_answer(way):
    zoned = [] if way != "sqlite" else [("day", cell) for cell in IN_ZONES]
    for kind, cell in REFUSED + zoned:
        if (kind, cell) in REFUSED:
            with pytest.raises(DataError):
                by_the_model(kind, cell)
        assert refused(way, kind, cell), (kind, cell)


def refused(way, kind, cell):
    """Tell whether a way raises its own error of a cell, and not just any."""
    error, said = ERRORS[way]
    try:
        WAYS[way](kind, cell)
    except error as raised:
        return re.search(said, str(raised))
    return False


@pytest.mark.parametrize("way", WAYS)
def test_other_forms_of_iso_8601_are_taken_by_python_alone(way):
    for kind, cell in OTHER_FORMS:
        if way == "python":
            assert by_python(kind, cell) == by_the_model(kind, cell) is not None
        else:
            assert refused(way, kind, cell), (kind, cell)


@pytest.mark.parametrize("way", WAYS)
def test_an_instant_that_is_given_for_a_day_is_its_day(way):
    last = datetime.datetime(2026, 1, 5, 23, 59, 59, 999_999)
    zoned = datetime.timezone(datetime.timedelta(hours=-1))
    for cell in (DAY, NOON, last, last.isoformat(), "2026-01-05 00:00"):
        assert WAYS[way]("day", cell) == by_the_model("day", cell) == 20458.0
    if way != "sqlite":
        next_day = last.replace(tzinfo=zoned)  # in UTC
        assert WAYS[way]("day", next_day) == by_the_model("day", next_day) == 20459.0
    before = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)
    assert WAYS[way]("day", before) == by_the_model("day", before) == -1.0


def test_javascript_reads_dates_as_the_model_does(by_javascript):
    for (kind, cell), said in zip(READABLE, by_javascript, strict=False):
        assert said == by_the_model(kind, cell), (kind, cell)
    for said in by_javascript[len(READABLE) :]:
        assert re.search("which is no (date|time of day) such as", str(said)), said


def test_numbers_of_the_unit_are_taken_where_a_format_says_so():
    assert by_python("day", 20458) == by_python("day", "2026-01-05") == 20458.0
    number = np.datetime64("2026-01-05T12:00", "ns")
    assert by_python("instant", number) == by_the_model("instant", number)
    query = f"SELECT {DIALECTS['sqlite'].time('x', 'day')} FROM (SELECT 20458 AS x)"
    assert sqlite3.connect(":memory:").execute(query).fetchone() == (20458.0,)


@pytest.mark.parametrize("kind", ["day", "instant"])
@pytest.mark.parametrize("cell", ["0001-01-01 00:00+01", "9999-12-31 23:30-01"])
def test_python_reads_the_ends_of_the_calendar_as_the_model_does(kind, cell):
    assert by_python(kind, cell) == by_the_model(kind, cell)


def test_cases_with_dates_ask_for_them():
    for case in CASES:
        if case.dated:
            form = portable(grown(case))
            assert {"day", "instant"} & {column.time for column in form.columns}


@pytest.mark.parametrize("kind", TIME_UNITS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_reads_times_or_refuses_them_by_name(dialect, kind):
    model = tree_of(kind)
    if (dialect, kind) == ("spark", "clock"):
        with pytest.raises(ParameterError, match="`x`, a time of day"):
            model.export("sql", dialect=dialect)
        return
    query = model.export("sql", dialect=dialect)
    assert sqlglot.parse_one(query, dialect=dialect).named_selects
