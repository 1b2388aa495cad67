"""Delimited text files (CSV and TSV), scanned by DuckDB.

The header and the delimiter are inferred here, because DuckDB guesses both and renames
columns without notice. Cells are scanned as text; columns of only numbers, dates or
timestamps in one format are then parsed.
"""

import csv
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.data.cells import LARGEST_EXACT_INTEGER, warn_of_large_integers
from spinney.data.declarations import Declarations, check_names
from spinney.data.duckdb.columns import aggregate, first_line
from spinney.data.duckdb.connection import connected, literal_path
from spinney.data.duckdb.sql_text import quote_text
from spinney.data.duckdb.sql_text_formats import (
    have_times_of_day,
    infer_candidates_in_sql,
    parse_expression,
)
from spinney.data.format_inference import (
    FormatCandidates,
    choose_formats,
    may_match_a_format,
)
from spinney.data.readers.local_files import wrong_encoding
from spinney.data.readers.table_head import (
    CellCounts,
    find_header,
    header_warning,
    n_descriptions,
    resolve_names,
    unclear_names,
)
from spinney.data.reading_notes import ReadingNotes
from spinney.data.text_formats import PADDED, DateFormat, NumberFormat, TimeFormat
from spinney.data.times import DAY_PATTERN, INSTANT_PATTERN
from spinney.errors import DataError, Setting

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DELIMITERS = ",;\t|"

_SAMPLE = 100
_SAMPLE_FOR_FORMATS = 1_000
_CHUNK = 1 << 20
_INTEGER = r"\s*[+-]?\d+\s*"
_OFFSET = r":\d{2}(\.\d+)?(Z|[+-]\d{2}(:?\d{2})?)$"


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a file: its delimiter, the column names as written, the first row.

    ``n_titles`` lines are above the header, ``n_lines`` above the first row.
    ``n_descriptions`` lines below the header describe the columns, as in surveys.
    ``warning`` is about a suspicious header, unless the user declared its place.
    """

    delimiter: str
    names: tuple[str, ...]
    n_titles: int
    n_lines: int
    warning: str = ""
    n_descriptions: int = 0


@contextmanager
def open_delimited(
    path: Path,
    origin: str,
    *,
    declarations: Declarations,
    delimiters: str,
    encoding: str | None,
    notes: ReadingNotes,
) -> "Iterator[tuple[DuckDBPyConnection, DuckDBPyRelation, list[str]]]":
    """Yield a connection, a relation over the file, and its column names."""
    import duckdb

    layout = layout_of(path, origin, delimiters, declarations.text_format.skip)
    with (
        _plain_copy(path, origin, layout) as (plain, n_lines),
        connected(plain) as connection,
    ):
        texts = _texts(
            connection, plain, replace(layout, n_lines=n_lines), declarations.missing
        )
        try:
            scan = _Scan(texts, origin, layout, declarations, notes)
            relation = scan.relation()
        except duckdb.Error as error:
            reason = _explain_failure(path, layout, str(error))
            if reason is None:
                raise wrong_encoding(origin, encoding) from None
            msg = f"{origin!r} is not a table: {reason}"
            raise DataError(msg) from None
        yield connection, relation, list(scan.names.values())


def layout_of(
    path: Path, origin: str, delimiters: str, skip: int | None = None
) -> Layout:
    """Return the layout of a file; ``skip`` is the number of lines above its header."""
    layouts = [
        layout
        for delimiter in delimiters
        if (layout := _layout(_sample(path, delimiter), delimiter, skip)) is not None
    ]
    if not layouts:
        msg = f"{origin!r} is empty"
        after = (" after ", Setting("skip", skip)) if skip else ""
        raise DataError(msg, after, remedy="its first line must name the columns")
    return max(layouts, key=lambda each: each[0])[1]


def _layout(
    records: Sequence[tuple[int, list[str]]], delimiter: str, skip: int | None
) -> tuple[tuple[bool, bool, int], Layout] | None:
    """Return the rank of a delimiter, and the layout that it gives."""
    lines = [line for line, _ in records]
    above = None if skip is None else sum(line <= skip for line in lines)
    head = find_header([cells for _, cells in records], above)
    if head is None:
        return None
    below = [cells for _, cells in records[head.above + 1 :]]
    n_more = n_descriptions(below)
    # Where the sample ends with the names, there are no rows.
    after = [*lines, lines[-1] + 1][head.above + 1 + n_more]
    warning = header_warning(head.names, below) if skip is None else ""
    n_titles = lines[head.above] - 1
    layout = Layout(delimiter, head.names, n_titles, after - 1, warning, n_more)
    return (head.fits, head.is_first, len(head.names)), layout


def _sample(path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first records, up to one too long for the csv module."""
    records: list[tuple[int, list[str]]] = []
    with suppress(csv.Error):
        records.extend(islice(_records(path, delimiter), _SAMPLE))
    return records


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record with the number of its first line."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        line = 1
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1


@contextmanager
def _plain_copy(path: Path, origin: str, layout: Layout) -> Iterator[tuple[Path, int]]:
    """Yield the file, and the number of lines above its rows.

    It is a copy if a name spans several lines, or line endings differ: DuckDB applies
    the first line ending to all lines, and may then find no rows.
    """
    has_long_names = any("\n" in name or "\r" in name for name in layout.names)
    has_long_names |= layout.n_descriptions > 0  # which may have several lines, too
    if not has_long_names and (
        _has_uniform_line_endings(path) or _can_scan(path, layout)
    ):
        yield path, layout.n_lines
        return
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        copy = Path(folder, path.name)
        with open(copy, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(
                file,
                delimiter=layout.delimiter,
                quoting=csv.QUOTE_ALL,
                lineterminator="\n",
            )
            try:
                for line, cells in _records(path, layout.delimiter):
                    if line > layout.n_lines:
                        writer.writerow(map(_normalise_line_ends, cells))
            except csv.Error as error:
                msg = f"{origin!r} cannot be read ({error}): shorten the cell"
                raise DataError(msg) from None
        yield copy, 0


def _has_uniform_line_endings(path: Path) -> bool:
    """Return whether all lines of a file have the same ending."""
    pairs, returns, feeds = 0, 0, 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            if chunk.endswith(b"\r"):
                chunk += file.read(1)
            if b"\r" in chunk:
                pairs += chunk.count(b"\r\n")
                returns += chunk.count(b"\r")
            feeds += chunk.count(b"\n")
    return (pairs > 0) + (returns > pairs) + (feeds > pairs) < 2


def _normalise_line_ends(cell: str) -> str:
    return cell.replace("\r\n", "\n").replace("\r", "\n")


def _can_scan(path: Path, layout: Layout) -> bool:
    """Return whether DuckDB can scan a file whose line endings may differ in quotes."""
    import duckdb

    with connected(path) as connection:
        try:
            aggregate(_texts(connection, path, layout), {"rows": "count(*)"})
        except duckdb.Error:
            return False
    return True


def _texts(
    connection: "DuckDBPyConnection",
    path: Path,
    layout: Layout,
    missing: Iterable[str] = (),
) -> "DuckDBPyRelation":
    """Return a relation over the file whose cells are texts.

    Its columns are named c0, c1, …, as DuckDB ignores the case of names.
    """
    types = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(layout.names)))
    markers = ", ".join(map(quote_text, ["", *missing]))
    return connection.sql(
        f"SELECT * FROM read_csv({literal_path(path)}, auto_detect = false, "
        f"columns = {{{types}}}, header = false, skip = {layout.n_lines}, "
        f"delim = {quote_text(layout.delimiter)}, "
        f"quote = '\"', escape = '\"', nullstr = [{markers}], strict_mode = true)"
    )


class _Scan:
    """Types and names the columns of a scanned file.

    ``names`` maps the kept columns c0, c1, … to their names.
    """

    def __init__(
        self,
        texts: "DuckDBPyRelation",
        origin: str,
        layout: Layout,
        declarations: Declarations,
        notes: ReadingNotes,
    ) -> None:
        self.texts, self.layout = texts, layout
        self.declarations, self.notes = declarations, notes
        self.names = self._names(origin)

    def _names(self, origin: str) -> dict[str, str]:
        """Return the names of the kept columns, and note changes."""
        if self.layout.warning and not self.notes.quiet:
            self.notes.add(self.layout.warning)
        if self.layout.n_titles and self.declarations.text_format.skip is None:
            self.notes.add_skipped(self.layout.n_titles)
        self.notes.add_descriptions(self.layout.n_descriptions)
        written = self.layout.names
        tests: dict[Any, str] = {"rows": "count(*)"}
        for index in unclear_names(written):
            tests[index, "cells"] = f"count(c{index})"
            tests[index, "values"] = f"count(DISTINCT c{index})"
        answers = aggregate(self.texts, tests) if len(tests) > 1 else {}
        counts = {
            index: CellCounts(
                answers["rows"], answers[index, "cells"], answers[index, "values"]
            )
            for index in unclear_names(written)
        }
        settled = resolve_names(written, counts, self.declarations, self.notes)
        names = {f"c{i}": name for i, name in enumerate(settled) if name is not None}
        origin = f"the header of {origin!r}"
        check_names(list(names.values()), self.declarations, origin=origin)
        return names

    def relation(self) -> "DuckDBPyRelation":
        """Return the relation of all columns, with the types of their cells."""
        parsed = self._expressions()
        cells = {name: parsed.get(name, self._text(name)) for name in self.names}
        listed = (f"{expression} AS {name}" for name, expression in cells.items())
        return self.texts.project(", ".join(listed))

    def _text(self, column: str) -> str:
        """Return the SQL of a text column's cells."""
        markers = ", ".join(map(quote_text, self.notes.markers))
        if not markers:
            return column
        return f"CASE WHEN {column} IN ({markers}) THEN NULL ELSE {column} END"

    def _expressions(self) -> dict[str, str]:
        """Return the SQL of the columns that are not text, by column.

        One pass finds numbers; further passes search the remaining candidates for
        dates, integers too large to be exact, and formatted numbers and dates. The
        aggregates have no FILTER, whose planning takes quadratic time in the columns.
        """
        kinds = {
            column: self.declarations.kind(name)
            for column, name in self.names.items()
            if not self.declarations.ignores(name)
        }
        free = [column for column, kind in kinds.items() if kind is None]
        # The count scans the file even if all kinds are declared.
        tests = {("all", "rows"): "count(*)"}
        for column in kinds:
            number = f"TRY_CAST({column} AS DOUBLE)"
            tests[column, "number"] = f"count({column}) = count({number})"
            tests[column, "joined"] = f"bool_or(contains({column}, '_'))"
            tests[column, "greatest"] = f"max(abs({number}))"
            tests[column, "dashed"] = f"bool_and(substr({column}, 5, 1) = '-')"
            # Spaces, signs and 0 sort before 1, so most cells skip the pattern.
            padded = f"{column} < '1' AND regexp_full_match({column}, '{PADDED}')"
            tests[column, "padded"] = f"max(CASE WHEN {padded} THEN {column} END)"
        answers = aggregate(self.texts, tests)
        # A column without cells is numeric.
        numbers = [
            column
            for column in kinds
            if answers[column, "number"] and not answers[column, "joined"]
        ]
        large = []
        for column in numbers:
            greatest = answers[column, "greatest"]
            if greatest is not None and not greatest < LARGEST_EXACT_INTEGER:
                large.append(column)
        for column in _large_integer_columns(self.texts, set(large).intersection(free)):
            warn_of_large_integers(self.names[column])
        dated = set(free).difference(numbers)
        times = _time_types(self.texts, [c for c in dated if answers[c, "dashed"]])
        remaining = [
            column
            for column, kind in kinds.items()
            if kind in (None, "numeric") and column not in {*numbers, *times}
        ]
        types = dict.fromkeys(set(numbers).intersection(free), "DOUBLE") | times
        for column in sorted(set(numbers).intersection(free), key=list(kinds).index):
            self.notes.add_padded(self.names[column], answers[column, "padded"])
        return {
            **{column: _cast(column, type_name) for column, type_name in types.items()},
            **self._parsed_columns(
                remaining, [c for c in numbers if kinds[c] in (None, "numeric")]
            ),
        }

    def _parsed_columns(
        self, remaining: Sequence[str], numbers: Sequence[str]
    ) -> dict[str, str]:
        """Return the SQL of columns of formatted numbers and dates, by column.

        ``numbers`` are columns of plain numbers; in a file with decimal commas, their
        points may separate thousands.
        """
        declared, delimiter = self.declarations, self.layout.delimiter
        numeric = [c for c in remaining if declared.kind(self.names[c]) == "numeric"]
        likely = self._with_candidates(remaining)
        candidates = infer_candidates_in_sql(self.texts, likely, numeric)
        settings = (declared.text_format, delimiter, declared.model_format)
        formats = choose_formats(candidates, *settings, names=self.names)
        decimals = {f.decimal for f in formats.values() if isinstance(f, NumberFormat)}
        marks = (declared.text_format.decimal, declared.model_format.decimal, *decimals)
        if "," in marks and numbers:
            candidates |= infer_candidates_in_sql(self.texts, numbers)
        formats = self.notes.choose_formats(
            candidates,
            declared,
            self._candidates_of_ignored,
            delimiter=delimiter,
            names=self.names,
        )
        dates = [c for c, format in formats.items() if format.kind == DateFormat.kind]
        clocks = have_times_of_day(self.texts, dates)
        expressions = {}
        for column, format in formats.items():
            kind = "TIME" if isinstance(format, TimeFormat) else "DOUBLE"
            if column in clocks:
                kind = "TIMESTAMP" if clocks[column] else "DATE"
            expressions[column] = f"CAST({parse_expression(column, format)} AS {kind})"
        return expressions

    def _candidates_of_ignored(self) -> dict[str, FormatCandidates]:
        names = self.names.items()
        ignored = [c for c, name in names if self.declarations.ignores(name)]
        return infer_candidates_in_sql(self.texts, self._with_candidates(ignored))

    def _with_candidates(self, columns: Iterable[str]) -> list[str]:
        """Return the columns whose first cells may have a format."""
        listed = list(columns)
        if not listed:
            return []
        first_rows = (
            self.texts.limit(_SAMPLE_FOR_FORMATS).project(", ".join(listed)).fetchall()
        )
        return [
            column
            for column, cells in zip(listed, zip(*first_rows, strict=True), strict=True)
            if may_match_a_format({cell for cell in cells if cell is not None})
        ]


def _large_integer_columns(
    texts: "DuckDBPyRelation", columns: Iterable[str]
) -> list[str]:
    """Return the columns with integers that float64 cannot represent."""
    tests = {
        column: f"bool_or(regexp_full_match({column}, '{_INTEGER}') AND coalesce("
        f"abs(TRY_CAST({column} AS HUGEINT)) > {LARGEST_EXACT_INTEGER}, true))"
        for column in columns
    }
    return [column for column, is_large in aggregate(texts, tests).items() if is_large]


def _cast(column: str, kind: str) -> str:
    """Return SQL that casts a text column to numbers, days or instants (in UTC)."""
    cast = f"CAST({column} AS {kind})"
    if kind != "TIMESTAMP":
        return cast
    utc = f"make_timestamp(epoch_us(CAST({column} AS TIMESTAMPTZ)))"
    return f"CASE WHEN regexp_matches({column}, '{_OFFSET}') THEN {utc} ELSE {cast} END"


def _time_types(texts: "DuckDBPyRelation", columns: Sequence[str]) -> dict[str, str]:
    """Return the types of columns of days or instants, by column."""
    kinds = {"TIMESTAMP": INSTANT_PATTERN, "DATE": DAY_PATTERN}
    tests = {
        (column, kind): f"bool_and(CASE WHEN {column} IS NOT NULL THEN "
        f"regexp_full_match({column}, '{pattern}') AND "
        f"TRY_CAST({column} AS {kind}) IS NOT NULL END)"
        for column in columns
        for kind, pattern in kinds.items()
    }
    answers = aggregate(texts, tests)
    # Every day is an instant, too; the last matching type is used.
    return {column: kind for (column, kind), fits in answers.items() if fits}


def _explain_failure(path: Path, layout: Layout, message: str) -> str | None:
    """Return the reason why DuckDB cannot scan a file; None for a wrong encoding."""
    if "Maximum line size" in message:
        return "a line exceeds DuckDB's limit of 2 million bytes; shorten its cells"
    if "unterminated quote" in message:
        return "a quote is not closed; close it, or double it inside a cell"
    width = len(layout.names)
    try:
        for line, cells in _records(path, layout.delimiter):
            if cells and line > layout.n_lines and len(cells) != width:
                return (
                    f"line {line} and the header differ in their number of cells, "
                    f"{len(cells)} and {width}; quote a cell that holds the delimiter, "
                    "or fix the line"
                )
    except UnicodeDecodeError:
        return None
    except csv.Error:  # a cell too long for the csv module
        return first_line(message)
    return first_line(message)
