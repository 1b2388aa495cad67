"""Answers of surveys: scales, bands, several answers in a cell, codes, copies, totals.

Answers such as "Agree" and bands such as "18-24" have an order that their spelling does
not show. They stay nominal until the user declares the order: the option is offered.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

import numpy as np

from spinney._support.text import first_of, joined
from spinney.data.declarations import Declarations, matches
from spinney.data.table import Column, Table
from spinney.errors import Setting, SpinneyWarning, Text, phrase

MIN_LEVELS = 3  # of an order
MAX_LEVELS = 40
MIN_SHARED = 3  # columns of one scale, which a pattern names
MAX_NAMED = 3
MIN_SPREAD_VALUES = 50  # of a number, in a table whose rows should all differ
SENTINELS = {-9, -88, -98, -99, -999, -9999, -99999, 99, 999, 9999, 99999}
MIN_SENTINEL_ROWS = 2
TOTALS = {"total", "grand total", "totals", "sum", "gesamt", "summe", "insgesamt"}
NO_ANSWERS = {"don't know", "prefer not to say", "not applicable", "n/a", "no answer"}
NO_ANSWERS |= {"weiß nicht", "keine angabe", "k. a.", "k.a.", "dk", "na", "not sure"}

# Answers from low to high; those on one line have the same place.
_SCALES = (
    """strongly disagree|completely disagree|stimme gar nicht zu
    disagree|stimme nicht zu
    somewhat disagree|slightly disagree|tend to disagree|stimme eher nicht zu
    neither agree nor disagree|neutral|undecided|teils/teils|teils teils|weder noch
    somewhat agree|slightly agree|tend to agree|stimme eher zu
    agree|stimme zu
    strongly agree|completely agree|stimme voll zu|stimme voll und ganz zu""",
    """extremely dissatisfied
    very dissatisfied|sehr unzufrieden
    dissatisfied|unzufrieden
    somewhat dissatisfied|slightly dissatisfied|eher unzufrieden
    neither satisfied nor dissatisfied|neutral|teils/teils|weder noch
    somewhat satisfied|slightly satisfied|eher zufrieden
    satisfied|zufrieden
    very satisfied|sehr zufrieden
    extremely satisfied|äußerst zufrieden""",
    """never|nie|niemals
    almost never|hardly ever|fast nie
    rarely|seldom|selten
    occasionally|gelegentlich
    sometimes|about half the time|manchmal
    often|frequently|oft|häufig
    very often|most of the time|usually|sehr oft|sehr häufig|meistens
    almost always|nearly always|fast immer
    always|immer""",
    """extremely unlikely
    very unlikely|sehr unwahrscheinlich
    unlikely|unwahrscheinlich
    somewhat unlikely|eher unwahrscheinlich
    neither likely nor unlikely|neutral|teils/teils
    somewhat likely|eher wahrscheinlich
    likely|wahrscheinlich
    very likely|sehr wahrscheinlich
    extremely likely""",
)
SCALES = tuple(
    {
        text.strip(): place
        for place, line in enumerate(scale.splitlines())
        for text in line.split("|")
    }
    for scale in _SCALES
)
_NUMBER = r"[$€£]?\s?(\d[\d,. ]*?)[kK]?\s?(?:€|years?|jahre?)?"
_RANGE = re.compile(rf"{_NUMBER}\s?(?:-|–|to|bis)\s?{_NUMBER}", re.I)
_BELOW = re.compile(rf"(?:under|less than|below|up to|unter|bis)\s{_NUMBER}", re.I)
_ABOVE = re.compile(
    rf"{_NUMBER}\s?(?:\+|or more|and over|and above|or older|und mehr|und älter)"
    rf"|(?:over|more than|above|über|ab)\s{_NUMBER}",
    re.I,
)


def ordered_levels(levels: Sequence[object]) -> tuple[str, ...] | None:
    """Return answers from low to high if they are a scale or bands; else None.

    >>> ordered_levels(["Agree", "Disagree", "Strongly agree"])
    ('Disagree', 'Agree', 'Strongly agree')
    >>> ordered_levels(["18-24", "25-34", "65+", "Under 18"])
    ('Under 18', '18-24', '25-34', '65+')
    >>> ordered_levels(["$25,000 - $49,999", "Under $25,000", "$50,000 or more"])
    ('Under $25,000', '$25,000 - $49,999', '$50,000 or more')
    >>> ordered_levels(["2-1", "0-3", "1-1"]), ordered_levels(["red", "blue", "agree"])
    (None, None)
    """
    texts = [level for level in levels if isinstance(level, str)]
    texts = [text for text in texts if _plain(text) not in NO_ANSWERS]
    if not MIN_LEVELS <= len(texts) <= MAX_LEVELS or len(texts) < len(levels) - 2:
        return None
    if any("<" in text for text in texts):
        return None  # the sign between levels of --ordinal
    for scale in SCALES:
        places = [scale.get(_plain(text)) for text in texts]
        if None not in places and len(set(places)) == len(places):
            return tuple(sorted(texts, key=lambda text: scale[_plain(text)]))
    return _ordered_bands(texts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


def _ordered_bands(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Return ranges of numbers in order, which must not overlap; else None."""
    bands = {text: _band(text.strip()) for text in texts}
    known = sorted((band, text) for text, band in bands.items() if band is not None)
    if len(known) < len(texts) or not any(map(_RANGE.fullmatch, map(str.strip, texts))):
        return None
    ends = [band for band, _ in known]
    if any(end[1] > after[0] for end, after in pairwise(ends)):
        return None
    return tuple(text for _, text in known)


def _band(text: str) -> tuple[float, float] | None:
    """Return the ends of a range of numbers; None if the text is no range."""
    if found := _RANGE.fullmatch(text):
        low, high = _digits(found[1]), _digits(found[2])
        return (low, high) if low < high else None
    if found := _BELOW.fullmatch(text):
        return -np.inf, _digits(found[1])
    if found := _ABOVE.fullmatch(text):
        return _digits(found[1] or found[2]), np.inf
    return None


def _digits(text: str) -> float:
    """Return a whole number or a short fraction without marks of thousands."""
    grouped = re.sub(r"[,. ](?=\d{3}(?:\D|$))", "", text.strip(" ,."))
    try:
        return float(grouped.replace(",", "."))
    except ValueError:
        return np.nan


def ordered_answers(
    table: Table, declared: Declarations
) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return the levels of ordered answers, and the undeclared columns of each."""
    orders: list[tuple[tuple[str, ...], list[str]]] = []
    for column in table.columns:
        if column.kind != "nominal" or declared.kind(column.name) is not None:
            continue
        levels = ordered_levels(column.present)
        if levels is None:
            continue
        for place, (others, names) in enumerate(orders):
            together = ordered_levels([*dict.fromkeys((*others, *levels))])
            if together is not None and {*levels} & {*others}:
                orders[place] = together, [*names, column.name]
                break
        else:
            orders.append((levels, [column.name]))
    return orders


def survey_note(table: Table, declared: Declarations) -> str:
    """Return one note about the columns of ordered answers, or ""."""
    names = [name for _, each in ordered_answers(table, declared) for name in each]
    if not names:
        return ""
    listed = first_of([*map(repr, names)], MAX_NAMED)
    holds = "holds" if len(names) == 1 else "hold"
    return f"{listed} {holds} ordered answers, read as nominal: look names the option"


def survey_warnings(
    table: Table, declared: Declarations | None = None
) -> list[SpinneyWarning]:
    """Return what a survey's table needs, as ``look`` reports it.

    >>> from spinney.data.readers import read_table
    >>> cells = {f"Q{i}": ["Agree", "Disagree", "Neutral"] for i in (1, 2, 3)}
    >>> print(*survey_warnings(read_table(cells)))
    'Q1', 'Q2', 'Q3' hold ordered answers, and are read as nominal: declare the \
order (ordinal=['Q*: Disagree < Neutral < Agree'])
    """
    declared = declared or Declarations()
    warnings = []
    for levels, names in ordered_answers(table, declared):
        listed = first_of([*map(repr, names)], MAX_NAMED)
        problem = "holds ordered answers, and is"
        if len(names) > 1:
            problem = "hold ordered answers, and are"
        option = f"{_pattern(names, table.names)}: {' < '.join(levels)}"
        settings = [Setting("ordinal", [option])]
        present = {str(level) for name in names for level in table[name].present}
        if no_answers := sorted(present.difference(levels)):
            settings.append(Setting("missing_values", no_answers))
        places = ", ".join("{}" for _ in settings)
        remedy = phrase(f"declare the order ({places})", *settings)
        words = f"{listed} {problem} read as nominal"
        warnings.append(SpinneyWarning(words, remedy=remedy))
    for column in table.columns:
        if declared.kind(column.name) is None:
            for problem, remedy in _column_problems(column):
                words = f"column {column.name!r} {problem}"
                warnings.append(SpinneyWarning(words, remedy=remedy))
    return [*warnings, *_row_warnings(table)]


def _pattern(names: Sequence[str], known: Sequence[str]) -> str:
    """Return a pattern of these columns and no other, or their list."""
    prefix = "".join(
        same[0]
        for same in takewhile(lambda c: len({*c}) == 1, zip(*names, strict=False))
    )
    pattern = f"{prefix}*"
    matched = [name for name in known if matches(name, pattern)]
    if len(names) >= MIN_SHARED and matched == [*names]:
        return pattern
    return ",".join(names)


def _column_problems(column: Column) -> Iterator[tuple[str, Text]]:
    """Yield the problems of a column, with their remedies."""
    if column.kind == "numeric":
        if column.unit is None and (found := _sentinel(column)):
            code, n_rows = found
            yield (
                f"holds {code} in {n_rows} rows, far from its other numbers",
                phrase(
                    "if it is a code for a missing cell, declare it ({})",
                    Setting("missing_values", [str(code)]),
                ),
            )
        return
    texts = [level for level in column.present if isinstance(level, str)]
    if example := _several_answers(texts):
        remedy = "make a column of each answer, or exclude it ({})"
        ignored = Setting("ignore", [column.name])
        yield (
            f"holds several answers in a cell, as in {example!r}",
            phrase(remedy, ignored),
        )
    by_plain: dict[str, list[str]] = {}
    for text in texts:
        by_plain.setdefault(_plain(text), []).append(text)
    alike = next((each for each in by_plain.values() if len(each) > 1), None)
    if alike is not None:
        yield (
            f"holds {joined([*map(repr, alike)])}, spellings of one value",
            "merge them",
        )


def _sentinel(column: Column) -> tuple[int, int] | None:
    """Return a number that stands for a missing cell, and its rows; else None.

    It is negative among numbers that are not, or ten times as large as the others.
    """
    known = column.cells[~column.missing]
    values, counts = np.unique(known, return_counts=True)
    if len(values) < MIN_LEVELS + 1:
        return None
    for value, count, nearest in (
        (values[0], counts[0], values[1]),
        (values[-1], counts[-1], values[-2]),
    ):
        is_far = nearest >= 0 > value or value > 10 * abs(nearest)
        if value in SENTINELS and is_far and count >= MIN_SENTINEL_ROWS:
            return int(value), int(count)
    return None


def _several_answers(texts: Sequence[str]) -> str:
    """Return a cell of several answers, each of which is in other cells; else "".

    >>> _several_answers(["Email", "Email;Phone", "Phone;Post", "Post"])
    'Email;Phone'
    """
    for mark in (";", "|"):
        answers = {text: [p.strip() for p in text.split(mark)] for text in texts}
        several = [text for text in texts if len(answers[text]) > 1]
        different = {part for parts in answers.values() for part in parts}
        if len(several) >= 2 and len(different) < len(texts) + 1:
            return several[0]
    return ""


def _row_warnings(table: Table) -> Iterator[SpinneyWarning]:
    """Yield the warnings about rows: copies of others, and a total at the end."""
    if not table.n_rows:
        return
    for column in table.columns:
        text = column.value(table.n_rows - 1) if column.kind == "nominal" else None
        if isinstance(text, str) and _plain(text).rstrip(":") in TOTALS:
            yield SpinneyWarning(
                f"the last row looks like a total ({text!r} in {column.name!r})",
                remedy="remove it from the table",
            )
            break
    if len(table.columns) < 2:
        return
    n_different = [len(np.unique(column.cells)) for column in table.columns]
    if max(n_different, default=0) < min(MIN_SPREAD_VALUES, table.n_rows // 2):
        return  # rows of few values are often equal
    hashes = np.zeros(table.n_rows, np.uint64)
    for column in table.columns:
        _, codes = np.unique(column.cells, return_inverse=True)
        hashes = (hashes ^ codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    n_copies = table.n_rows - len(np.unique(hashes))
    if n_copies:
        rows = "1 row equals" if n_copies == 1 else f"{n_copies} rows equal"
        yield SpinneyWarning(
            f"{rows} an earlier row in every column",
            remedy="remove copies: in cross-validation they are predicted too well",
        )
