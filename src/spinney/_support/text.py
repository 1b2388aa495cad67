"""Values, numbers, dates and weights as text."""

import re
from datetime import UTC, datetime, timedelta
from math import ceil, inf, isfinite, nextafter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spinney.data import Value

COSTS_SHOWN = 4
COUNTED = 5
EXACT = 1e16
SPARED = 8  # digits, where "< 6.5" is written for "≤ 6.499999999999999"

# What ends a value among others, or begins a quoted one.
_SEPARATES = re.compile(r"[{},]|(?<![^\W_])[\"']")

# What a branch asks, and what arithmetic and trees are written with.
QUESTIONS = {"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in", "∉": "not in"}
SIGNS = {
    **QUESTIONS,
    "−": "-",
    "×": "x",
    "·": "*",
    "→": "->",
    "…": "...",
    "²": "^2",
    "₂": "2",
    "√": "sqrt",
    "∞": "inf",
}


def value_text(value: "Value") -> str:
    """Return a value as text, the same for 7 and 7.0, true and True.

    >>> [value_text(value) for value in ("7", 7, 7.0, True, 0.1)]
    ['7', '7', '7', 'true', '0.1']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)


def shown(value: "Value") -> str:
    r"""Return a value as text for a person: control characters are escaped.

    >>> print(shown("two\nlines"))
    two\nlines
    """
    text = value_text(value)
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text
    )


def written_value(value: "Value", *, listed: bool = False) -> str:
    """Return a value as a question names it, in quotes where it could be misread.

    That is as ``trees/split_condition.py`` reads it: alone it may hold commas,
    ``listed`` among others not.

    >>> written_value("Rome, GA"), written_value("Rome, GA", listed=True)
    ('Rome, GA', '"Rome, GA"')
    >>> print(written_value(""), written_value("it's"), written_value("so 'x'"))
    "" it's so 'x'
    >>> print(written_value("it's", listed=True), written_value("so 'x'", listed=True))
    it's "so 'x'"
    """
    text = shown(value)
    plain = bool(text) and text == text.strip() and text[0] not in "\"'{"
    if plain and not (listed and _SEPARATES.search(text)):
        return text
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def ascii_lower(name: str) -> str:
    """Return a name as databases compare it: letters of ASCII alone have two cases.

    >>> ascii_lower("Leaf É")
    'leaf É'
    """
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def joined(words: "Sequence[str]") -> str:
    """Return words with commas between them, and "and" before the last.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def ends_in_digit(labels: "Iterable[Value]") -> bool:
    """Return whether a number after one of these labels would be ambiguous."""
    return any(label_text(label)[-1].isdigit() for label in labels)


def counted_label(
    label: "Value", weight: float, total: float, *, colon: bool = False
) -> str:
    """Return a label with its weight and share; a colon keeps digits apart.

    >>> counted_label("yes", 3.0, 4.0), counted_label(1, 3.0, 4.0, colon=True)
    ('yes 3 (75 %)', '1: 3 (75 %)')
    """
    share = percent_text(weight / total)
    return f"{label_text(label)}{':' * colon} {weight_text(weight)} ({share})"


def percent_text(share: float, digits: int = 0) -> str:
    """Return a share in percent, with so many digits after the point.

    What lies in the middle becomes even: it is found in whole billionths of a percent,
    so that the last bits of a quotient decide nothing. Only nothing reads as 0, and
    only all as 100. ``percentText`` of ``numbers.js`` does the same.

    >>> [percent_text(n / 80) for n in (0, 26, 27, 30, 80)]
    ['0 %', '32 %', '34 %', '38 %', '100 %']
    >>> percent_text(1 / 1000), percent_text(0.9996), percent_text(0.3215, 1)
    ('< 1 %', '> 99 %', '32.2 %')
    """
    if not isfinite(share):
        return "–"
    whole, step = round(share * 1e11), 10 ** (9 - digits)
    steps = _half_to_even(whole, step)
    hundred = 10 ** (digits + 2)
    if (steps == 0 < share) or (steps == hundred and whole < 10**11):
        beyond, steps = ("<", 1) if steps == 0 else (">", hundred - 1)
        return f"{beyond} {steps / 10**digits:.{digits}f} %"
    return f"{steps / 10**digits:.{digits}f} %"


def _half_to_even(number: int, step: int) -> int:
    """Return the nearest number of steps in a whole number, ties to even."""
    steps, rest = divmod(number, step)
    return steps + (2 * rest > step or (2 * rest == step and steps % 2 == 1))


def number_text(number: float, unit: str | None = None) -> str:
    """Return a number so that reading it back gives the same one; dates as dates.

    >>> number_text(6.0), number_text(0.1), number_text(1.5, "days since 1970-01-01")
    ('6', '0.1', '1970-01-02T12:00:00')
    """
    if unit is None or " since " not in unit:
        return value_text(float(number))
    step, _, start = unit.partition(" since ")
    midnight = start == "midnight"
    origin = datetime.fromisoformat("1970-01-01" if midnight else start)
    try:
        moment = origin.replace(tzinfo=UTC) + timedelta(**{step: float(number)})
    except OverflowError:
        return value_text(float(number))
    plain = moment.replace(tzinfo=None)
    if midnight:
        return plain.time().isoformat()
    if step == "days" and float(number).is_integer():
        return plain.date().isoformat()
    return plain.isoformat()


def interval_text(
    name: str,
    low: float,
    high: float,
    *,
    unit: str | None = None,
    ascii_only: bool = False,
    digits: int | None = None,
) -> str:
    """Return how low < number ≤ high reads; an infinite bound is none.

    Beyond all numbers is what is missing.

    A bound reads as :func:`read_bound` has it, with so many significant ``digits`` as
    are given where that is shorter by four characters.

    >>> interval_text("x", 1.0, 2.5), interval_text("x", 1.0, inf)
    ('1 < x ≤ 2.5', 'x > 1')
    >>> below = nextafter(6.5, -inf)
    >>> interval_text("x", -inf, below), interval_text("x", below, 9.0)
    ('x < 6.5', '6.5 ≤ x ≤ 9')
    >>> interval_text("x", 20774.5, inf, unit="days since 1970-01-01")
    'x ≥ 2026-11-18'
    >>> interval_text("x", 20774.5, 20774.5 + 1 / 3, digits=6)
    '20774.5 < x ≤ 20774.8'
    """
    most, least = (sign(symbol, ascii_only=ascii_only) for symbol in "≤≥")
    if low == inf:
        return f"{name} is missing"
    (low, low_is_in) = read_bound(low, unit)
    (high, high_is_out) = read_bound(high, unit)
    upper = "<" if high_is_out else most
    low_text, high_text = (bound_text(b, unit, digits) for b in (low, high))
    if high == inf:
        return f"{name} {least if low_is_in else '>'} {low_text}"
    if low == -inf:
        return f"{name} {upper} {high_text}"
    return f"{low_text} {most if low_is_in else '<'} {name} {upper} {high_text}"


def bound_text(bound: float, unit: str | None, digits: int | None) -> str:
    """Return a bound in full, or in so many digits where that is much shorter.

    >>> bound_text(0.06758099999999999, None, 6), bound_text(20774.53, None, 6)
    ('0.067581', '20774.53')
    """
    text = number_text(bound, unit)
    if digits is None or (unit is not None and " since " in unit):
        return text
    short = number_text(float(f"{bound:.{digits}g}"), unit)
    return short if len(short) + SPARED // 2 <= len(text) else text


def span_text(low: float, high: float, unit: str | None = None) -> str:
    """Return the numbers above a bound, up to another, in brackets.

    >>> span_text(1.0, 2.5), span_text(0.5, 2.0, "days since 1970-01-01")
    ('(1, 2.5]', '[1970-01-02, 1970-01-03]')
    """
    (low, low_is_in) = read_bound(low, unit)
    (high, high_is_out) = read_bound(high, unit)
    texts = f"{number_text(low, unit)}, {number_text(high, unit)}"
    return f"{'[' if low_is_in else '('}{texts}{')' if high_is_out else ']'}"


def read_bound(bound: float, unit: str | None = None) -> tuple[float, bool]:
    """Return the number that a bound reads as, and whether that is beyond it.

    A bound just below a round number, as of a question "x < 6.5", reads as that, and
    one between two days as the second: no day is between them, and an instant that a
    model of days is given is its day (``converted`` of ``data/times.py``).

    >>> read_bound(6.5), read_bound(nextafter(6.5, -inf))
    ((6.5, False), (6.5, True))
    >>> read_bound(6.5, "days since 1970-01-01")
    (7.0, True)
    """
    if not isfinite(bound):
        return bound, False
    if unit is not None and unit.startswith("days since "):
        return float(ceil(bound)), not float(bound).is_integer()
    above = nextafter(bound, inf)
    is_round = len(repr(above)) + SPARED <= len(repr(bound))
    return (above, True) if is_round else (bound, False)


def weight_text(weight: float) -> str:
    """Return a weight in at most four decimals, whole ones without any.

    From 1e16 on, where floats no longer tell whole numbers apart, it has six digits.

    >>> weight_text(7.0), weight_text(7 / 15), weight_text(1e-9), weight_text(1e308)
    ('7', '0.4667', '1e-09', '1e+308')
    """
    if not abs(weight) < EXACT:
        return f"{weight:g}"
    if weight == int(weight):
        return str(int(weight))
    text = f"{weight:.4f}".rstrip("0").rstrip(".")
    return text if float(text) else f"{weight:.3g}"


def short_weight(weight: float) -> str:
    """Return a weight where there is little room: whole, or in four digits.

    >>> short_weight(12345.0), short_weight(1234.56)
    ('12345', '1235')
    """
    is_whole = float(weight).is_integer()
    return weight_text(weight) if is_whole else figure(weight, digits=4)


def figure(number: float, *, digits: int = 6) -> str:
    """Return a number in six digits, or as many as asked for, for a person.

    >>> figure(2.25), figure(1234567.0), figure(1 / 3), figure(1 / 3, digits=4)
    ('2.25', '1234570', '0.333333', '0.3333')
    """
    return number_text(float(f"{number:.{digits}g}"))


def label_text(label: "Value") -> str:
    """Return a label for a person: a number in six digits.

    It is in quotes where its end or beginning could not be seen.

    >>> print(label_text("yes"), label_text("yes "), label_text(""))
    yes "yes " ""
    """
    if isinstance(label, float):
        return figure(label)
    text = shown(label)
    return text if text and text == text.strip() else f'"{text}"'


def counted_text(counts: "Iterable[tuple[Value, int]]") -> str:
    """Return values with how many rows each has; of many the first five.

    >>> counted_text([("red", 2), (7, 1)])
    "'red' (2), '7' (1)"
    >>> counted_text([(letter, 1) for letter in "abcdefg"])
    "'a' (1), 'b' (1), 'c' (1), 'd' (1), 'e' (1) and 2 more"
    """
    return first_of([f"{shown(value)!r} ({n})" for value, n in counts], COUNTED)


def first_of(words: "Sequence[str]", most: int) -> str:
    """Return the first of some words, and how many more there are.

    >>> first_of(["a", "b"], 2), first_of(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    n_hidden = len(words) - most
    return ", ".join(words[:most]) + (f" and {n_hidden} more" if n_hidden > 0 else "")


def costs_text(
    classes: "Sequence[Value]", costs: "Sequence[float]", label: "Value"
) -> str:
    """Return what the label costs, then others, the cheapest first.

    >>> costs_text(["no", "yes"], [60.0, 34.0], "yes")
    'yes costs 34, no 60'
    """
    by_cost = sorted(
        zip(classes, costs, strict=True), key=lambda pair: (pair[0] != label, pair[1])
    )
    (first, least), *rest = by_cost
    texts = [f"{shown(first)} costs {_cost(least)}"]
    texts += [f"{shown(name)} {_cost(cost)}" for name, cost in rest[:COSTS_SHOWN]]
    if len(rest) > COSTS_SHOWN:
        texts.append(f"{len(rest) - COSTS_SHOWN} others as much or more")
    return ", ".join(texts)


def _cost(cost: float) -> str:
    return weight_text(cost) if cost < 1e15 else figure(cost)


def sign(symbol: str, *, ascii_only: bool) -> str:
    """Return a symbol, or its replacement in ASCII."""
    return SIGNS[symbol] if ascii_only else symbol


def signs_to_ascii(text: str) -> str:
    """Return a text with the signs that we write in ASCII.

    >>> signs_to_ascii("size ∉ {small} → yes")
    'size not in {small} -> yes'
    """
    return "".join(SIGNS.get(letter, letter) for letter in text)


def signs_from_ascii(question: str) -> str:
    """Return what a branch asks with the signs that it is printed with.

    >>> signs_from_ascii("size not in {small, large}"), signs_from_ascii("x <= 3")
    ('size ∉ {small, large}', 'x ≤ 3')
    """
    for symbol in sorted(QUESTIONS, key=lambda symbol: -len(QUESTIONS[symbol])):
        # A set is in braces; without them "in" may be part of a value.
        end = " {" if symbol in "∈∉" else " "
        question = question.replace(f" {QUESTIONS[symbol]}{end}", f" {symbol}{end}")
    return question
