"""Issues of columns, which are checked before a tree is grown.

Each row of :data:`ISSUES` is a kind. Its *problem* describes the issue of a column, or
is "" if there is none; its *remedy* says what to do. The facts of a column come from
cells in memory, from an engine, or from all partitions of a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import first_of, joined, value_text
from spinney.data.declarations import Declarations
from spinney.data.format_inference import LIKELY, SURE, infer_candidates
from spinney.data.row_numbers import (
    IntegerSummary,
    is_identifier_name,
    is_row_number_name,
    is_row_numbering,
    nearly_unique,
)
from spinney.data.table import Column, Table, Value, with_row
from spinney.data.unparsable_cells import (
    MAX_NAMED,
    MAX_TRIED,
    MIN_NUMBERS,
    common_format,
    conversion,
    missing_to_number,
    mixed_units,
    unparsable_cells,
    unparsable_remedy,
)
from spinney.errors import Setting, SpinneyWarning, Text, note, phrase, warn


@dataclass(frozen=True)
class IssueFacts:
    """The facts about a column that issues depend on.

    Parameters
    ----------
    name, kind, unit
        The fields of a ``Column``. declared : Declarations
        The declarations of the table. values : sequence of Value
        The values that occur in a nominal column; none for other kinds.
    n_known : int
        The number of known cells of a nominal column.
    count : callable
        Returns the counts of an integer column, None for other numbers. It is called
        only for row-number names.
    is_alone : bool
        Whether the table has no other column.
    column : Column, optional
        The cells, if they are in memory.
    rows : array, optional
        The positions of the rows in the user's table, if some were dropped.
    has_types, parses_text : bool
        The fields of the ``Table``.
    """

    name: str
    kind: str
    unit: str | None
    declared: Declarations
    values: Sequence[Value]
    n_known: int
    count: Callable[[], IntegerSummary | None]
    is_alone: bool = False
    column: Column | None = None
    rows: Integers | None = None
    has_types: bool = True
    parses_text: bool = False

    @property
    def is_declared(self) -> bool:
        """Whether the user declared the kind of the column."""
        return self.declared.kind(self.name) is not None

    @property
    def levels(self) -> Sequence[Value]:
        """All known values, including unused ones."""
        return self.values if self.column is None else self.column.levels

    @cached_property
    def unparsable(self) -> list[str]:
        """The few unparsable texts that keep a column from being numeric."""
        if not self.values:
            return []
        if self.column is None:
            return unparsable_cells(self.values)
        return unparsable_cells(
            self.levels, lambda text: len(self._cells_with(text)) == 1
        )

    @cached_property
    def number_problem(self) -> str:
        """Why a column of texts that look like numbers is none of numbers.

        Digits count if the column would be an identifier otherwise.
        """
        problem = mixed_units(self.values)
        if problem or not self.is_identifier:
            return problem
        return missing_to_number(self.values)

    @property
    def unparsable_in_words(self) -> str:
        """The first unparsable text, with its row if it is in a single cell."""
        texts = self.unparsable
        words = [
            with_row(text, self._cells_with(text), self.rows)
            for text in texts[:MAX_NAMED]
        ]
        more = len(texts) - MAX_NAMED
        return joined([*words, *([f"{more} more texts"] if more > 0 else [])])

    def _cells_with(self, text: str) -> Integers:
        """Return the positions of the cells with a text, if they are known."""
        if self.column is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.column.cells == self.levels.index(text))

    @cached_property
    def integers(self) -> IntegerSummary | None:
        """The counts of an integer column with a row-number name."""
        if self.kind != "numeric" or self.unit is not None or self.is_declared:
            return None
        return self.count() if is_row_number_name(self.name) else None

    @property
    def is_row_number(self) -> bool:
        """Whether a column with a row-number name numbers the rows of a table."""
        numbers = self.integers
        if self.is_alone or numbers is None or not numbers.is_consecutive:
            return False
        return is_row_number_name(self.name, numbers.n_rows)

    @cached_property
    def is_identifier(self) -> bool:
        """Whether (nearly) all known cells differ: texts, or integers with gaps.

        Integers count only in a column with an identifier name.
        """
        if self.values:
            n_values, n_known = len(self.values), self.n_known
            return nearly_unique(n_values, n_known) and _are_identifiers(self.values)
        numbers = self.integers
        if (
            numbers is None
            or numbers.is_consecutive
            or not is_identifier_name(self.name)
        ):
            return False
        return nearly_unique(numbers.n_different, numbers.n_known)

    @property
    def n_unique_in_words(self) -> str:
        """The fraction of unique values of an identifier, in words."""
        n_different, n_known = len(self.values), self.n_known
        if self.integers is not None:
            n_different = self.integers.n_different
            n_known = self.integers.n_known
        if n_different == n_known:
            return f"only unique values ({n_different})"
        return f"almost only unique values ({n_different} of {n_known})"


def facts_of(
    table: Table, declarations: Declarations | None = None, rows: Integers | None = None
) -> list[IssueFacts]:
    """Return the facts of the columns of a table in memory."""
    return [
        IssueFacts(
            column.name,
            column.kind,
            column.unit,
            declarations or Declarations(),
            column.present if column.kind == "nominal" else (),
            int(np.count_nonzero(~column.missing)),
            partial(IntegerSummary.of, column),
            is_alone=len(table.columns) < 2,
            column=column,
            rows=rows,
            has_types=table.has_types,
            parses_text=table.parses_text,
        )
        for column in table.columns
    ]


def _are_identifiers(values: Sequence[Value]) -> bool:
    """Return whether values are texts, and neither numbers nor dates.

    Unparsed numbers or dates are an issue, but no reason to exclude the column. Plain
    numbers are texts only if the user declared them so.
    """
    if not all(isinstance(value, str) for value in values):
        return False
    found = infer_candidates(islice(map(str, values), MAX_TRIED))
    return found is None or (found.is_plain and not found.placeholders)


@dataclass(frozen=True, slots=True)
class Issue:
    """A kind of issue: the problem of a column, or "", and its remedy."""

    problem: Callable[[IssueFacts], str]
    remedy: Callable[[IssueFacts], Text]

    def warning(self, facts: IssueFacts) -> SpinneyWarning | None:
        """Return the warning of this kind about a column, if there is one."""
        problem = self.problem(facts)
        if not problem:
            return None
        words = f"column {facts.name!r} {problem}"
        return SpinneyWarning(words, remedy=self.remedy(facts))


def _has_unparsable(facts: IssueFacts) -> str:
    if not facts.unparsable or facts.declared.kind(facts.name) == "nominal":
        return ""
    return f"reads as text because of {facts.unparsable_in_words}"


def _unparsable_remedy(facts: IssueFacts) -> Text:
    return unparsable_remedy(
        facts.name,
        facts.levels,
        facts.unparsable,
        has_types=facts.has_types,
        parses_text=facts.parses_text,
    )


def _is_no_number(facts: IssueFacts) -> str:
    """Describe what keeps texts that look like numbers from being numbers."""
    return "" if facts.unparsable or facts.is_declared else facts.number_problem


def _number_remedy(facts: IssueFacts) -> Text:
    return phrase(
        "write one kind of number in all cells, or declare it ({})",
        Setting("nominal", [facts.name]),
    )


def _has_similar_values(facts: IssueFacts) -> str:
    """Describe the first two values that look alike."""
    levels = facts.levels
    other_levels = {
        value_text(level): level for level in levels if not isinstance(level, str)
    }
    for text in levels:
        if isinstance(text, str) and text in other_levels:
            kind = "truth value" if isinstance(other_levels[text], bool) else "number"
            alike = f"the {kind} {text} and the text {text!r}"
            return f"holds {alike}, two values that look alike"
    return ""


def _texts(facts: IssueFacts) -> list[str]:
    """Return the values of an undeclared column of texts alone."""
    is_text = all(isinstance(level, str) for level in facts.levels)
    return [] if facts.is_declared or not is_text else [*map(str, facts.values)]


def _has_unconverted_text(facts: IssueFacts) -> str:
    """Describe dates, times of day or numbers that are texts.

    File readers parse such texts. Other tables have types: their texts are categories,
    and plain numbers as text were converted on purpose.
    """
    texts = _texts(facts)
    found = common_format(texts) if len(texts) >= MIN_NUMBERS else None
    if found is None:
        return ""
    format, candidates = found
    example = candidates.example
    return f"holds {format.kind} as text, such as {example!r}: each is a category"


def _conversion_remedy(facts: IssueFacts) -> Text:
    found = common_format(_texts(facts))
    return phrase(
        "convert them to {}, save the table as CSV, or declare the column nominal ({})",
        "" if found is None else conversion(*found),
        Setting("nominal", [facts.name]),
    )


def _is_identifier(facts: IssueFacts) -> str:
    if not facts.is_identifier or facts.unparsable or _is_no_number(facts):
        return ""
    return f"looks like an identifier with {facts.n_unique_in_words}"


def _is_row_number(facts: IssueFacts) -> str:
    return "numbers the rows" if facts.is_row_number else ""


def _is_unnamed_row_number(facts: IssueFacts) -> str:
    if facts.is_declared or facts.is_row_number or facts.column is None:
        return ""
    return "numbers the rows" if is_row_numbering(facts.column) else ""


def _has_one_value(facts: IssueFacts) -> str:
    if facts.column is None:
        return ""
    known = facts.column.cells[~facts.column.missing]
    if not len(known):
        return "is empty"
    is_constant = len(known) > 1 and (known == known[0]).all()
    return "has the same value in every cell" if is_constant else ""


def _exclude(facts: IssueFacts) -> Text:
    return phrase("exclude it ({})", Setting("ignore", [facts.name]))


def _remedy_for_x(facts: IssueFacts) -> Text:
    declared = Setting(facts.kind, [facts.name])
    return phrase("remove it from X, or declare it ({})", declared)


IDENTIFIERS = {
    "identifier": Issue(_is_identifier, _exclude),
    "row number": Issue(_is_row_number, _exclude),
}
ISSUES = {
    "unparsable": Issue(_has_unparsable, _unparsable_remedy),
    "no number": Issue(_is_no_number, _number_remedy),
    "similar values": Issue(_has_similar_values, lambda _: "merge them"),
    "unconverted text": Issue(_has_unconverted_text, _conversion_remedy),
    **IDENTIFIERS,
}
# Issues of remote rows.
REMOTE_ISSUES = {
    "unparsable": ISSUES["unparsable"],
    "no number": ISSUES["no number"],
    **IDENTIFIERS,
}
# Issues of X, whose columns an estimator keeps: later tables have as many.
X_ISSUES = {
    "unparsable": ISSUES["unparsable"],
    "no number": ISSUES["no number"],
    "unconverted text": ISSUES["unconverted text"],
    "row number": Issue(_is_row_number, _remedy_for_x),
    "identifier": Issue(
        lambda facts: "" if facts.is_declared else _is_identifier(facts), _remedy_for_x
    ),
}
# Issues that only ``look`` reports.
LOOK_ISSUES = {
    "one value": Issue(_has_one_value, _exclude),
    "row number": Issue(_is_unnamed_row_number, _exclude),
}


def column_warnings(
    facts: Sequence[IssueFacts], issues: Mapping[str, Issue] = ISSUES
) -> list[SpinneyWarning]:
    """Return the warnings about columns, kind by kind.

    Examples
    --------
    >>> from spinney.data.readers import read_table
    >>> numbers = [*map(str, range(11)), "x"]
    >>> days = ["2026-11-16", "2026-11-17", "2026-12-01"] * 4
    >>> alike = [1, "1", "2"] * 4
    >>> names = [f"n{i}" for i in range(12)]
    >>> cells = dict(a=numbers, b=alike, c=days, d=names, id=range(101, 113))
    >>> for warning in column_warnings(facts_of(read_table(cells))):
    ...     print(str(warning).split(":")[0])
    column 'a' reads as text because of 'x' in row 12
    column 'b' holds the number 1 and the text '1', two values that look alike
    column 'c' holds dates as text, such as '2026-12-01'
    column 'd' looks like an identifier with only unique values (12)
    column 'id' numbers the rows
    """
    found = []
    for kind, issue in issues.items():
        warnings = map(issue.warning, facts)
        found += [warning for warning in warnings if warning is not None]
        if kind == "unparsable":
            found += placeholder_warnings(facts)
    return found


def table_warnings(
    table: Table,
    declarations: Declarations | None = None,
    rows: Integers | None = None,
    issues: Mapping[str, Issue] = ISSUES,
) -> list[SpinneyWarning]:
    """Return the warnings about the columns of a table in memory.

    ``rows`` are their positions in the user's table, if some were dropped.
    """
    return column_warnings(facts_of(table, declarations, rows), issues)


def look_warnings(facts: Iterable[IssueFacts]) -> list[SpinneyWarning]:
    """Return the warnings that only ``look`` reports, at most one per column."""
    warnings_of_columns = []
    for column in facts:
        warnings = (issue.warning(column) for issue in LOOK_ISSUES.values())
        warnings_of_columns += [next(filter(None, warnings), None)]
    return [warning for warning in warnings_of_columns if warning is not None]


def placeholder_warnings(facts: Iterable[IssueFacts]) -> list[SpinneyWarning]:
    """Return one warning about values that may be missing-value markers.

    Unparsable cells have a warning of their own, and "-" beside "+" has none. In a
    declared column, texts that may be names do not count, such as ``NA`` (Namibia).

    >>> from spinney.data.readers import read_table
    >>> table = read_table({"sex": ["f", "m", "?"], "town": ["?", "Rome", "Ur"]})
    >>> print(*placeholder_warnings(facts_of(table)))
    '?' is read as a value in 'sex', 'town': if it means missing, declare it \
(missing_values=['?'])
    """
    columns: dict[str, list[str]] = {}
    for each in facts:
        if each.column is None:
            continue
        levels = {*map(str, each.levels)}
        unparsable = [] if each.is_declared else each.unparsable
        markers = SURE if unparsable or each.is_declared else SURE | LIKELY
        markers -= {*unparsable}  # these have a warning of their own
        if "+" in levels:
            markers -= {"-", "--"}
        for text in sorted(levels & markers):
            columns.setdefault(text, []).append(each.name)
    if not columns:
        return []
    texts = [*columns]
    names = dict.fromkeys(name for each in columns.values() for name in each)
    where = first_of([*map(repr, names)], MAX_NAMED)
    are = "are read as values" if len(texts) > 1 else "is read as a value"
    if_missing = "if they mean missing, declare them ({})"
    if len(texts) == 1:
        if_missing = "if it means missing, declare it ({})"
    remedy = phrase(if_missing, Setting("missing_values", texts))
    problem = f"{joined([*map(repr, texts)])} {are} in {where}"
    return [SpinneyWarning(problem, remedy=remedy)]


def without_identifiers(
    table: Table, declarations: Declarations, rows: Integers | None = None
) -> Table:
    """Return a table without identifiers; report the excluded columns.

    >>> import warnings
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"id": range(1, 13), "size": [1, 2, 3] * 4})
    >>> with warnings.catch_warnings(record=True) as notes:
    ...     warnings.simplefilter("always")
    ...     print(without_identifiers(table, Declarations()).names)
    ...     print(notes[0].message)
    ('size',)
    column 'id' numbers the rows and was excluded; to keep it, declare it \
(numeric=['id'])
    """
    return table.without(exclude_identifiers(facts_of(table, declarations, rows)))


def exclude_identifiers(facts: Sequence[IssueFacts]) -> tuple[str, ...]:
    """Return the names of identifiers and row numbers, and report them.

    Declared columns stay, and at least one column.
    """
    identifiers = [column for column in facts if not column.is_declared]
    identifiers = [
        column for column in identifiers if column.is_identifier or column.is_row_number
    ]
    if len(identifiers) == len(facts):
        return ()
    for column in identifiers:
        _report_excluded(column)
    return tuple(column.name for column in identifiers)


def _report_excluded(facts: IssueFacts) -> None:
    """Report that a column was excluded; as a warning if it has unparsable cells."""
    column = f"column {facts.name!r}"
    if facts.unparsable:
        problem = f"{column} {_has_unparsable(facts)}, and was excluded"
        warn(problem, remedy=_unparsable_remedy(facts))
        return
    if problem := _is_no_number(facts):
        warn(f"{column} {problem}, and was excluded", remedy=_number_remedy(facts))
        return
    why = "numbers the rows"
    if facts.is_identifier:
        why = f"has {facts.n_unique_in_words}"
    to_keep = phrase("to keep it, declare it ({})", Setting(facts.kind, [facts.name]))
    note(f"{column} {why} and was excluded; ", to_keep)
