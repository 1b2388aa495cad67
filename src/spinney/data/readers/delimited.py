"""Files of lines and delimiters: CSV and TSV, scanned by DuckDB.

The header and the delimiter are read here, because DuckDB guesses both and renames
columns without a word; the cells are scanned as text, and the type of each column is
what all of its cells are: numbers, dates, instants, else text as written.
"""

import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spinney.data.cells import LARGEST_EXACT_INTEGER, warn_of_large_integers
from spinney.data.declarations import Declarations, check_names
from spinney.data.duckdb.columns import aggregated, first_line
from spinney.data.duckdb.connection import connected, literal_path
from spinney.data.duckdb.sql_text import quote_text
from spinney.data.readers.local_files import wrong_encoding
from spinney.data.times import DAY_PATTERN, INSTANT_PATTERN
from spinney.errors import DataError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DELIMITERS = ",;\t|"

_SAMPLE = 100
_INTEGER = r"\s*[+-]?\d+\s*"


@contextmanager
def open_delimited(
    path: Path,
    origin: str,
    *,
    declarations: Declarations,
    delimiters: str,
    encoding: str,
) -> "Iterator[tuple[DuckDBPyConnection, DuckDBPyRelation, list[str]]]":
    """Give a connection, a relation over the file, and the names of its columns."""
    import duckdb

    delimiter, names = header_of(path, origin, delimiters)
    check_names(names, declarations, origin=f"the header of {origin!r}")
    with (
        _plain_header(path, origin, names, delimiter=delimiter) as plain,
        connected(plain) as connection,
    ):
        try:
            relation = scan_delimited(
                connection, plain, names, delimiter=delimiter, declarations=declarations
            )
        except duckdb.Error as error:
            reason = _diagnosis(path, delimiter, len(names), str(error))
            if reason is None:
                raise wrong_encoding(origin, encoding) from None
            msg = f"{origin!r} is no table: {reason}"
            raise DataError(msg) from None
        yield connection, relation, names


def header_of(path: Path, origin: str, delimiters: str) -> tuple[str, list[str]]:
    """Return the delimiter and the names of the columns."""
    samples = {delimiter: _sample(path, delimiter) for delimiter in delimiters}
    if not all(sample and sample[0] for sample in samples.values()):
        msg = (
            f"{origin!r} is empty or starts with an empty line: its first line must "
            "name the columns"
        )
        raise DataError(msg)

    def fit(delimiter: str) -> tuple[bool, int]:
        widths = {len(cells) for cells in samples[delimiter] if cells}
        width = len(samples[delimiter][0])
        return len(widths) == 1 and width > 1, width

    best = max(samples, key=fit)
    return best, samples[best][0]


def _sample(path: Path, delimiter: str) -> list[list[str]]:
    """Return the first records, up to one that is too long for the csv module."""
    records: list[list[str]] = []
    with suppress(csv.Error):
        records.extend(cells for _, cells in islice(_records(path, delimiter), _SAMPLE))
    return records


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Give every record with the number of the line it starts at."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        line = 1
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1


@contextmanager
def _plain_header(
    path: Path, origin: str, names: Sequence[str], *, delimiter: str
) -> Iterator[Path]:
    """Give the file, or a copy if a name holds a line ending.

    DuckDB takes the first line ending for that of all lines, even one inside quotes,
    and then may find no rows.
    """
    if not any("\n" in name or "\r" in name for name in names):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        copy = Path(folder, path.name)
        with open(copy, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
            writer.writerow(range(len(names)))
            try:
                for _, cells in islice(_records(path, delimiter), 1, None):
                    writer.writerow(cells)
            except csv.Error as error:
                msg = f"{origin!r} cannot be read ({error}): shorten the cell"
                raise DataError(msg) from None
        yield copy


def scan_delimited(
    connection: "DuckDBPyConnection",
    path: Path,
    names: Sequence[str],
    *,
    delimiter: str,
    declarations: Declarations,
) -> "DuckDBPyRelation":
    """Return a relation over the file, each column of the type that its cells have.

    Its columns are called c0, c1 and so on: DuckDB takes names that differ only in
    case for the same, and a file need not.
    """
    columns = [f"c{index}" for index in range(len(names))]
    types = ", ".join(f"'{column}': 'VARCHAR'" for column in columns)
    markers = ", ".join(map(quote_text, ["", *declarations.missing]))
    texts = connection.sql(
        f"SELECT * FROM read_csv({literal_path(path)}, auto_detect = false, "
        f"columns = {{{types}}}, header = true, delim = {quote_text(delimiter)}, "
        f"quote = '\"', escape = '\"', nullstr = [{markers}], strict_mode = true)"
    )
    free = {
        column: name
        for column, name in zip(columns, names, strict=True)
        if declarations.kind(name) is None and not declarations.ignores(name)
    }
    column_types = dict.fromkeys(columns, "VARCHAR") | _types(texts, free)
    return texts.project(
        ", ".join(
            f"CAST({column} AS {column_types[column]}) AS {column}"
            for column in columns
        )
    )


def _types(texts: "DuckDBPyRelation", names: Mapping[str, str]) -> dict[str, str]:
    """Return the types of columns, given with their names.

    One pass tells numbers; dates, and whole numbers too large to be exact, are then
    looked for in the columns that may hold them. What is asked of a column has no
    FILTER: to plan those takes time by the square of the columns.
    """
    # The count is there to scan the file even if all types are declared.
    tests = {("all", "rows"): "count(*)"}
    for column in names:
        number = f"TRY_CAST({column} AS DOUBLE)"
        tests[column, "number"] = f"count({column}) = count({number})"
        tests[column, "joined"] = f"bool_or(contains({column}, '_'))"
        tests[column, "greatest"] = f"max(abs({number}))"
        tests[column, "dashed"] = f"bool_and(substr({column}, 5, 1) = '-')"
    answers = aggregated(texts, tests)
    types, large, dated = {}, [], []
    for column in names:
        # A column is one of numbers also where every cell is missing.
        if answers[column, "number"] and not answers[column, "joined"]:
            types[column], greatest = "DOUBLE", answers[column, "greatest"]
            if greatest is not None and not greatest < LARGEST_EXACT_INTEGER:
                large.append(column)
        elif answers[column, "dashed"]:
            dated.append(column)
    for column in _of_large_integers(texts, large):
        warn_of_large_integers(names[column])
    return types | _of_times(texts, dated)


def _of_large_integers(texts: "DuckDBPyRelation", columns: Sequence[str]) -> list[str]:
    """Return which of some columns hold whole numbers that floats do not."""
    tests = {
        column: f"bool_or(regexp_full_match({column}, '{_INTEGER}') AND coalesce("
        f"abs(TRY_CAST({column} AS HUGEINT)) > {LARGEST_EXACT_INTEGER}, true))"
        for column in columns
    }
    return [column for column, is_large in aggregated(texts, tests).items() if is_large]


def _of_times(texts: "DuckDBPyRelation", columns: Sequence[str]) -> dict[str, str]:
    """Return the types of those of some columns that hold days or instants."""
    kinds = {"TIMESTAMP": INSTANT_PATTERN, "DATE": DAY_PATTERN}
    tests = {
        (column, kind): f"bool_and(CASE WHEN {column} IS NOT NULL THEN "
        f"regexp_full_match({column}, '{pattern}') AND "
        f"TRY_CAST({column} AS {kind}) IS NOT NULL END)"
        for column in columns
        for kind, pattern in kinds.items()
    }
    answers = aggregated(texts, tests)
    # Every day is an instant, too, and the last kind that fits is taken.
    return {column: kind for (column, kind), fits in answers.items() if fits}


def _diagnosis(path: Path, delimiter: str, width: int, message: str) -> str | None:
    """Return why DuckDB could not scan the file; None if the encoding is wrong."""
    if "Maximum line size" in message:
        return "a line is longer than DuckDB reads, 2 million bytes; shorten its cells"
    if "unterminated quote" in message:
        return "a quote is opened and not closed; close it, or double it inside a cell"
    try:
        for line, cells in _records(path, delimiter):
            if cells and len(cells) != width:
                return (
                    f"line {line} and the header differ in their number of cells, "
                    f"{len(cells)} and {width}; quote a cell that holds the delimiter, "
                    "or mend the line"
                )
    except UnicodeDecodeError:
        return None
    except csv.Error:  # a long cell, which only this module cannot read
        return first_line(message)
    data = path.read_bytes()
    bare = data.replace(b"\r\n", b"")
    if (len(bare) < len(data)) + (b"\r" in bare) + (b"\n" in bare) > 1:
        return "its lines end in different ways; save it with one kind of line ending"
    return first_line(message)
