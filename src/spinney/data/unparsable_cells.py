"""Texts meant as numbers, dates or times: all of a column, or all but a few."""

from collections.abc import Callable, Sequence
from itertools import islice

from spinney.data.cells import parse_number
from spinney.data.format_inference import (
    SURE,
    FormatCandidates,
    forms_of,
    infer_candidates,
)
from spinney.data.table import Value
from spinney.data.text_formats import (
    DAY_FIRST,
    DIGIT,
    FORMS,
    NUMBERS,
    DateFormat,
    Form,
    TextFormat,
    TimeFormat,
)
from spinney.errors import PythonOnly, Setting, Text, phrase

SHARE_OF_NUMBERS = 0.9
FEWEST_NUMBERS = 3  # different ones, beside which a single text is odd
MOST_NAMED = 5
MOST_TRIED = 200  # values of a column whose form is looked for


def odd_texts(
    levels: Sequence[Value], is_single: Callable[[str], bool] = lambda _: False
) -> list[str]:
    """Return the texts that keep values from being numbers, where these are few.

    They are a tenth of the values at most, or a text in a single cell that
    :func:`placeholder_warnings` do not tell of. Values that are numbers are no texts.

    >>> odd_texts([*map(str, range(9)), "x"]), odd_texts([*range(9), "82 kg"])
    (['x'], ['82 kg'])
    """
    if any(isinstance(level, bool) for level in levels):
        return []
    texts = [level for level in levels if isinstance(level, str)]
    n_values, n_typed = len(levels), len(levels) - len(texts)
    # Numbers and dates of any form have a digit, which is soon seen.
    most = n_typed + sum(map(bool, map(DIGIT.search, texts)))
    if most < SHARE_OF_NUMBERS * n_values and most < n_values - 1:
        return []
    likely = _likely(texts, NUMBERS if n_typed else FORMS)
    others = [text for text in texts if not likely.reads(text)]
    n_numbers = n_values - len(others)
    if not others:
        return []
    if n_numbers >= SHARE_OF_NUMBERS * n_values:
        return others
    if len(others) > 1 or n_numbers < FEWEST_NUMBERS or SURE.issuperset(others):
        return []
    return others if is_single(others[0]) else []


def _likely(texts: Sequence[str], forms: Sequence[Form]) -> Form:
    """Return the form that most of some texts are in."""
    return max(forms, key=lambda form: sum(map(form.reads, islice(texts, MOST_TRIED))))


def unparsable_remedy(
    name: str,
    levels: Sequence[Value],
    odd: Sequence[str],
    *,
    typed: bool,
    as_written: bool,
) -> Text:
    """Return what to do about odd texts among the values of a column.

    Where cells have types, numbers that are texts become numbers only by declaration,
    and dates become dates only ``as_written``.
    """
    missing = Setting("missing_values", odd if len(odd) <= MOST_NAMED else ...)
    nominal = Setting("nominal", [name])
    texts = [str(level) for level in levels if level not in odd]
    cells, them = ("that cell", "it") if len(odd) == 1 else ("these cells", "them")
    if typed and texts and parse_number(texts[0]) is not None:
        return phrase(
            "declare {} missing and the column numeric ({}, {}), or the column nominal "
            "({})",
            cells.split()[0],
            missing,
            Setting("numeric", [name]),
            nominal,
        )
    if typed and not as_written:
        return phrase(
            "mend {} and turn the column into {}, give the table as CSV and declare {} "
            "missing ({}), or declare the column nominal ({})",
            cells,
            turned(*(common_format(texts) or (_likely(texts, FORMS), None))),
            them,
            missing,
            nominal,
        )
    return phrase(
        "mend {}, declare {} missing ({}) or the column nominal ({})",
        cells,
        them,
        missing,
        nominal,
    )


def common_format(texts: Sequence[str]) -> tuple[Form, FormatCandidates] | None:
    """Return the form that all texts of a column are in, as a file has it."""
    if infer_candidates(texts[:MOST_TRIED]) is None:
        return None
    seen = infer_candidates(texts)
    if seen is None or seen.plain:
        return None
    form = forms_of({"": seen}, TextFormat()).get("")
    return None if form is None else (form, seen)


def turned(form: Form, seen: FormatCandidates | None) -> Text:
    """Return what texts of a form are to be turned into, and how if that is known.

    Pandas takes the month for first where it can, and refuses placeholders.
    """
    if not isinstance(form, DateFormat):
        return form.kind
    options = ["format='mixed'"]
    if seen is not None and form.name == DAY_FIRST:
        options.append("dayfirst=True")
    if seen is not None and seen.placeholders:
        options.append("errors='coerce'")
    time = ".dt.time" if isinstance(form, TimeFormat) else ""
    how = f" (pandas.to_datetime(…, {', '.join(options)}){time})"
    return (form.kind, PythonOnly(how))
