"""The label of a branch: its part of the split, as a person writes it."""

from collections.abc import Sequence
from math import inf
from typing import Any

from numpy.typing import NDArray

from spinney._support.text import number_text, read_bound, shown, span_text
from spinney.data import Attribute
from spinney.extensions.pictures.text_width import shortened, text_width
from spinney.trees import Candidate, Intervals, Node, Threshold, Tree

DIGITS = 6
MOST_DIGITS = 17
MOST_VALUES = 30


def branch_label(
    tree: Tree,
    node: Node,
    *,
    room: float,
    size: float,
    named: bool = False,
    together: Sequence[Node] = (),
    lines: int = 1,
) -> list[str]:
    """Return the label of the branch to a node, such as ``≤ 0.38`` or ``red, green``.

    ``tree.condition(node)`` is the full text. With ``named`` the label begins with the
    name of the attribute. Leaves drawn ``together`` have one label. Several values
    have at most ``lines``.
    """
    assert node.parent is not None
    parent = tree.nodes[node.parent]
    assert parent.route is not None
    split, branch = parent.route.described, node.branch
    attribute = tree.schema.attributes[split.attribute]
    name = shortened(attribute.text(), room * 0.55, size) if named else ""
    left = room - (text_width(f"{name} = ", size) if named else 0)
    absent = bool(parent.candidate.table.missing_rows.any())
    tail = " or missing" if absent and split.missing == branch else ""
    if isinstance(split, Threshold | Intervals):
        sign, value = _of_number(parent.candidate, split, branch, attribute)
        tail = "" if value == "missing" else tail
        values = [shortened(value, left, size)]
    else:
        codes, without = split.read_codes(branch, tree.codes_at(parent, split) or ())
        codes = tuple(tree.codes_of(together)) if together else codes
        sign = "=" if not without else "≠" if named else "not"
        values = [shown(attribute.values[c]) for c in codes]
        if not codes:
            sign, values, tail = "is", ["missing"], ""
    lead = f"{name} {sign} " if named else f"{sign} " if sign not in ("=", "is") else ""
    if len(values) == 1:
        return [lead + shortened(values[0], left, size) + tail]
    if len(values) <= MOST_VALUES and text_width(", ".join(values), size) <= left:
        return [lead + ", ".join(values) + tail]
    return _some(values, lead, tail.strip(), room=room, size=size, lines=lines)


def _of_number(
    candidate: Candidate, split: Threshold | Intervals, branch: int, of: Attribute
) -> tuple[str, str]:
    """Return the sign and the value of a branch of a number, or of ordered values."""
    if isinstance(split, Intervals):
        low, high = split.bounds(branch)
        if -inf < low < high < inf:
            return "is", span_text(low, high, of.unit)
        bound, right = (low, True) if high == inf else (high, False)
    else:
        bound, right = split.threshold, branch == 1
    if bound == inf:
        return "is", "missing" if right else "known"
    if of.kind == "ordinal":
        return "≥" if right else "<", shown(of.values[int(bound) + 1])
    if of.unit is not None:
        number, beyond = read_bound(bound, of.unit)
        signs = ("<", "≥") if beyond else ("≤", ">")
        return signs[right], number_text(number, of.unit)
    digits = digits_apart(bound, candidate.table.values)
    return ">" if right else "≤", number_text(float(f"{bound:.{digits}g}"))


def digits_apart(cut: float, values: NDArray[Any]) -> int:
    """Return how many digits of a threshold, six to 17, keep values on their sides."""
    below = values[values <= cut].max(initial=-inf)
    above = values[values > cut].min(initial=inf)
    for digits in range(DIGITS, MOST_DIGITS):
        if below <= float(f"{cut:.{digits}g}") < above:
            return digits
    return MOST_DIGITS


def _some(
    values: list[str], lead: str, tail: str, *, room: float, size: float, lines: int
) -> list[str]:
    """Return as many values as fit in the lines, and the number of the others."""
    first = room - text_width(lead, size)
    for n_shown in range(min(len(values), MOST_VALUES), 0, -1):
        more = len(values) - n_shown
        words = [
            shortened(value, room if at else first, size)
            for at, value in enumerate(values[:n_shown])
        ]
        words = [lead + words[0], *words[1:]]
        words[:-1] = [f"{word}," for word in words[:-1]]
        words += [f"… {more} more"] if more else []
        words += [tail] if tail else []
        text = _in_lines(words, room, size)
        if len(text) <= lines:
            return text
    return [f"{lead}{len(values)} values"]


def _in_lines(words: list[str], room: float, size: float) -> list[str]:
    """Return words in lines, each as full as it gets."""
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
