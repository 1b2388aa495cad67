"""The schema of a model: attributes, target, and codes of values.

A model is grown on codes and stores the schema. By the schema, new tables are read the
same way, with columns in any order and values in any coding.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.text import first_of, shown, signs_to_ascii, value_text
from spinney._version import __version__
from spinney.data.cells import first_unparsable, model_text_error, parse_number
from spinney.data.formula import Conjunction, Difference, reindexed
from spinney.data.table import Column, Kind, Value, factorise
from spinney.data.text_formats import DATE_AND_TIME_FORMATS, NUMBER_FORMATS, TextFormat
from spinney.data.times import TIME_UNITS, converted, parse_time
from spinney.errors import DataError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spinney.data.formula import Formula
    from spinney.data.table import Table


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column that a tree may split on.

    Parameters
    ----------
    name : str
        The column's name.
    kind : {"nominal", "ordinal", "numeric"}
        How its values compare.
    values : tuple
        The values in the order of their codes; empty for a numeric attribute.
    unit : str, optional
        The unit of a number, if the column held dates.
    cost : float
        The cost of measuring it, once per row.
    formula : Formula, optional
        Its construction from other attributes; see :mod:`spinney.data.formula`.
    """

    name: str
    kind: Kind
    values: tuple[Value, ...] = ()
    unit: str | None = None
    cost: float = 0.0
    formula: "Formula | None" = None
    _codes: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the values by text; the first of equal texts wins."""
        codes: dict[str, int] = {}
        for code, value in enumerate(self.values):
            codes.setdefault(value_text(value), code)
        object.__setattr__(self, "_codes", codes)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the name for display; with ``ascii_only``, formula signs in ASCII."""
        name = shown(self.name)
        return signs_to_ascii(name) if ascii_only and self.formula else name

    def encode(self, column: Column, *, first_row: int = 1) -> "NDArray[Any]":
        """Return the cells of a column as codes or numbers; -1 or NaN if missing.

        Unknown values count as missing. Values match by text, so that 7, 7.0 and "7"
        are one value. ``first_row`` is the column's first row number, for messages.
        """
        if self.kind == "numeric":
            return self._numbers(column, first_row)
        if column.kind == "numeric":
            known = [None if np.isnan(cell) else float(cell) for cell in column.cells]
            codes, levels = factorise(known)
            column = Column(column.name, self.kind, codes, levels)
        if not self.values:  # every training cell was missing
            return np.full_like(column.cells, -1)
        if column.levels == self.values:
            return column.cells
        code_of = [self._code(level) for level in column.levels]
        return np.array([*code_of, -1], dtype=np.int32)[column.cells]

    def all_missing(self, n_rows: int) -> "NDArray[Any]":
        """Return missing cells for an absent column."""
        return np.full(n_rows, np.nan if self.kind == "numeric" else -1)

    def _code(self, level: Value) -> int:
        """Return the code of a level, by value and type, or else by text."""
        code = self._codes.get(value_text(level), -1)
        if code < 0 and (isinstance(level, bool) or isinstance(self.values[0], bool)):
            # A CSV file may have true, True or TRUE for booleans of a data frame.
            word = value_text(level).lower()
            words = [value_text(value).lower() for value in self.values]
            return words.index(word) if word in words else -1
        if code >= 0 and type(self.values[code]) is not type(level):
            same = (
                index
                for index, value in enumerate(self.values)
                if type(value) is type(level) and value == level
            )
            return next(same, code)
        return code

    def _numbers(self, column: Column, first_row: int) -> "NDArray[Any]":
        """Return the numbers of a column in this attribute's unit; texts are parsed."""
        if column.kind == "numeric":
            numbers: NDArray[Any] | None = column.cells
            if column.unit != self.unit:
                numbers = converted(column.cells, column.unit, self.unit)
            if numbers is not None:
                return numbers
            if not column.missing.all():
                msg = (
                    f"column {self.name!r} counted {self.unit or 'plain numbers'} when "
                    f"the model was grown, but {column.unit or 'plain numbers'} here: "
                    "give it in the same form"
                )
                raise DataError(msg)
            return self.all_missing(len(column.cells))
        numbers_of_levels = [self._number(value_text(level)) for level in column.levels]
        if None in numbers_of_levels:
            unparsable = [
                code for code, number in enumerate(numbers_of_levels) if number is None
            ]
            raise self._refuse_text(column, unparsable, first_row)
        return np.array([*numbers_of_levels, np.nan], dtype=np.float64)[column.cells]

    def _number(self, text: str) -> float | None:
        number = parse_number(text) if self.unit is None else self._time(text)
        return None if number is None or np.isinf(number) else number

    def _refuse_text(
        self, column: Column, codes: list[int], first_row: int
    ) -> DataError:
        """Return the error for the text that cannot be parsed."""
        forms = NUMBER_FORMATS if self.unit is None else DATE_AND_TIME_FORMATS
        texts = {code: value_text(column.levels[code]) for code in codes}
        text = first_unparsable([*texts.values()], forms)
        code = next(code for code, level_text in texts.items() if level_text == text)
        rows = np.flatnonzero(column.cells == code)
        row = int(rows[0]) + first_row if len(rows) else None
        kind = "numeric" if self.unit is None else "a date or time"
        return model_text_error(self.name, text, kind, row=row)

    def _time(self, text: str) -> float | None:
        """Return an ISO date or timestamp as a number in this attribute's unit."""
        for unit in TIME_UNITS.values():
            number = parse_time(text, unit)
            if number is not None:
                number = converted(number, unit, self.unit)
            if number is not None:
                return number
        return None


@dataclass(frozen=True, slots=True)
class Target:
    """The column to predict: classes with their types, or a number.

    Parameters
    ----------
    name : str
        The column's name.
    classes : tuple
        The classes in the order of their codes; empty for a number.
    origin : float, optional
        The origin of a numeric target's moments. If it is near the mean, sums of
        squares keep their digits.
    costs : tuple of tuples, optional
        ``costs[label][true]``: the cost of predicting a label for a true class.
    """

    name: str
    classes: tuple[Value, ...] = ()
    origin: float | None = None
    costs: tuple[tuple[float, ...], ...] | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the target is a number."""
        return self.origin is not None

    @property
    def width(self) -> int:
        """The number of columns of count tables: one per class, or three moments."""
        return 3 if self.is_numeric else len(self.classes)

    @property
    def n_outputs(self) -> int:
        """The number of outputs of a node: a probability per class, or one number."""
        return 1 if self.is_numeric else len(self.classes)

    def encode(self, column: Column) -> "NDArray[Any]":
        """Return class codes, -1 for unknown classes; or numbers, NaN if missing."""
        if self.is_numeric:
            return Attribute(self.name, "numeric").encode(column)
        return Attribute(self.name, "nominal", self.classes).encode(column)


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of a model, in column order, and its target.

    A model stores its schema, and reads new tables by it. Attributes with formulas
    follow those of columns. ``markers`` are the missing-value markers of the training
    table, also for new tables; ``text_format`` is its format of numbers and dates.
    """

    attributes: tuple[Attribute, ...]
    target: Target
    markers: tuple[str, ...] = ()
    text_format: TextFormat = field(default_factory=TextFormat)

    def __post_init__(self) -> None:
        """Refuse formulas over attributes of unsuitable position or kind."""
        columns = self.attributes[: self.n_columns]
        for attribute in self.attributes[self.n_columns :]:
            _check_formula(attribute, columns)

    @property
    def n_columns(self) -> int:
        """The number of attributes that are columns; all others have formulas."""
        made = (p for p, a in enumerate(self.attributes) if a.formula is not None)
        return next(made, len(self.attributes))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 for a numeric target."""
        return len(self.target.classes)

    def position(self, name: str) -> int:
        """Return the index of an attribute by name."""
        if name in self.names:
            return self.names.index(name)
        msg = f"there is no attribute {name!r}: {did_you_mean(name, self.names)}"
        raise DataError(msg)

    def input_columns(self, needed: "Iterable[int]") -> list[int]:
        """Return the ascending indices of the columns that attributes depend on."""
        indices: set[int] = set()
        for index in map(int, needed):
            formula = self.attributes[index].formula
            indices.update((index,) if formula is None else formula.attribute_indices)
        return sorted(indices)

    def lacking_columns(
        self, present: "Iterable[str]", needed: "Iterable[int]"
    ) -> list[str]:
        """Return the needed columns that are not present."""
        present = set(present)
        names = (self.attributes[index].name for index in self.input_columns(needed))
        return [name for name in names if name not in present]

    def encode(
        self,
        table: "Table",
        needed: "Iterable[int] | None" = None,
        *,
        optional: "Iterable[int]" = (),
    ) -> list[Any]:
        """Return one array of cells per attribute, for columns in any order.

        Parameters
        ----------
        table : Table
            Columns are matched by name; further columns are ignored.
        needed : iterable of int, optional
            The attributes that must be encoded; others may be None.
        optional : iterable of int
            Needed attributes that may be absent; their cells are then missing.
        """
        indices = set(
            range(len(self.attributes)) if needed is None else map(int, needed)
        )
        lacking = self.lacking_columns(
            table.names, sorted(indices.difference(map(int, optional)))
        )
        if lacking:
            raise missing_columns(lacking, table.names)
        present = {column.name: column for column in table.columns}
        columns: list[Any] = [None] * len(self.attributes)
        for index in self.input_columns(indices):
            attribute = self.attributes[index]
            column = present.get(attribute.name)
            columns[index] = (
                attribute.all_missing(table.n_rows)
                if column is None
                else attribute.encode(column, first_row=table.first_row)
            )
        return self.completed(columns, sorted(indices))

    def completed(self, columns: "Sequence[Any]", needed: "Iterable[int]") -> list[Any]:
        """Return the cells of columns, then those of needed formulas."""
        cells = [*columns[: self.n_columns]]
        cells += [None] * (len(self.attributes) - len(cells))
        for index in map(int, needed):
            formula = self.attributes[index].formula
            if formula is not None:
                cells[index] = formula.cells(cells)
        return cells

    def constructed(self, formula: "Formula") -> Attribute:
        """Return an attribute with this formula and an unused name.

        >>> schema = Schema((Attribute("x", "numeric"), Attribute("y", "numeric")),
        ...                 Target("sort", ("a", "b")))
        >>> schema.constructed(Difference(0, 1)).name
        'x − y'
        """
        name = formula.text(self.attributes)
        is_truth_value = isinstance(formula, Conjunction)
        present = {self.target.name, *self.names}
        while name in present or (is_truth_value and not name.startswith("(")):
            name = f"({name})"
        if is_truth_value:
            return Attribute(name, "nominal", (False, True), formula=formula)
        return Attribute(name, "numeric", formula=formula)

    def of_columns(self) -> "Schema":
        """Return the schema without constructed attributes."""
        return replace(self, attributes=self.attributes[: self.n_columns])

    def without_costs(self) -> "Schema":
        """Return the schema without error costs and attribute costs."""
        free = tuple(
            a if repr(a.cost) == "0.0" else replace(a, cost=0.0)
            for a in self.attributes
        )
        return replace(self, attributes=free, target=replace(self.target, costs=None))

    def narrowed(self, needed: "Iterable[int]") -> "Schema":
        """Return the schema of some attributes and of the columns that they depend on.

        >>> schema = Schema(tuple(Attribute(name, "numeric") for name in "xyz"),
        ...                 Target("sort", ("a", "b")))
        >>> schema = schema.extended([schema.constructed(Difference(2, 1))])
        >>> narrow = schema.narrowed([3])
        >>> narrow.names, narrow.attributes[2].formula
        (('y', 'z', 'z − y'), Difference(first=1, second=0))
        """
        indices = [int(index) for index in needed]
        selected = sorted({*indices, *self.input_columns(indices)})
        new_index = {index: new for new, index in enumerate(selected)}
        attributes = []
        for index in selected:
            attribute = self.attributes[index]
            if attribute.formula is not None:
                formula = reindexed(attribute.formula, new_index)
                attribute = replace(attribute, formula=formula)
            attributes.append(attribute)
        return replace(self, attributes=tuple(attributes))

    def extended(self, attributes: "Iterable[Attribute]") -> "Schema":
        """Return the schema with further, constructed attributes."""
        return replace(self, attributes=(*self.attributes, *attributes))


def _check_formula(attribute: Attribute, base: "Sequence[Attribute]") -> None:
    """Refuse a formula over attributes that do not suit it."""
    formula, what = attribute.formula, f"attribute {attribute.name!r}"
    if formula is None:
        msg = f"{what} is a column but follows a constructed attribute"
        raise ParameterError(msg)
    if max(formula.attribute_indices) >= len(base):
        msg = f"{what} has a formula over an attribute that is not a column"
        raise ParameterError(msg)
    behind = [base[index] for index in formula.attribute_indices]
    if isinstance(formula, Conjunction):
        is_valid = attribute.kind == "nominal" and attribute.values == (False, True)
        is_valid &= all(isinstance(value, bool) for value in attribute.values)
        for clause, attribute_ in zip(formula.clauses, behind, strict=True):
            known = clause.codes is None or clause.codes[-1] < len(attribute_.values)
            is_valid &= known and (attribute_.kind == "numeric") == (
                clause.codes is None
            )
    else:
        is_valid = attribute.kind == "numeric" and not attribute.values
        is_valid &= all(attribute_.kind == "numeric" for attribute_ in behind)
        same = (
            isinstance(formula, Difference)
            and len({attribute_.unit for attribute_ in behind}) == 1
        )
        is_valid &= same or not any(attribute_.unit for attribute_ in behind)
    if not is_valid:
        msg = f"{what} has a formula over attributes of another kind or unit"
        raise ParameterError(msg)


def missing_columns(
    lacking: "Sequence[str]", names: "Sequence[str]", *, may_be_empty: bool = True
) -> DataError:
    """Return the error for a table without columns that the model needs."""
    it = "them" if len(lacking) > 1 else "it"
    near = did_you_mean(lacking[0], names)
    hint = f"it has {first_of([*map(repr, names)], 10)}; " if names else ""
    if near.endswith("?"):
        hint = f"{near} Else "
    needed = first_of([*map(repr, lacking)], 10)
    return DataError(
        f"the model needs the column{'s' if len(lacking) > 1 else ''} {needed}, "
        f"which the table does not have: {hint}add {it}"
        f"{' (empty cells are fine)' if may_be_empty else ''}"
    )


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The identity of the rows that a model was grown on.

    Parameters
    ----------
    n_rows : int
        The number of rows with a weight above 0 and a known class.
    weight : float
        Their weight.
    digest : str
        SHA-256 of the schema and the encoded rows, in order. Empty for rows of a
        database.
    version : str
        The version of Spinney that grew the tree.
    """

    n_rows: int
    weight: float
    digest: str = ""
    version: str = __version__
