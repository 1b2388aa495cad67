"""Inference of the cell format of each column.

Words
-----
candidates
    the formats that *all* known cells of a column match.
placeholder
    a text such as ``N/A`` that spreadsheets and people write instead of a number. It is
    missing if all other cells of its column are numbers or dates; in a nominal column
    it may be a category.

If several formats match, as for ``1,234``, the following decide, in this order: the
declared ``text_format``, columns with a single candidate, the format of the model's own
table, the delimiter (files with decimal commas are divided at semicolons). Dates with
exchangeable day and month stay texts until the user declares the order.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from spinney.data.text_formats import (
    CELL_FORMATS,
    CURRENCY,
    DATE_ORDERS,
    DURATION,
    CellFormat,
    DateFormat,
    NumberFormat,
    TextFormat,
    unit_of,
)

PLACEHOLDERS = frozenset(
    {"?", "-", "--", ".", "NA", "N/A", "n/a", "na", "<NA>", "NaN", "nan", "NaT"}
    | {"NULL", "Null", "null", "None", "none", "#N/A", "#NA", "#NULL!", "#DIV/0!"}
    | {"#VALUE!", "#REF!", "#NAME?", "#NUM!"}
)
# Placeholders that, if missing in one column, are missing in nominal columns, too. #
# Others may be categories there: "NA" Namibia, "-" a class.
SURE = frozenset({"?", "N/A", "n/a", "#N/A", "<NA>", "NULL", "NaN", "nan"})
# Placeholders that get a warning in nominal columns; "none" and "." do not.
LIKELY = frozenset({"NA", "na", "-", "--", "null", "Null", "NaT"})

_UNDECLARED = TextFormat()


@dataclass(frozen=True, slots=True)
class FormatCandidates:
    """The possible cell formats of a column, apart from placeholders.

    Parameters
    ----------
    formats : collection of CellFormat
        The formats that parse all cells.
    has_marks : bool
        Whether a cell has a comma or a point, so that the format matters.
    is_plain : bool
        Whether all cells are plain numbers, as programs write them.
    example : str
        A cell.
    placeholders : tuple of str
        Those among the cells.
    unit : str
        The unit behind the numbers, "" if they have none.
    has_units : bool
        Whether all cells have the unit, if there is one.
    """

    formats: Collection[CellFormat]
    has_marks: bool
    is_plain: bool
    example: str
    placeholders: tuple[str, ...] = ()
    unit: str = ""
    has_units: bool = True

    def usable(self, model_unit: str | None, *, for_model: bool) -> list[CellFormat]:
        """Return the formats, without numbers in a unit that is not the expected one.

        A model expects the unit of its own table, in which numbers may lack it.
        """
        if for_model or model_unit:
            is_usable = self.unit in ("", model_unit)
        else:
            is_usable = self.has_units
        return [f for f in self.formats if is_usable or not isinstance(f, NumberFormat)]

    @property
    def are_dates(self) -> bool:
        """Whether the cells can be dates only."""
        return all(isinstance(format, DateFormat) for format in self.formats)

    @property
    def decimals(self) -> set[str]:
        """The possible decimal marks, if the format matters.

        >>> sorted(infer_candidates(["1.500"]).decimals)
        [',', '.']
        >>> infer_candidates(["1.5"]).decimals
        {'.'}
        """
        if not self.has_marks:
            return set()
        return {f.decimal for f in self.formats if isinstance(f, NumberFormat)}

    @property
    def date_orders(self) -> set[str]:
        """The possible orders of day and month, if the format matters.

        >>> sorted(infer_candidates(["3/4/2026"]).date_orders)
        ['dayfirst', 'monthfirst']
        >>> infer_candidates(["3.4.26"]).date_orders
        {'dayfirst'}
        """
        names = {f.name for f in self.formats if isinstance(f, DateFormat)}
        return names if names <= set(DATE_ORDERS) else set()


def may_match_a_format(texts: Iterable[str]) -> bool:
    """Return whether a column with these texts may have a format.

    >>> may_match_a_format(["N/A"]), may_match_a_format(["red", "3"])
    (True, False)
    """
    known = set(texts) - PLACEHOLDERS
    return any(all(map(format.matches, known)) for format in CELL_FORMATS)


def infer_candidates(texts: Iterable[str]) -> FormatCandidates | None:
    """Return the format candidates for known cells; None if there are none.

    >>> candidates = infer_candidates(["1,017.77", "N/A", "3"])
    >>> [format.decimal for format in candidates.formats]
    ['.']
    >>> infer_candidates(["red", "3"]) is None
    True
    """
    present = set(texts)
    known = sorted(present - PLACEHOLDERS)
    formats = [f for f in CELL_FORMATS if known and all(map(f.can_parse, known))]
    units = set(map(unit_of, known)) if formats else set()
    if not have_one_unit(known, units):
        formats = [f for f in formats if not isinstance(f, NumberFormat)]
    if not formats:
        return None
    if len(known) == 1 < len(present):
        return None  # "-" and "1" may both be names
    with_marks = [text for text in known if "," in text or "." in text]
    return FormatCandidates(
        formats,
        has_marks=bool(with_marks),
        is_plain=all(map(_PLAIN.fullmatch, known)),
        example=max(
            [text for text in with_marks if not _PLAIN.fullmatch(text)]
            or with_marks
            or [text for text in known if not _PLAIN.fullmatch(text)]
            or known
        ),
        placeholders=tuple(sorted(present & PLACEHOLDERS)),
        unit=max(units).strip("%"),
        has_units="" not in units or max(units) in ("", "%"),
    )


_PLAIN = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_CURRENCY = re.compile(CURRENCY)


# Letters that are no unit: those of times and ordinals.
_NO_UNITS = {"am", "pm", "AM", "PM", "a.m", "p.m", "st", "nd", "rd", "th", "x"}


def have_one_unit(texts: Collection[str], units: Collection[str]) -> bool:
    """Return whether numbers have one currency, and one unit in all cells that have it.

    A percent sign must be in all cells or in none.

    >>> [have_one_unit(texts, set(map(unit_of, texts))) for texts in (
    ...     ["5 %", "0.05"], ["$5", "6"], ["$5", "€6"], ["70 kg", "154 lbs"])]
    [False, True, False, False]
    """
    currencies = {sign for text in texts for sign in _CURRENCY.findall(text)}
    return len(currencies) < 2 and is_one_unit(units)


def is_one_unit(units: Collection[str]) -> bool:
    """Return whether the units of cells, "" among them for none, are one.

    >>> [is_one_unit(units) for units in ({"kg"}, {"", "kg"}, {"", "%"}, {"st"})]
    [True, True, False, False]
    """
    named = set(units) - {""}
    if "%" in named:
        return len(units) == 1
    return len(named) < 2 and not any(unit.split()[0] in _NO_UNITS for unit in named)


def choose_formats(
    columns: Mapping[str, FormatCandidates],
    text_format: TextFormat,
    delimiter: str = ",",
    model_format: TextFormat = _UNDECLARED,
    *,
    names: Mapping[str, str] | None = None,
    for_model: bool = False,
) -> dict[str, CellFormat]:
    """Return the format of each column whose format is known.

    ``names`` are those by which a user knows the columns, and ``for_model`` says that
    a model reads: then a unit must be that of its own table.

    Examples
    --------
    >>> columns = {"a": infer_candidates(["1,234"]), "b": infer_candidates(["2,5"])}
    >>> chosen = choose_formats(columns, TextFormat())
    >>> {name: format.decimal for name, format in chosen.items()}
    {'a': ',', 'b': ','}
    """
    all_candidates = columns.values()
    decimal = text_format.decimal or _infer_decimal(all_candidates, model_format)
    order = _single(unambiguous(found.date_orders for found in all_candidates))
    dates = text_format.dates or order or model_format.dates
    thousands = text_format.thousands or model_format.thousands
    likely = decimal or ("," if delimiter == ";" else ".")
    chosen: dict[str, CellFormat] = {}
    for name, candidates in columns.items():
        unit = model_format.unit(name if names is None else names[name])
        usable = candidates.usable(unit, for_model=for_model)
        numbers = [f for f in usable if isinstance(f, NumberFormat)]
        if DURATION in usable and (unit == DURATION.unit or not numbers):
            if not for_model or unit == DURATION.unit:
                chosen[name] = DURATION
            continue
        if numbers:
            # Plain numbers stay plain, unless decimal commas are known.
            has_comma = decimal == "," and candidates.has_marks
            if candidates.is_plain and not has_comma and not candidates.placeholders:
                continue
            chosen[name] = min(
                numbers,
                key=lambda format: (
                    format.decimal != likely,
                    format.thousands != (thousands or format.thousands),
                ),
            )
            continue
        orders = {f.name: f for f in candidates.formats if isinstance(f, DateFormat)}
        if len(orders) == 1 or dates in orders:
            chosen[name] = orders.get(dates or "") or next(iter(orders.values()))
    return chosen


def table_markers(
    columns: Mapping[str, FormatCandidates], with_format: Collection[str]
) -> list[str]:
    """Return the missing-value markers for the whole table.

    They are the placeholders in columns ``with_format``.
    """
    placeholders = {text for name in with_format for text in columns[name].placeholders}
    return sorted(placeholders & SURE)


def unambiguous(options: Iterable[set[str]]) -> set[str]:
    """Return the decimal marks, or date orders, that are a column's only option."""
    return set().union(*(option for option in options if len(option) == 1))


def is_ambiguous(
    columns: Collection[FormatCandidates], text_format: TextFormat
) -> bool:
    """Return whether the decimal mark or date order is undecided."""
    orders = [options.date_orders for options in columns if options.date_orders]
    if text_format.dates is None and orders and min(map(len, orders)) > 1:
        return True
    decimals = [options.decimals for options in columns]
    has_several = any(len(options) > 1 for options in decimals)
    return text_format.decimal is None and has_several and not unambiguous(decimals)


def _infer_decimal(
    columns: Collection[FormatCandidates], model_format: TextFormat
) -> str | None:
    """Return the decimal mark of the columns, or else that of a model's table.

    Plain numbers count only against a model's mark: beside columns with commas, their
    points may separate thousands.
    """
    marks = unambiguous(column.decimals for column in columns if not column.is_plain)
    if not marks and model_format.decimal is not None:
        marks = unambiguous(column.decimals for column in columns)
    return _single(marks) or model_format.decimal


def _single(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None
