"""What stands at a branch: the answer to a node's question, as a person writes it."""

from collections.abc import Sequence
from math import inf
from typing import Any

from numpy.typing import NDArray

from spinney._support.text import number_text, read_bound, shown, span_text
from spinney.data import Attribute
from spinney.extensions.pictures.text_width import shortened, text_width
from spinney.trees import Candidate, Intervals, Node, Threshold, Tree

__all__ = ["branch_label", "digits_apart"]

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
    """Return the answer that leads to a node, such as ``≤ 0.38`` or ``red, green``.

    ``tree.condition(node)`` is the whole of it. With ``named`` it begins with the
    name of the attribute, and so says what is asked, too. Leaves that are told
    ``together`` have one label. Several values have as many ``lines`` as they need, at
    most these.
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
        sign, answer = _of_number(parent.candidate, split, branch, attribute)
        tail = "" if answer == "missing" else tail
        answers = [shortened(answer, left, size)]
    else:
        codes, without = split.read_codes(branch, tree.codes_at(parent, split) or ())
        codes = tuple(tree.codes_of(together)) if together else codes
        sign = "=" if not without else "≠" if named else "not"
        answers = [shown(attribute.values[c]) for c in codes]
        if not codes:
            sign, answers, tail = "is", ["missing"], ""
    lead = f"{name} {sign} " if named else f"{sign} " if sign not in ("=", "is") else ""
    if len(answers) == 1:
        return [lead + shortened(answers[0], left, size) + tail]
    if len(answers) <= MOST_VALUES and text_width(", ".join(answers), size) <= left:
        return [lead + ", ".join(answers) + tail]
    return _some(answers, lead, tail.strip(), room=room, size=size, lines=lines)


def _of_number(
    candidate: Candidate, split: Threshold | Intervals, branch: int, of: Attribute
) -> tuple[str, str]:
    """Return sign and answer of a branch of a number, or of ordered values."""
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
    """Return in how many digits a cut keeps values on their sides: six at least.

    17 are all there are.
    """
    below = values[values <= cut].max(initial=-inf)
    above = values[values > cut].min(initial=inf)
    for digits in range(DIGITS, MOST_DIGITS):
        if below <= float(f"{cut:.{digits}g}") < above:
            return digits
    return MOST_DIGITS


def _some(
    values: list[str], lead: str, tail: str, *, room: float, size: float, lines: int
) -> list[str]:
    """Return as many of several values as lines hold, and how many more there are."""
    first = room - text_width(lead, size)
    for kept in range(min(len(values), MOST_VALUES), 0, -1):
        more = len(values) - kept
        words = [
            shortened(value, room if at else first, size)
            for at, value in enumerate(values[:kept])
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
