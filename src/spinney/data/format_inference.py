"""Which form the cells of each column are written in.

Words
-----
evidence
    the forms that *all* known cells of a column match.
placeholder
    a text such as ``N/A`` that spreadsheets and people write where there is no number.
    It is missing where all other cells of its column are numbers or dates; among names
    it may be a name.

Where several forms are left, as of ``1,234``, the text_format decides, then the columns
of which one alone is left, then what a model remembers of its own table, then the
delimiter: files with decimal commas are divided at semicolons. A date whose day and
month could change places is in no form until somebody says which comes first.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from spinney.data.text_formats import (
    CURRENCY,
    DATE_ORDERS,
    FORMS,
    DateFormat,
    Form,
    NumberFormat,
    TextFormat,
)

PLACEHOLDERS = frozenset(
    {"?", "-", "--", ".", "NA", "N/A", "n/a", "na", "<NA>", "NaN", "nan", "NaT"}
    | {"NULL", "Null", "null", "None", "none", "#N/A", "#NA", "#NULL!", "#DIV/0!"}
    | {"#VALUE!", "#REF!", "#NAME?", "#NUM!"}
)
# Of these, one that stands for a missing number does so among names, too; "NA" there
# may be Namibia, and "-" a class.
SURE = frozenset({"?", "N/A", "n/a", "#N/A", "<NA>", "NULL", "NaN", "nan"})
# And these are worth a question among names, where "none" and "." are none.
LIKELY = frozenset({"NA", "na", "-", "--", "null", "Null", "NaT"})


_NOTHING = TextFormat()


@dataclass(frozen=True, slots=True)
class FormatCandidates:
    """The formats that all cells of a column match, placeholders left out.

    Parameters
    ----------
    forms : collection of Form
        Those that all cells match, and can be read by.
    pointed : bool
        Whether a comma or a point is in any cell, so that the form matters.
    plain : bool
        Whether all cells are numbers as programs write them.
    example : str
        A cell.
    placeholders : tuple of str
        Those among the cells.
    """

    forms: Collection[Form]
    pointed: bool
    plain: bool
    example: str
    placeholders: tuple[str, ...] = ()


def may_match_a_format(texts: Iterable[str]) -> bool:
    """Return whether a form may be that of cells among which are these.

    >>> may_match_a_format(["N/A"]), may_match_a_format(["red", "3"])
    (True, False)
    """
    known = set(texts) - PLACEHOLDERS
    return any(all(map(form.matches, known)) for form in FORMS)


def infer_candidates(texts: Iterable[str]) -> FormatCandidates | None:
    """Return what the known cells of a column say; None where they are in no form.

    >>> [form.decimal for form in infer_candidates(["1,017.77", "N/A", "3"]).forms]
    ['.']
    >>> infer_candidates(["red", "3"]) is None
    True
    """
    present = set(texts)
    known = sorted(present - PLACEHOLDERS)
    forms = [form for form in FORMS if known and all(map(form.reads, known))]
    if not forms or not signs_agree(known):
        return None
    if len(known) == 1 < len(present):
        return None  # of "-" and "1" both may be names
    pointed = [text for text in known if "," in text or "." in text]
    return FormatCandidates(
        forms,
        pointed=bool(pointed),
        plain=all(map(_PLAIN.fullmatch, known)),
        example=max(pointed or known),
        placeholders=tuple(sorted(present & PLACEHOLDERS)),
    )


_PLAIN = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_CURRENCY = re.compile(CURRENCY)


def signs_agree(texts: Collection[str]) -> bool:
    """Return whether all cells are percentages or none is, and of one currency.

    >>> signs_agree(["5 %", "0.05"]), signs_agree(["$5", "6"])
    (False, True)
    >>> signs_agree(["$5", "€6"])
    False
    """
    percent = sum("%" in text for text in texts)
    currencies = {sign for text in texts for sign in _CURRENCY.findall(text)}
    return percent in (0, len(texts)) and len(currencies) < 2


def forms_of(
    columns: Mapping[str, FormatCandidates],
    text_format: TextFormat,
    delimiter: str = ",",
    remembered: TextFormat = _NOTHING,
) -> "dict[str, Form]":
    """Return the form of each column whose form is known.

    Examples
    --------
    >>> seen = {"a": infer_candidates(["1,234"]), "b": infer_candidates(["2,5"])}
    >>> {name: form.decimal for name, form in forms_of(seen, TextFormat()).items()}
    {'a': ',', 'b': ','}
    """
    decimal = text_format.decimal or _decimal_of(columns.values(), remembered)
    dates = (
        text_format.dates
        or _only(certain(columns.values(), possible_date_orders))
        or remembered.dates
    )
    thousands = text_format.thousands or remembered.thousands
    likely = decimal or ("," if delimiter == ";" else ".")
    chosen: dict[str, Form] = {}
    for name, evidence in columns.items():
        numbers = [form for form in evidence.forms if isinstance(form, NumberFormat)]
        if numbers:
            # A number as programs write it is taken for one, unless commas are known.
            by_comma = decimal == "," and evidence.pointed
            if evidence.plain and not by_comma and not evidence.placeholders:
                continue
            chosen[name] = min(
                numbers,
                key=lambda form: (
                    form.decimal != likely,
                    form.thousands != (thousands or form.thousands),
                ),
            )
            continue
        orders = {f.name: f for f in evidence.forms if isinstance(f, DateFormat)}
        if len(orders) == 1 or dates in orders:
            chosen[name] = orders.get(dates or "") or next(iter(orders.values()))
    return chosen


def markers_of(
    columns: Mapping[str, FormatCandidates], forms: Collection[str]
) -> list[str]:
    """Return what stands for missing cells in the whole table.

    ``forms`` are the columns that have a form, so that placeholders are missing there.
    """
    seen = {text for name in forms for text in columns[name].placeholders}
    return sorted(seen & SURE)


def marks_of(evidence: FormatCandidates) -> set[str]:
    """Return the marks that may stand before the fractions of a column.

    >>> sorted(marks_of(infer_candidates(["1.500"]))), marks_of(infer_candidates(["1.5"]))
    ([',', '.'], {'.'})
    """
    if not evidence.pointed:
        return set()
    return {form.decimal for form in evidence.forms if isinstance(form, NumberFormat)}


def certain(
    columns: Iterable[FormatCandidates], ways: Callable[[FormatCandidates], set[str]]
) -> set[str]:
    """Return the marks, or orders, of which a column leaves no doubt.

    ``ways`` returns those that a column may have.
    """
    found = map(ways, columns)
    return set().union(*(each for each in found if len(each) == 1))


def is_open(columns: Collection[FormatCandidates], text_format: TextFormat) -> bool:
    """Return whether columns can be read in two ways, and none tells which is right."""
    orders = [possible_date_orders(each) for each in columns]
    if (
        text_format.dates is None
        and any(orders)
        and min(map(len, filter(None, orders))) > 1
    ):
        return True
    several = any(len(marks_of(each)) > 1 for each in columns)
    return text_format.decimal is None and several and not certain(columns, marks_of)


def _decimal_of(
    columns: Collection[FormatCandidates], remembered: TextFormat
) -> str | None:
    """Return what stands before fractions, as columns say or else a model remembers.

    Numbers as programs write them say it only against what is remembered: beside
    columns with commas they may be whole, with points between thousands.
    """
    marks = certain((each for each in columns if not each.plain), marks_of)
    if not marks and remembered.decimal is not None:
        marks = certain(columns, marks_of)
    return _only(marks) or remembered.decimal


def possible_date_orders(evidence: FormatCandidates) -> set[str]:
    """Return the orders that the dates of a column may have, if any matters.

    >>> sorted(possible_date_orders(infer_candidates(["3/4/2026"]))), possible_date_orders(infer_candidates(["3.4.26"]))
    (['dayfirst', 'monthfirst'], {'dayfirst'})
    """
    names = {form.name for form in evidence.forms if isinstance(form, DateFormat)}
    return names if names <= set(DATE_ORDERS) else set()


def _only(found: set[str]) -> str | None:
    """Return what columns tell, if they agree."""
    return next(iter(found)) if len(found) == 1 else None
