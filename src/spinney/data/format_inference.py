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
    CellFormat,
    DateFormat,
    NumberFormat,
    TextFormat,
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
        An example cell. placeholders : tuple of str
        The placeholders among the cells.
    """

    formats: Collection[CellFormat]
    has_marks: bool
    is_plain: bool
    example: str
    placeholders: tuple[str, ...] = ()

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
    if not formats or not have_one_unit(known):
        return None
    if len(known) == 1 < len(present):
        return None  # "-" and "1" may both be names
    with_marks = [text for text in known if "," in text or "." in text]
    return FormatCandidates(
        formats,
        has_marks=bool(with_marks),
        is_plain=all(map(_PLAIN.fullmatch, known)),
        example=max(with_marks or known),
        placeholders=tuple(sorted(present & PLACEHOLDERS)),
    )


_PLAIN = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_CURRENCY = re.compile(CURRENCY)


def have_one_unit(texts: Collection[str]) -> bool:
    """Return whether all or no cells are percentages, with at most one currency.

    >>> have_one_unit(["5 %", "0.05"]), have_one_unit(["$5", "6"])
    (False, True)
    >>> have_one_unit(["$5", "€6"])
    False
    """
    n_percent = sum("%" in text for text in texts)
    currencies = {sign for text in texts for sign in _CURRENCY.findall(text)}
    return n_percent in (0, len(texts)) and len(currencies) < 2


def choose_formats(
    columns: Mapping[str, FormatCandidates],
    text_format: TextFormat,
    delimiter: str = ",",
    model_format: TextFormat = _UNDECLARED,
) -> dict[str, CellFormat]:
    """Return the format of each column whose format is known.

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
        numbers = [f for f in candidates.formats if isinstance(f, NumberFormat)]
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
