"""The candidate splits on an attribute, as text."""

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


def attribute_text(
    explanation: "AttributeExplanation", *, ascii_only: bool = False
) -> str:
    """Return the candidate splits on an attribute, and the arithmetic of the best."""
    cells = cells_of(ascii_only=ascii_only)
    lines = [*head_lines(explanation, cells), "", _title(explanation)]
    in_two = bool(explanation.ways) and len(explanation.ways[0].lines.branches) == 2
    if explanation.values and in_two:
        rows = [
            (shown(value.value), *counts_text(value.weights))
            for value in explanation.values
        ]
        head = ("", *map(shown, explanation.classes))
        lines += ["", *(f"  {line}" for line in cells([head, *rows]))]
    if in_two:
        lines += ["", *(f"  {line}" for line in _list(explanation, cells))]
    if explanation.merging:
        steps = [
            (m.one, m.other, f"p = {m.p_value:.3g}", m.what)
            for m in explanation.merging
        ]
        lines += ["", "merging steps, the most similar groups first"]
        lines += [f"  {line}" for line in cells(steps, [0, 1, 3])]
    lines += _left_out(explanation)
    if explanation.remark:
        lines += ["", explanation.remark]
    if explanation.best is not None:
        best = explanation.best.lines
        working = split_lines(best, explanation.impurity_name)
        _, *arithmetic = candidate_text(best, cells, working)
        lines += ["", "best split:", *arithmetic]
    if explanation.given is not None:
        lines += ["", *given_lines(explanation.given, cells)]
    text = "\n".join(lines)
    return signs_to_ascii(text) if ascii_only else text


def _title(explanation: "AttributeExplanation") -> str:
    """Return the number of candidate splits, and the meaning of the counts."""
    if not explanation.what:
        return shown(explanation.attribute)
    plural = "s" if explanation.n_ways != 1 else ""
    splits = f"{explanation.n_ways} candidate split{plural} ({explanation.what})"
    what = f"{shown(explanation.attribute)}: {splits}"
    if not explanation.ways or len(explanation.ways[0].lines.branches) != 2:
        return what
    return f"{what}; on each side {_sides(explanation)}"


def _sides(explanation: "AttributeExplanation") -> str:
    """Return the meaning of the counts on each side of a split."""
    if explanation.classes == ("mean", "sd"):
        return "rows, mean and standard deviation"
    return "class counts " + " : ".join(map(shown, explanation.classes))


def _list(explanation: "AttributeExplanation", cells: "Cells") -> list[str]:
    """Return one line for each split, under a header."""
    columns = _columns(explanation)
    rows = [("", "left", "right", *columns, "")]
    for index, way in enumerate(explanation.ways):
        left, right = way.lines.branches
        rows.append(
            (
                left.text,
                _side(explanation, left),
                _side(explanation, right),
                *(column[index] for column in columns.values()),
                _mark(way),
            )
        )
    return cells(rows, [0, len(rows[0]) - 1])


def _side(explanation: "AttributeExplanation", branch: "BranchLine") -> str:
    """Return the counts of a branch in one cell."""
    if explanation.classes == ("mean", "sd"):
        mean, deviation = map(figure, branch.weights)
        return f"{weight_text(branch.weight)}: {mean} ({deviation})"
    return " : ".join(counts_text(branch.weights))


def _columns(explanation: "AttributeExplanation") -> dict[str, list[str]]:
    """Return the figures of all splits, by column header."""
    every = [way.lines for way in explanation.ways]
    columns: dict[str, list[str]] = {}
    if every[0].decreases and every[0].split_impurity is not None:
        after = [line.split_impurity or 0.0 for line in every]
        columns[after_split(explanation.impurity_name)] = _figures(after)
    gains = [line.gain for line in every]
    tested = every[0].p_value is not None
    is_merit = not every[0].decreases and not tested
    columns[explanation.merit_name if is_merit else "gain"] = _figures(gains)
    if any(line.correction for line in every):
        columns["corrected"] = _figures([line.gain - line.correction for line in every])
    if explanation.impurity_name == "entropy":
        columns["split information"] = _figures([x.split_information for x in every])
        columns["gain ratio"] = _figures([gain_ratio(line) for line in every])
    if tested:
        columns[explanation.merit_name] = _figures([line.merit for line in every])
        columns["p"] = [f"{line.p_value:.3g}" for line in every]
    return columns


def _figures(numbers: list[float]) -> list[str]:
    return [f"{number:.3f}" for number in numbers]


def _mark(way: "Way") -> str:
    """Return the remarks on a split."""
    marks = ["best"] if way.best else []
    if way.taken:
        marks.append("split of this node")
    if not way.allowed:
        marks.append("too few rows")
    return ", ".join(marks)


def _left_out(explanation: "AttributeExplanation") -> list[str]:
    """Return which splits are not listed, and which were not counted."""
    lines = []
    others = explanation.n_ways - len(explanation.ways)
    if others:
        lines.append(
            f"{others} more gain no more, or have too few rows: limit "
            f"{explanation.n_ways} lists all"
        )
    if explanation.n_subsets > explanation.n_ways:
        known = "no other can be better"
        if explanation.searched and explanation.exact:
            known = "branch and bound proved that no other is better"
        elif explanation.searched:
            known = "branch and bound stopped early, and another may be better"
        elif not explanation.exact:
            known = "the others were not searched, and one may be better"
        lines.append(
            f"of {explanation.n_subsets} splitting subsets, those in the order of "
            f"class proportions or means: {known}"
        )
    return ["", *lines] if lines else []
