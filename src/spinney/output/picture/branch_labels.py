"""What stands at a branch: the answer to a node's question, as a person writes it."""

from collections.abc import Sequence
from math import inf

from spinney._support.text import figure, number_text, shown
from spinney.data import Attribute
from spinney.output.picture.text_width import shortened, text_width
from spinney.trees import Candidate, Intervals, Node, Threshold, Tree

__all__ = ["branch_label"]

DIGITS = 4
MOST_DIGITS = 17
MOST_VALUES = 30
LEAST_ROOM = 40.0  # in which a shortened value says something


def branch_label(
    tree: Tree,
    node: Node,
    *,
    room: float,
    size: float,
    named: bool = False,
    together: Sequence[Node] = (),
) -> str:
    """Return the answer that leads to a node, such as ``≤ 0.38`` or ``red, green``.

    ``tree.condition(node)`` is the whole of it. With ``named`` it begins with the
    name of the attribute, and so says what is asked, too. Leaves that are told
    ``together`` have one label.
    """
    assert node.parent is not None
    parent = tree.nodes[node.parent]
    assert parent.route is not None
    split, branch = parent.route.described, node.branch
    attribute = tree.schema.attributes[split.attribute]
    name = shortened(attribute.text(), room * 0.55, size) if named else ""
    room -= text_width(f"{name} = ", size) if named else 0
    absent = bool(parent.candidate.table.missing_rows.any())
    tail = " or missing" if absent and split.missing == branch else ""
    if isinstance(split, Threshold | Intervals):
        sign, answer = _of_number(parent.candidate, split, branch, attribute)
        tail = "" if answer == "missing" else tail
        answer = shortened(answer, room, size)
    else:
        codes, without = split.read_codes(branch, tree.codes_at(parent, split) or ())
        codes = tuple(tree.codes_of(together)) if together else codes
        sign = "=" if not without else "≠" if named else "not"
        answer = _some([shown(attribute.values[c]) for c in codes], room, size)
        if not codes:
            sign, answer, tail = "is", "missing", ""
    lead = f"{name} {sign} " if named else f"{sign} " if sign not in ("=", "is") else ""
    return lead + answer + tail


def _of_number(
    candidate: Candidate, split: Threshold | Intervals, branch: int, of: Attribute
) -> tuple[str, str]:
    """Return sign and answer of a branch of a number, or of ordered values."""
    if isinstance(split, Intervals):
        low, high = split.bounds(branch)
        if -inf < low < high < inf:
            return "is", f"({number_text(low, of.unit)}, {number_text(high, of.unit)}]"
        bound, right = (low, True) if high == inf else (high, False)
    else:
        bound, right = split.threshold, branch == 1
    if bound == inf:
        return "is", "missing" if right else "known"
    if of.kind == "ordinal":
        return "≥" if right else "<", shown(of.values[int(bound) + 1])
    return ">" if right else "≤", _short(bound, candidate, of)


def _short(bound: float, candidate: Candidate, of: Attribute) -> str:
    """Return a bound in four digits, or in as many as keep the rows on their sides."""
    if of.unit is not None:
        return number_text(bound, of.unit)
    below = max((v for v in candidate.table.values if v <= bound), default=-inf)
    above = min((v for v in candidate.table.values if v > bound), default=inf)
    for digits in range(DIGITS, MOST_DIGITS):
        rounded = float(f"{bound:.{digits}g}")
        if below <= rounded < above:
            return number_text(rounded)
    return figure(bound)


def _some(values: list[str], room: float, size: float) -> str:
    """Return as many values as fit, and how many more there are; "" of none."""
    if not values:
        return ""
    whole = ", ".join(values[:MOST_VALUES])
    if len(values) <= MOST_VALUES and text_width(whole, size) <= room:
        return whole
    if len(values) == 1:
        return shortened(whole, room, size)
    for kept in range(min(len(values) - 1, MOST_VALUES), 0, -1):
        text = f"{', '.join(values[:kept])} … {len(values) - kept} more"
        if text_width(text, size) <= room:
            return text
    more = f" … {len(values) - 1} more"
    left = room - text_width(more, size)
    if left < LEAST_ROOM:
        return f"{len(values)} values"
    return shortened(values[0], left, size) + more
