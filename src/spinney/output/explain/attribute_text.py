"""The list of all ways to split on an attribute, as text."""

from typing import TYPE_CHECKING

from spinney._support.text import figure, shown, signs_to_ascii, weight_text
from spinney.output.explain.explanation_text import (
    after_split,
    candidate_text,
    cells_of,
    counts_text,
    gain_ratio,
    given_lines,
    head_lines,
    split_lines,
)

if TYPE_CHECKING:
    from spinney.output.explain.attribute_explanation import AttributeExplanation, Way
    from spinney.output.explain.explanation_text import Cells
    from spinney.output.explain.node_explanation import BranchLine


def attribute_text(told: "AttributeExplanation", *, ascii_only: bool = False) -> str:
    """Return the ways to split on an attribute, and the arithmetic of the best."""
    cells = cells_of(ascii_only=ascii_only)
    lines = [*head_lines(told, cells), "", _title(told)]
    in_two = bool(told.ways) and len(told.ways[0].lines.branches) == 2
    if told.values and in_two:
        rows = [
            (shown(value.value), *counts_text(value.weights)) for value in told.values
        ]
        head = ("", *map(shown, told.classes))
        lines += ["", *(f"  {line}" for line in cells([head, *rows]))]
    if in_two:
        lines += ["", *(f"  {line}" for line in _list(told, cells))]
    if told.merging:
        steps = [(m.one, m.other, f"p = {m.p_value:.3g}", m.what) for m in told.merging]
        lines += ["", "merging steps, the most similar groups first"]
        lines += [f"  {line}" for line in cells(steps, [0, 1, 3])]
    lines += _left_out(told)
    if told.remark:
        lines += ["", told.remark]
    if told.best is not None:
        best = told.best.lines
        working = split_lines(best, told.impurity_name)
        _, *arithmetic = candidate_text(best, cells, working)
        lines += ["", "best split:", *arithmetic]
    if told.given is not None:
        lines += ["", *given_lines(told.given, cells)]
    text = "\n".join(lines)
    return signs_to_ascii(text) if ascii_only else text


def _title(told: "AttributeExplanation") -> str:
    """Return how many ways there are, and what the counts are."""
    if not told.what:
        return shown(told.attribute)
    plural = "s" if told.n_ways != 1 else ""
    splits = f"{told.n_ways} candidate split{plural} ({told.what})"
    what = f"{shown(told.attribute)}: {splits}"
    if not told.ways or len(told.ways[0].lines.branches) != 2:
        return what
    return f"{what}; on each side {_sides(told)}"


def _sides(told: "AttributeExplanation") -> str:
    """Return what is counted on each side of a way."""
    if told.classes == ("mean", "sd"):
        return "rows, mean and standard deviation"
    return "class counts " + " : ".join(map(shown, told.classes))


def _list(told: "AttributeExplanation", cells: "Cells") -> list[str]:
    """Return one line for each way, under a head."""
    columns = _columns(told)
    rows = [("", "left", "right", *columns, "")]
    for at, way in enumerate(told.ways):
        left, right = way.lines.branches
        rows.append(
            (
                left.text,
                _side(told, left),
                _side(told, right),
                *(column[at] for column in columns.values()),
                _mark(way),
            )
        )
    return cells(rows, [0, len(rows[0]) - 1])


def _side(told: "AttributeExplanation", branch: "BranchLine") -> str:
    """Return the counts of a branch in one cell."""
    if told.classes == ("mean", "sd"):
        mean, deviation = map(figure, branch.weights)
        return f"{weight_text(branch.weight)}: {mean} ({deviation})"
    return " : ".join(counts_text(branch.weights))


def _columns(told: "AttributeExplanation") -> dict[str, list[str]]:
    """Return the figures of all ways, by what they are."""
    every = [way.lines for way in told.ways]
    columns: dict[str, list[str]] = {}
    if every[0].decreases and every[0].split_impurity is not None:
        after = [line.split_impurity or 0.0 for line in every]
        columns[after_split(told.impurity_name)] = _figures(after)
    gains = [line.gain for line in every]
    tested = every[0].p_value is not None
    is_merit = not every[0].decreases and not tested
    columns[told.merit_name if is_merit else "gain"] = _figures(gains)
    if any(line.correction for line in every):
        columns["corrected"] = _figures([line.gain - line.correction for line in every])
    if told.impurity_name == "entropy":
        columns["split information"] = _figures([x.split_information for x in every])
        columns["gain ratio"] = _figures([gain_ratio(line) for line in every])
    if tested:
        columns[told.merit_name] = _figures([line.merit for line in every])
        columns["p"] = [f"{line.p_value:.3g}" for line in every]
    return columns


def _figures(numbers: list[float]) -> list[str]:
    return [f"{number:.3f}" for number in numbers]


def _mark(way: "Way") -> str:
    """Return what is to be said of a way."""
    marks = ["best"] if way.best else []
    if way.taken:
        marks.append("split of this node")
    if not way.allowed:
        marks.append("too few rows")
    return ", ".join(marks)


def _left_out(told: "AttributeExplanation") -> list[str]:
    """Return which ways are not listed, and which were not counted."""
    lines = []
    others = told.n_ways - len(told.ways)
    if others:
        lines.append(
            f"{others} more gain no more, or have too few rows: limit "
            f"{told.n_ways} lists all"
        )
    if told.n_subsets > told.n_ways:
        known = "no other can be better"
        if told.searched and told.exact:
            known = "branch and bound proved that no other is better"
        elif told.searched:
            known = "branch and bound stopped early, and another may be better"
        elif not told.exact:
            known = "the others were not searched, and one may be better"
        lines.append(
            f"of {told.n_subsets} splitting subsets, those in the order of class "
            f"proportions or means: {known}"
        )
    return ["", *lines] if lines else []
