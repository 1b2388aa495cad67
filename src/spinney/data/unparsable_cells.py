"""Columns of texts that are all, or nearly all, numbers, dates or times."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from spinney._support.text import joined
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
    NumberFormat,
    TextFormat,
    TimeFormat,
    unit_of,
)
from spinney.errors import PythonOnly, Setting, Text, phrase

MIN_NUMBER_FRACTION = 0.9
MIN_NUMBERS = 3  # distinct numbers that make a single text unparsable
MAX_NAMED = 5
KNOWN_UNITS = frozenset(
    [
        *("%", "mg", "g", "kg", "lb", "oz", "t", "mm", "cm", "m", "km", "in", "inche"),
        *("ft", "feet", "yd", "mi", "mile", "km/h", "mph", "ml", "l", "L", "gal"),
        *("°C", "°F", "C", "F", "sec", "min", "h", "hr", "hour", "day", "week"),
        *("month", "year", "W", "kW", "MW", "V", "KB", "MB", "GB", "TB", "m²", "sqm"),
        *("sq ft", "sq. ft", "sqft", "ft²", "sq m", "acre", "ha"),
    ]
)
MAX_TRIED = 200  # values of a column whose format is inferred


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
    unparsable = _unlike_most(texts, n_typed)
    n_numbers = n_values - len(unparsable)
    if not unparsable:
        return []
    if n_numbers >= MIN_NUMBER_FRACTION * n_values:
        return unparsable
    if len(unparsable) > 1 or n_numbers < MIN_NUMBERS or SURE.issuperset(unparsable):
        return []
    return unparsable if is_single(unparsable[0]) else []


def _unlike_most(texts: Sequence[str], n_numbers: int = 0) -> list[str]:
    """Return the texts without the format and unit of most; numbers have no unit.

    >>> _unlike_most(["70 kg", "154 lbs", "80 kg"]), _unlike_most(["12%", "0.12", "3%"])
    (['154 lbs'], ['0.12'])
    """
    likely = _likely_format(texts, NUMBER_FORMATS if n_numbers else CELL_FORMATS)
    if not isinstance(likely, NumberFormat):
        return [text for text in texts if not likely.can_parse(text)]
    units = Counter(map(unit_of, filter(likely.can_parse, islice(texts, MAX_TRIED))))
    units[""] += n_numbers
    unit = max(units, key=lambda each: (units[each], each))
    return [t for t in texts if not likely.can_parse(t) or unit_of(t) != unit]


def mixed_units(values: Sequence[Value]) -> str:
    """Describe numbers in different units, or with and without one; else "".

    >>> mixed_units(["70 kg", "154 lbs", "80 kg"])
    'mixes units, as in 154 lbs and 70 kg'
    >>> mixed_units(["12%", "0.12", "3%"])
    'mixes numbers with and without %, as in 0.12 and 12%'
    >>> mixed_units(["12A", "7B"]), mixed_units(["1st", "2nd"])
    ('', '')
    """
    texts = [v for v in islice(values, MAX_TRIED) if isinstance(v, str)]
    if not texts or infer_candidates(texts) is not None:
        return ""
    likely = _likely_format(texts, NUMBER_FORMATS)
    parsed = [*filter(likely.can_parse, sorted(texts, reverse=True))]
    examples = {unit_of(text): text for text in parsed}
    known = KNOWN_UNITS.intersection(examples)
    if len(parsed) < MIN_NUMBER_FRACTION * len(texts) or not known:
        return ""
    if "" in examples:
        unit = min(known)
        pair = joined(sorted([examples[""], examples[unit]]))
        return f"mixes numbers with and without {unit}, as in {pair}"
    pair = joined(sorted(examples[unit] for unit in sorted(known)[:2]))
    return f"mixes units, as in {pair}" if len(known) > 1 else ""


def missing_to_number(values: Sequence[Value]) -> str:
    """Describe why texts of digits, as those of identifiers, are no numbers; else "".

    >>> missing_to_number(["4912345/0", "4998765/1"])
    "has texts such as '4912345/0', no number because of '/'"
    >>> missing_to_number(["A-17", "B-2"])
    ''
    """
    texts = [v for v in islice(values, MAX_TRIED) if isinstance(v, str)]
    if not texts or not all(map(_is_mostly_digits, texts)):
        return ""
    likely = _likely_format(texts, NUMBER_FORMATS)
    text = next((text for text in texts if not likely.can_parse(text)), texts[0])
    strange = joined([*map(repr, dict.fromkeys(_STRANGE.findall(text)))])
    return f"has texts such as {text!r}, no number because of {strange or 'its marks'}"


# More digits than other signs behind an optional sign or bracket.
_NUMBER_LIKE = re.compile(r"\s*['(+−-]?\d")
_STRANGE = re.compile(r"[^\d\s.,'()+−-]+|(?<=\d)[−-](?=\d)")


def _is_mostly_digits(text: str) -> bool:
    n_digits = sum(map(str.isdigit, text))
    return bool(_NUMBER_LIKE.match(text)) and 2 * n_digits > len(text.replace(" ", ""))


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
