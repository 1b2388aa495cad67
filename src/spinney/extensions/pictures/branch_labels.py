"""The label of a branch: its condition in short form."""

from collections.abc import Sequence
from math import inf
from typing import Any

from numpy.typing import NDArray

from spinney._support.text import number_text, read_bound, shown, span_text
from spinney.data import Attribute
from spinney.extensions.pictures.text_width import shortened, text_width
from spinney.trees import Candidate, Intervals, Node, Threshold, Tree

DIGITS = 6
MAX_DIGITS = 17
MAX_VALUES = 30


def branch_label(
    tree: Tree,
    node: Node,
    *,
    max_width: float,
    size: float,
    named: bool = False,
    together: Sequence[Node] = (),
    lines: int = 1,
    digits: int = DIGITS,
) -> list[str]:
    """Return the label of the branch to a node, such as ``≤ 0.38`` or ``red, green``.

    ``tree.condition(node)`` is the full text. With ``named`` the label begins with the
    name of the attribute. Leaves drawn ``together`` have one label. Several values
    have at most ``lines``. Thresholds have ``digits``, or more to separate the rows.
    """
    assert node.parent is not None
    parent = tree.nodes[node.parent]
    assert parent.route is not None
    split, branch = parent.route.described, node.branch
    attribute = tree.schema.attributes[split.attribute]
    name = shortened(attribute.text(), max_width * 0.55, size) if named else ""
    width = max_width - (text_width(f"{name} = ", size) if named else 0)
    has_missing = bool(parent.candidate.table.missing_rows.any())
    tail = " or missing" if has_missing and split.missing == branch else ""
    if isinstance(split, Threshold | Intervals):
        sign, value = _number_label(parent.candidate, split, branch, attribute, digits)
        tail = "" if value == "missing" else tail
        values = [shortened(value, width, size)]
    else:
        codes, without = split.read_codes(branch, tree.codes_at(parent, split) or ())
        codes = tuple(tree.codes_of(together)) if together else codes
        sign = "=" if not without else "≠" if named else "not"
        values = [shown(attribute.values[c]) for c in codes]
        if not codes:
            sign, values, tail = "is", ["missing"], ""
    lead = f"{name} {sign} " if named else f"{sign} " if sign not in ("=", "is") else ""
    if len(values) == 1:
        return [lead + shortened(values[0], width, size) + tail]
    if len(values) <= MAX_VALUES and text_width(", ".join(values), size) <= width:
        return [lead + ", ".join(values) + tail]
    return _value_lines(
        values, lead, tail.strip(), max_width=max_width, size=size, lines=lines
    )


def _number_label(
    candidate: Candidate,
    split: Threshold | Intervals,
    branch: int,
    attribute: Attribute,
    least_digits: int,
) -> tuple[str, str]:
    """Return the sign and the value of a branch of a numeric or ordinal split."""
    if isinstance(split, Intervals):
        low, high = split.bounds(branch)
        if -inf < low < high < inf:
            return "is", span_text(low, high, attribute.unit)
        bound, right = (low, True) if high == inf else (high, False)
    else:
        bound, right = split.threshold, branch == 1
    if bound == inf:
        return "is", "missing" if right else "known"
    if attribute.kind == "ordinal":
        return "≥" if right else "<", shown(attribute.values[int(bound) + 1])
    if attribute.unit is not None:
        number, is_above = read_bound(bound, attribute.unit)
        signs = ("<", "≥") if is_above else ("≤", ">")
        return signs[right], number_text(number, attribute.unit)
    digits = separating_digits(bound, candidate.table.values, least_digits)
    return ">" if right else "≤", number_text(float(f"{bound:.{digits}g}"))


def separating_digits(cut: float, values: NDArray[Any], least: int = DIGITS) -> int:
    """Return the number of digits, up to 17, in which a threshold separates values."""
    below = values[values <= cut].max(initial=-inf)
    above = values[values > cut].min(initial=inf)
    for digits in range(least, MAX_DIGITS):
        if below <= float(f"{cut:.{digits}g}") < above:
            return digits
    return MAX_DIGITS


def _value_lines(
    values: list[str],
    lead: str,
    tail: str,
    *,
    max_width: float,
    size: float,
    lines: int,
) -> list[str]:
    """Return lines with as many values as fit, and the number of the others."""
    first = max_width - text_width(lead, size)
    for n_shown in range(min(len(values), MAX_VALUES), 0, -1):
        n_hidden = len(values) - n_shown
        words = [
            shortened(value, max_width if place else first, size)
            for place, value in enumerate(values[:n_shown])
        ]
        words = [lead + words[0], *words[1:]]
        words[:-1] = [f"{word}," for word in words[:-1]]
        words += [f"… {n_hidden} more"] if n_hidden else []
        words += [tail] if tail else []
        text = _fill_lines(words, max_width, size)
        if len(text) <= lines:
            return text
    return [f"{lead}{len(values)} values"]


def _fill_lines(words: list[str], max_width: float, size: float) -> list[str]:
    """Return words in lines, each filled as far as possible."""
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if text_width(longer, size) <= max_width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
