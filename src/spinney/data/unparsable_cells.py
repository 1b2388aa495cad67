"""Columns of texts that are all, or nearly all, numbers, dates or times."""

from collections.abc import Callable, Sequence
from itertools import islice

from spinney.data.cells import parse_number
from spinney.data.format_inference import (
    SURE,
    FormatCandidates,
    choose_formats,
    infer_candidates,
)
from spinney.data.table import Value
from spinney.data.text_formats import (
    CELL_FORMATS,
    DAY_FIRST,
    DIGIT,
    NUMBER_FORMATS,
    CellFormat,
    DateFormat,
    TextFormat,
    TimeFormat,
)
from spinney.errors import PythonOnly, Setting, Text, phrase

MIN_NUMBER_FRACTION = 0.9
MIN_NUMBERS = 3  # distinct numbers that make a single text unparsable
MAX_NAMED = 5
MAX_TRIED = 200  # values examined per column


def unparsable_cells(
    levels: Sequence[Value], is_single: Callable[[str], bool] = lambda _: False
) -> list[str]:
    """Return the few texts that keep values from being numbers; [] if there are many.

    They are at most a tenth of the values, or a text in a single cell that
    :func:`placeholder_warnings` does not report.

    >>> numbers = [*map(str, range(9))]
    >>> unparsable_cells([*numbers, "x"]), unparsable_cells([*range(9), "82 kg"])
    (['x'], ['82 kg'])
    """
    if any(isinstance(level, bool) for level in levels):
        return []
    texts = [level for level in levels if isinstance(level, str)]
    n_values, n_typed = len(levels), len(levels) - len(texts)
    # A fast test: numbers and dates of any format have a digit.
    n_with_digits = n_typed + sum(map(bool, map(DIGIT.search, texts)))
    if n_with_digits < MIN_NUMBER_FRACTION * n_values and n_with_digits < n_values - 1:
        return []
    likely = _likely_format(texts, NUMBER_FORMATS if n_typed else CELL_FORMATS)
    unparsable = [text for text in texts if not likely.can_parse(text)]
    n_numbers = n_values - len(unparsable)
    if not unparsable:
        return []
    if n_numbers >= MIN_NUMBER_FRACTION * n_values:
        return unparsable
    if len(unparsable) > 1 or n_numbers < MIN_NUMBERS or SURE.issuperset(unparsable):
        return []
    return unparsable if is_single(unparsable[0]) else []


def _likely_format(texts: Sequence[str], formats: Sequence[CellFormat]) -> CellFormat:
    """Return the format that parses most texts."""
    return max(formats, key=lambda f: sum(map(f.can_parse, islice(texts, MAX_TRIED))))


def unparsable_remedy(
    name: str,
    levels: Sequence[Value],
    unparsable: Sequence[str],
    *,
    has_types: bool,
    parses_text: bool,
) -> Text:
    """Return the remedy for unparsable texts among the values of a column.

    In tables with types, text becomes a number only by declaration, and a date only if
    the reader ``parses_text``.
    """
    are_listed = len(unparsable) <= MAX_NAMED
    missing = Setting("missing_values", unparsable if are_listed else ...)
    nominal = Setting("nominal", [name])
    texts = [str(level) for level in levels if level not in unparsable]
    cells, them = (
        ("that cell", "it") if len(unparsable) == 1 else ("these cells", "them")
    )
    if has_types and texts and parse_number(texts[0]) is not None:
        return phrase(
            "declare {} missing and the column numeric ({}, {}), or the column nominal "
            "({})",
            cells.split()[0],
            missing,
            Setting("numeric", [name]),
            nominal,
        )
    if has_types and not parses_text:
        format_and_candidates = common_format(texts) or (
            _likely_format(texts, CELL_FORMATS),
            None,
        )
        return phrase(
            "fix {} and convert the column to {}, save the table as CSV and declare {} "
            "missing ({}), or declare the column nominal ({})",
            cells,
            conversion(*format_and_candidates),
            them,
            missing,
            nominal,
        )
    remedy = "fix {}, declare {} missing ({}) or the column nominal ({})"
    return phrase(remedy, cells, them, missing, nominal)


def common_format(texts: Sequence[str]) -> tuple[CellFormat, FormatCandidates] | None:
    """Return the common format of all texts of a column; None without one."""
    if infer_candidates(texts[:MAX_TRIED]) is None:
        return None
    candidates = infer_candidates(texts)
    if candidates is None or candidates.is_plain:
        return None
    format = choose_formats({"": candidates}, TextFormat()).get("")
    return None if format is None else (format, candidates)


def conversion(format: CellFormat, candidates: FormatCandidates | None) -> Text:
    """Return the type to convert texts to, with the pandas call if known.

    By default, pandas reads the month first and refuses placeholders.
    """
    if not isinstance(format, DateFormat):
        return format.kind
    options = ["format='mixed'"]
    if candidates is not None and format.name == DAY_FIRST:
        options.append("dayfirst=True")
    if candidates is not None and candidates.placeholders:
        options.append("errors='coerce'")
    time = ".dt.time" if isinstance(format, TimeFormat) else ""
    call = f" (pandas.to_datetime(…, {', '.join(options)}){time})"
    return (format.kind, PythonOnly(call))
