"""Columns worth a second look before a tree is grown: one table of issues.

Each row of :data:`ISSUES` is a kind. Its *problem* says of the facts of a column what
is odd about it, or "" if nothing is; its *remedy* says what to do. The facts come from
cells in memory, from an engine, or from all partitions of a table.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import inf

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.text import first_of, joined, value_text
from spinney.data.declarations import Declarations
from spinney.data.format_inference import LIKELY, SURE, infer_candidates
from spinney.data.table import Column, Table, Value, with_row
from spinney.data.unparsable_cells import (
    FEWEST_NUMBERS,
    MOST_NAMED,
    MOST_TRIED,
    common_format,
    odd_texts,
    turned,
    unparsable_remedy,
)
from spinney.errors import (
    Setting,
    SpinneyWarning,
    Text,
    note,
    phrase,
    warn,
)

FEWEST_IDENTIFIERS = 10
FEWEST_COUNTED = 3  # rows that a column numbers whose name says so
# Of a smaller table, two like cells are no small share.
FEWEST_CELLS_WITH_REPEATS = 20
SHARE_OF_IDENTIFIERS = 0.9
# What columns that number rows are called, in letters alone, and the last word of it.
COUNTS = {"", "id", "index", "no", "nr", "number", "row", "rowid", "rownumber"}
COUNTS |= {"rowindex", "nummer", "编号", "序号"}
LAST_WORDS = {"id", "no", "nr", "number"}
FEWEST_INDICES = 20  # of fewer rows, an index may be one of prices


@dataclass(frozen=True, slots=True)
class IntegerSummary:
    """What is counted of a column whose known cells are all whole numbers."""

    n_rows: int
    n_known: int
    n_different: int
    least: float
    greatest: float

    @classmethod
    def of(cls, column: Column) -> "IntegerSummary | None":
        """Return what is counted of cells in memory."""
        known = column.cells[~column.missing]
        if not len(known) or (known != np.floor(known)).any():
            return None
        different = np.unique(known)
        sizes = len(column.cells), len(known), len(different)
        return cls(*sizes, float(different[0]), float(different[-1]))

    @property
    def is_consecutive(self) -> bool:
        """Whether the numbers count the rows, in any order and from any number on."""
        if self.n_rows < FEWEST_COUNTED or self.n_different < self.n_rows:
            return False
        return self.greatest - self.least == self.n_rows - 1


@dataclass(frozen=True)
class IssueFacts:
    """What is known of a column before a tree is grown.

    Parameters
    ----------
    name, kind, unit
        As those of a ``Column``.
    declared : Declarations
        Those of the table.
    values : sequence of Value
        Those that rows have, of a nominal column; none of others.
    n_known : int
        How many cells of a nominal column are not missing.
    count : callable
        Counts a column of numbers; None if not all are whole. It is called where the
        name says that rows are numbered.
    is_alone : bool
        Whether no other column is there.
    column : Column, optional
        The cells, if they are in memory.
    rows : array, optional
        Where the rows of these cells were in the user's table, if not all are left.
    typed, as_written : bool
        As those of the ``Table``.
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
    typed: bool = True
    as_written: bool = False

    @property
    def is_declared(self) -> bool:
        """Whether somebody has said what the column is."""
        return self.declared.kind(self.name) is not None

    @property
    def levels(self) -> Sequence[Value]:
        """All values, those without a row included if that is known."""
        return self.values if self.column is None else self.column.levels

    @cached_property
    def odd_texts(self) -> list[str]:
        """The texts that keep a nominal column from being numeric, if they are few."""
        if not self.values:
            return []
        if self.column is None:
            return odd_texts(self.values)
        return odd_texts(self.levels, lambda text: len(self._cells_with(text)) == 1)

    @property
    def odd_in_words(self) -> str:
        """The first of these texts; one that a single cell holds, with its row."""
        odd = self.odd_texts
        words = [
            with_row(text, self._cells_with(text), self.rows)
            for text in odd[:MOST_NAMED]
        ]
        more = len(odd) - MOST_NAMED
        return joined([*words, *([f"{more} more texts"] if more > 0 else [])])

    def _cells_with(self, text: str) -> Integers:
        """Return the positions of the cells that hold a text, if they are known."""
        if self.column is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.column.cells == self.levels.index(text))

    @cached_property
    def whole_numbers(self) -> IntegerSummary | None:
        """What is counted of a column whose name says that it numbers rows."""
        if self.kind != "numeric" or self.unit is not None or self.is_declared:
            return None
        return self.count() if is_row_number_name(self.name) else None

    @property
    def numbers_rows(self) -> bool:
        """Whether a column beside others counts the rows, and is called so."""
        numbers = self.whole_numbers
        if self.is_alone or numbers is None or not numbers.is_consecutive:
            return False
        return is_row_number_name(self.name, numbers.n_rows)

    @cached_property
    def is_identifier(self) -> bool:
        """Whether (nearly) all known cells differ, and nothing else explains that.

        They are texts, or whole numbers with gaps in a column called so.
        """
        if self.values:
            n_values, n_known = len(self.values), self.n_known
            return nearly_all(n_values, n_known) and _are_names(self.values)
        numbers = self.whole_numbers
        if (
            numbers is None
            or numbers.is_consecutive
            or not is_identifier_name(self.name)
        ):
            return False
        return nearly_all(numbers.n_different, numbers.n_known)

    @property
    def how_many_differ(self) -> str:
        """How many cells of an identifier differ, in words."""
        n_different, n_known = len(self.values), self.n_known
        if self.whole_numbers is not None:
            n_different = self.whole_numbers.n_different
            n_known = self.whole_numbers.n_known
        if n_different == n_known:
            return f"all {n_different}"
        return f"nearly all ({n_different} of {n_known})"


def facts_of(
    table: Table,
    declarations: Declarations | None = None,
    rows: Integers | None = None,
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
            typed=table.typed,
            as_written=table.as_written,
        )
        for column in table.columns
    ]


def nearly_all(n_different: int, n_known: int) -> bool:
    """Return whether so many of the known cells differ that they tell rows apart.

    >>> nearly_all(9, 9), nearly_all(10, 10), nearly_all(18, 19), nearly_all(18, 20)
    (False, True, False, True)
    """
    if n_different < max(FEWEST_IDENTIFIERS, SHARE_OF_IDENTIFIERS * n_known):
        return False
    return n_different == n_known or n_known >= FEWEST_CELLS_WITH_REPEATS


def _are_names(values: Sequence[Value]) -> bool:
    """Return whether values are texts, and neither numbers nor dates.

    Numbers or dates that nobody could read are worth another look, not leaving out;
    plain numbers are text because somebody has said so.
    """
    if not all(isinstance(value, str) for value in values):
        return False
    seen = infer_candidates(islice(map(str, values), MOST_TRIED))
    return seen is None or (seen.plain and not seen.placeholders)


def is_row_number_name(name: str, n_rows: float = inf) -> bool:
    """Tell whether a column is called as those are that count so many rows.

    >>> [is_row_number_name(name) for name in ("ID", "PassengerId", "order_no", "paid")]
    [True, True, True, False]
    >>> is_row_number_name("price index", 4), is_row_number_name("index", 4)
    (False, True)
    >>> is_row_number_name("#"), is_row_number_name("0")
    (True, False)
    """
    bare, last = _bare_and_last(name)
    is_index = last == "index" and n_rows >= FEWEST_INDICES
    return bare in COUNTS or last in LAST_WORDS or is_index


def is_identifier_name(name: str) -> bool:
    """Tell whether a column is called as those are whose numbers only tell rows apart.

    >>> [is_identifier_name(name) for name in ("customer_id", "index", "OrderNo")]
    [True, True, True]
    >>> [is_identifier_name(name) for name in ("price index", "population", "%")]
    [False, False, False]
    """
    bare, last = _bare_and_last(name)
    return bare in COUNTS - {""} or last in LAST_WORDS


def _bare_and_last(name: str) -> tuple[str, str]:
    """Return the letters of a name, or else its digits, and its last word."""
    letters = "".join(filter(str.isalpha, name.lower()))
    *_, last = ["", *map(str.lower, _WORDS.findall(name))]
    return letters or "".join(filter(str.isdigit, name)), last


# Letters up to the next that is none, or that is a capital after a small one.
_WORDS = re.compile(r"(?:[^\W\d_a-z]+[a-z]*|[a-z]+)")


def numbers_all_rows(column: Column, fewest: int = FEWEST_IDENTIFIERS) -> bool:
    """Tell whether a column counts the rows: from 0 or 1 on, and in their order.

    One whose name says so does it in any order, and from any number on; there are so
    many rows at the ``fewest`` in others.
    """
    cells, n_rows = column.cells, len(column.cells)
    if column.kind != "numeric" or column.unit is not None or n_rows < FEWEST_COUNTED:
        return False
    if is_row_number_name(column.name, n_rows):
        numbers = IntegerSummary.of(column)
        return numbers is not None and numbers.is_consecutive
    in_order = n_rows >= fewest and cells[0] in (0, 1)
    return bool(in_order and (np.diff(cells) == 1).all())


@dataclass(frozen=True, slots=True)
class Issue:
    """A kind of issue: what is wrong with a column, or "", and what to do about it."""

    problem: Callable[[IssueFacts], str]
    remedy: Callable[[IssueFacts], Text]

    def warning(self, facts: IssueFacts) -> SpinneyWarning | None:
        """Return the warning of this kind about a column, if there is one."""
        problem = self.problem(facts)
        if not problem:
            return None
        words = f"column {facts.name!r} {problem}"
        return SpinneyWarning(words, remedy=self.remedy(facts))


def _has_odd_texts(facts: IssueFacts) -> str:
    if not facts.odd_texts or facts.name in facts.declared.nominal:
        return ""
    return f"reads as text because of {facts.odd_in_words}"


def _to_mend(facts: IssueFacts) -> Text:
    odd, how = facts.odd_texts, {"typed": facts.typed, "as_written": facts.as_written}
    return unparsable_remedy(facts.name, facts.levels, odd, **how)


def _has_values_alike(facts: IssueFacts) -> str:
    """Name the first two values that read alike."""
    levels = facts.levels
    others = {value_text(each): each for each in levels if not isinstance(each, str)}
    for text in levels:
        if isinstance(text, str) and text in others:
            kind = "truth value" if isinstance(others[text], bool) else "number"
            alike = f"the {kind} {text} and the text {text!r}"
            return f"holds {alike}, two values that read alike"
    return ""


def _texts(facts: IssueFacts) -> list[str]:
    """Return the values of a column of texts alone, which nobody has declared."""
    is_text = all(isinstance(level, str) for level in facts.levels)
    return [] if facts.is_declared or not is_text else [*map(str, facts.values)]


def _is_written(facts: IssueFacts) -> str:
    """Tell of dates, times of day or numbers that are texts.

    Files are read so that there are none. Other tables have types, by which a text is a
    name; plain numbers that are texts have been made so by somebody.
    """
    texts = _texts(facts)
    written = common_format(texts) if len(texts) >= FEWEST_NUMBERS else None
    if written is None:
        return ""
    form, seen = written
    return f"holds {form.kind} as text, such as {seen.example!r}, and each is a name"


def _to_turn(facts: IssueFacts) -> Text:
    written = common_format(_texts(facts))
    return phrase(
        "turn them into {}, give the table as CSV, where they are read so, or declare "
        "the column nominal ({})",
        "" if written is None else turned(*written),
        Setting("nominal", [facts.name]),
    )


def _is_identifier(facts: IssueFacts) -> str:
    if not facts.is_identifier or facts.odd_texts:
        return ""
    return f"looks like an identifier, {facts.how_many_differ} values differ"


def _numbers_rows(facts: IssueFacts) -> str:
    return "numbers the rows" if facts.numbers_rows else ""


def _numbers_rows_unnamed(facts: IssueFacts) -> str:
    if facts.is_declared or facts.numbers_rows or facts.column is None:
        return ""
    return "numbers the rows" if numbers_all_rows(facts.column) else ""


def _has_one_value(facts: IssueFacts) -> str:
    if facts.column is None:
        return ""
    known = facts.column.cells[~facts.column.missing]
    if not len(known):
        return "has no cell"
    is_same = len(known) > 1 and (known == known[0]).all()
    return "has the same value in every cell" if is_same else ""


def _ignored(words: str) -> Callable[[IssueFacts], Text]:
    return lambda facts: phrase(words, Setting("ignore", [facts.name]))


def _out_of_x(facts: IssueFacts) -> Text:
    kept = Setting(facts.kind, [facts.name])
    return phrase("leave it out of X, or declare it ({})", kept)


def _unless_declared(
    problem: Callable[[IssueFacts], str],
) -> Callable[[IssueFacts], str]:
    return lambda facts: "" if facts.is_declared else problem(facts)


IDENTIFIERS = {
    "identifier": Issue(_is_identifier, _ignored("ignore it ({})")),
    "count": Issue(_numbers_rows, _ignored("leave it out ({})")),
}
ISSUES = {
    "odd texts": Issue(_has_odd_texts, _to_mend),
    "alike": Issue(_has_values_alike, lambda _: "make them one"),
    "written": Issue(_is_written, _to_turn),
    **IDENTIFIERS,
}
# Those of rows that are not in memory.
REMOTE_ISSUES = {"odd texts": ISSUES["odd texts"], **IDENTIFIERS}
# Those of X, which an estimator leaves as it is: later tables have as many columns.
X_ISSUES = {
    "odd texts": ISSUES["odd texts"],
    "written": ISSUES["written"],
    "count": Issue(_numbers_rows, _out_of_x),
    "identifier": Issue(_unless_declared(_is_identifier), _out_of_x),
}
# Those that only ``look`` tells of.
LOOK_ISSUES = {
    "one value": Issue(_has_one_value, _ignored("leave it out ({})")),
    "count": Issue(_numbers_rows_unnamed, _ignored("leave it out ({})")),
}


def column_warnings(
    facts: Sequence[IssueFacts], issues: Mapping[str, Issue] = ISSUES
) -> list[SpinneyWarning]:
    """Return the warnings about columns: kind by kind, and of placeholders.

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
    column 'b' holds the number 1 and the text '1', two values that read alike
    column 'c' holds dates as text, such as '2026-12-01', and each is a name
    column 'd' looks like an identifier, all 12 values differ
    column 'id' numbers the rows
    """
    found = []
    for kind, issue in issues.items():
        warnings = map(issue.warning, facts)
        found += [warning for warning in warnings if warning is not None]
        if kind == "odd texts":
            found += placeholder_warnings(facts)
    return found


def table_warnings(
    table: Table,
    declarations: Declarations | None = None,
    rows: Integers | None = None,
    issues: Mapping[str, Issue] = ISSUES,
) -> list[SpinneyWarning]:
    """Return the warnings about the columns of a table in memory.

    ``rows`` are where those of the table were in that of the user, if not all are left.
    """
    return column_warnings(facts_of(table, declarations, rows), issues)


def look_warnings(facts: Iterable[IssueFacts]) -> list[SpinneyWarning]:
    """Return what only ``look`` tells of: one warning a column at most."""
    found = []
    for each in facts:
        warnings = (issue.warning(each) for issue in LOOK_ISSUES.values())
        found += [next(filter(None, warnings), None)]
    return [warning for warning in found if warning is not None]


def placeholder_warnings(facts: Iterable[IssueFacts]) -> list[SpinneyWarning]:
    """Return one warning of texts that are values and may stand for missing cells.

    There is none of odd texts among numbers, nor of "-" beside "+". Of a column that is
    declared there is none of what may well be a name, such as ``NA``, which is Namibia.

    >>> from spinney.data.readers import read_table
    >>> table = read_table({"sex": ["f", "m", "?"], "town": ["?", "Rome", "Ur"]})
    >>> print(*placeholder_warnings(facts_of(table)))
    '?' is a value like others in 'sex', 'town': if it stands for missing cells, say \
so (missing_values=['?'])
    """
    columns: dict[str, list[str]] = {}
    for each in facts:
        if each.column is None:
            continue
        levels = {*map(str, each.levels)}
        odd = [] if each.is_declared else each.odd_texts
        asked = SURE if odd or each.is_declared else SURE | LIKELY
        asked -= {*odd}  # of which is told as such
        if "+" in levels:
            asked -= {"-", "--"}
        for text in sorted(levels & asked):
            columns.setdefault(text, []).append(each.name)
    if not columns:
        return []
    texts = [*columns]
    names = dict.fromkeys(name for each in columns.values() for name in each)
    several = len(texts) > 1
    are = "are values" if several else "is a value"
    where = first_of([*map(repr, names)], MOST_NAMED)
    return [
        SpinneyWarning(
            f"{joined([*map(repr, texts)])} {are} like others in {where}",
            remedy=phrase(
                "if {} for missing cells, say so ({})",
                "they stand" if several else "it stands",
                Setting("missing_values", texts),
            ),
        )
    ]


def without_identifiers(
    table: Table, declarations: Declarations, rows: Integers | None = None
) -> Table:
    """Return a table without the columns that tell rows apart; say which they were.

    >>> import warnings
    >>> from spinney.data.readers import read_table
    >>> table = read_table({"id": range(1, 13), "size": [1, 2, 3] * 4})
    >>> with warnings.catch_warnings(record=True) as notes:
    ...     warnings.simplefilter("always")
    ...     print(without_identifiers(table, Declarations()).names)
    ...     print(notes[0].message)
    ('size',)
    column 'id' numbers the rows and is left out; to keep it, declare it \
(numeric=['id'])
    """
    return table.without(exclude_identifiers(facts_of(table, declarations, rows)))


def exclude_identifiers(facts: Sequence[IssueFacts]) -> tuple[str, ...]:
    """Return the columns that only tell rows apart, and say so; never all columns.

    Those are identifiers, and numbers that count the rows. One that is declared stays.
    """
    found = [each for each in facts if not each.is_declared]
    found = [each for each in found if each.is_identifier or each.numbers_rows]
    if len(found) == len(facts):
        return ()
    for each in found:
        _tell_left_out(each)
    return tuple(each.name for each in found)


def _tell_left_out(facts: IssueFacts) -> None:
    """Say that a column is left out; a warning, if a few texts made numbers texts."""
    column = f"column {facts.name!r}"
    if facts.odd_texts:
        problem = f"{column} {_has_odd_texts(facts)}, and is left out"
        warn(problem, remedy=_to_mend(facts))
        return
    why = "numbers the rows"
    if facts.is_identifier:
        why = f"has values of which {facts.how_many_differ} differ"
    to_keep = phrase("to keep it, declare it ({})", Setting(facts.kind, [facts.name]))
    note(f"{column} {why} and is left out; ", to_keep)
