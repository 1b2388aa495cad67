"""Explanations as text: counts, then impurities, then merits, then the choice."""

from functools import partial
from math import isclose
from typing import TYPE_CHECKING

from spinney._support.text import (
    costs_text,
    ends_in_digit,
    figure,
    label_text,
    number_text,
    percent_text,
    shown,
    signs_to_ascii,
    weight_text,
)
from spinney._support.text_table import aligned
from spinney.growth import recipe_scores_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from spinney.data import Value
    from spinney.output.explain.attribute_explanation import AttributeExplanation
    from spinney.output.explain.node_explanation import (
        CandidateLines,
        GivenRows,
        NodeExplanation,
    )
    from spinney.output.explain.row_explanation import (
        ModelArithmetic,
        RowExplanation,
        RowStep,
    )

    Cells = Callable[..., list[str]]


ROWS_SHOWN = 40
VALUES_SHOWN = 8
BRANCHES_SHOWN = TERMS_SHOWN = 12
WIDEST = 60  # longer conditions do not shift the columns of counts
MANY_VALUES = 12  # with fewer values, the search is obviously exhaustive


def node_text(node: "NodeExplanation", *, ascii_only: bool = False) -> str:
    """Return the arithmetic of a node as text."""
    cells = cells_of(ascii_only=ascii_only)
    more: list[tuple[str, ...]] = []
    if node.impurity_name == "entropy":
        more.append(
            (
                "self-information, −log₂ p",
                *map(_bits_text, node.self_information),
                "",
                "",
            )
        )
    lines = head_lines(node, cells, more)
    for candidate in node.candidates:
        working = [_fewer_terms(line) for line in working_lines(candidate, node)]
        shown_lines = candidate_text(candidate, cells, working, most=BRANCHES_SHOWN)
        lines += ["", *shown_lines]
    lines.append("")
    if node.average_gain is not None:
        able = [c.attribute for c in node.candidates if c.competes]
        lines += [
            f"average gain of {_averaged(node)}: "
            f"{node.average_gain:.3f}; at least that: {', '.join(map(shown, able))}"
        ]
    chosen = node.chosen is not None
    lines.append(f"splitting attribute: {node.why}" if chosen else node.why)
    if not node.competitors and node.chosen is not None:
        lines.append(
            "competitors are not stored: pass the training table (data) to count them"
        )
    if node.label_costs and node.chosen is None:
        costs = costs_text(node.classes, node.label_costs, node.label)
        lines.append(f"label: {shown(node.label)}, by least expected cost: {costs}")
    if node.tried:
        lines.append(f"recipe: {recipe_scores_text(node.tried)}")
    if node.default_branch is not None:
        lines += ["", *_surrogate_lines(node, cells)]
    if node.given is not None:
        lines += ["", *given_lines(node.given, cells)]
    text = "\n".join(lines)
    return signs_to_ascii(text) if ascii_only else text


def head_lines(
    node: "NodeExplanation | AttributeExplanation",
    cells: "Cells",
    more: "Sequence[tuple[str, ...]]" = (),
) -> list[str]:
    """Return the node and its counts, with further lines of cells."""
    impurity = node.impurity_name
    path = " AND ".join(node.path) if node.path else "the root"
    named = f"altered {impurity}" if impurity and node.altered else impurity
    head = ("", *map(shown, node.classes), "all", named)
    own = (shown(node.target), *counts_text(node.weights), weight_text(node.weight))
    lines = [f"Node {node.node}: {path}", ""]
    lines += cells([head, (*own, _impurity(node.impurity)), *more])
    if node.altered is not None:
        factors = ", ".join(
            f"{shown(label)} × {factor:.4g}"
            for label, factor in zip(node.classes, node.altered, strict=True)
        )
        lines += ["", f"class weights in splits, altered by costs: {factors}"]
    return lines


def _bits_text(bits: float | None) -> str:
    return "∞" if bits is None else f"{bits:.3f}"


def given_lines(given: "GivenRows", cells: "Cells") -> list[str]:
    """Return which rows were counted, as lines with their row numbers."""
    which = "the" if given.same else "not the"
    lines = [f"counted on the {given.n_rows} rows given, {which} training rows"]
    if given.remark:
        lines.append(f"  {given.remark}")
    texts = [(row.text, _numbers(row.numbers, row.parts)) for row in given.rows]
    return lines + [f"  {line}" for line in cells(texts, [0, 1])]


def _numbers(numbers: "Sequence[int]", parts: "Sequence[float]") -> str:
    """Return row numbers as text: runs abbreviated, long lists cut.

    >>> _numbers([1, 2, 3, 5, 8], []), _numbers([4, 8], [1.0, 0.4])
    ('1-3, 5, 8', '4, 8 (0.4)')
    """
    whole = parts or [1.0] * len(numbers)
    runs: list[list[int]] = []
    texts: list[str] = []
    for number, part in zip(numbers, whole, strict=True):
        if part < 1:
            runs.append([number, number])
            texts.append(f"{number} ({weight_text(part)})")
        elif runs and runs[-1][1] == number - 1 and not texts[-1].endswith(")"):
            runs[-1][1] = number
            texts[-1] = f"{runs[-1][0]}-{number}"
        else:
            runs.append([number, number])
            texts.append(str(number))
    shown_rows = texts[:ROWS_SHOWN]
    if len(texts) > ROWS_SHOWN:
        shown_rows.append(f"… {numbers[-1]} ({len(numbers)} in all)")
    return ", ".join(shown_rows) or "none"


def _averaged(node: "NodeExplanation") -> str:
    """Return the attributes over which gains are averaged, as text."""
    counted, n = node.in_average, len(node.candidates)
    if len(counted) == n:
        return f"{n} attribute{'s' if n > 1 else ''}"
    left_out = [c.attribute for c in node.candidates if c.attribute not in counted]
    named = f"all but {', '.join(map(shown, left_out))}"
    if len(counted) < len(left_out):
        named = ", ".join(map(shown, counted))
    return f"{len(counted)} of {n} attributes ({named})"


def cells_of(*, ascii_only: bool) -> "Cells":
    """Return the function that formats rows of cells as lines."""
    return partial(_cells, ascii_only=ascii_only)


def _cells(
    rows: "Sequence[tuple[str, ...]]",
    left: "Collection[int]" = (0,),
    *,
    ascii_only: bool,
    widest: int | None = None,
) -> list[str]:
    """Return rows of cells as lines; in ASCII cells may be longer."""
    if ascii_only:
        rows = [tuple(map(signs_to_ascii, row)) for row in rows]
    return aligned(rows, left=left, widest=widest)


def _surrogate_lines(node: "NodeExplanation", cells: "Cells") -> list[str]:
    """Return the surrogates and the default branch of a node."""
    name = shown(node.chosen or "")
    if not node.surrogates:
        return [f"default branch if {name} is missing: {node.default_branch}"]
    own = next(c for c in node.candidates if c.attribute == node.chosen)
    rows = [
        (
            f"surrogates for {name}",
            *(b.text for b in own.branches),
            "agreement",
            "adjusted",
        )
    ]
    for surrogate in node.surrogates:
        figures = f"{surrogate.agreement:.3f}", f"{surrogate.adjusted:.3f}"
        rows.append((f"  {shown(surrogate.attribute)}", *surrogate.branches, *figures))
    return [*cells(rows), f"  default branch: {node.default_branch}"]


def working_lines(candidate: "CandidateLines", node: "NodeExplanation") -> list[str]:
    """Return lines that derive the merit of an attribute from its counts."""
    return [
        *split_lines(candidate, node.impurity_name),
        *_gate_lines(candidate, node),
    ]


def split_lines(candidate: "CandidateLines", impurity: str) -> list[str]:
    """Return lines with the gain of a split written out, and its other figures."""
    gain = _gain_lines(candidate)
    return [*gain, *candidate.working, *fact_lines(candidate, impurity)]


def _fewer_terms(line: str) -> str:
    """Return arithmetic with the middle terms of a long sum omitted.

    >>> _fewer_terms(" + ".join(map(str, range(20))))
    '0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + … 8 more + 19'
    """
    terms = line.split(" + ")
    n_more = len(terms) - TERMS_SHOWN
    if n_more < 2:
        return line
    first, last = terms[: TERMS_SHOWN - 1], terms[-1]
    return " + ".join([*first, f"… {n_more} more", last])


def candidate_text(
    candidate: "CandidateLines",
    cells: "Cells",
    working: "Sequence[str]",
    *,
    most: int | None = None,
) -> list[str]:
    """Return lines with the counts of a split and the arithmetic of its merit.

    At most the first ``most`` branches are listed.
    """
    rows: list[tuple[str, ...]] = []
    for number, branch in enumerate(candidate.branches[:most]):
        rows.append(
            (
                branch.text,
                *counts_text(branch.weights),
                weight_text(branch.weight),
                _impurity(branch.impurity),
            )
        )
        values = [value for value in candidate.values if value.branch == number]
        rows += [
            (f"  {shown(value.value)}", *counts_text(value.weights), "", "")
            for value in values[:VALUES_SHOWN]
        ]
        if len(values) > VALUES_SHOWN:
            more = f"  … {len(values) - VALUES_SHOWN} more values"
            rows.append((more, *[""] * len(branch.weights), "", ""))
    others = candidate.branches[len(candidate.branches[:most]) :]
    if others:
        more = f"… {len(others)} more branches"
        total = weight_text(sum(branch.weight for branch in others))
        rows.append((more, *[""] * len(others[0].weights), total, ""))
    lacking = []
    if candidate.missing and not candidate.missing_weight:  # in the tree of a forest
        goes = candidate.missing_goes_to
        lacking = [f"  missing values are counted in their branch: {goes}"]
    elif candidate.missing:
        goes = f"  missing: to {candidate.missing_goes_to}"
        total = weight_text(candidate.missing_weight)
        rows.append((goes, *counts_text(candidate.missing), total, ""))
    return [
        shown(candidate.attribute),
        *(f"  {line}" for line in cells(rows, widest=WIDEST)),
        *lacking,
        *(f"  {line}" for line in working),
    ]


def _impurity(impurity: float | None) -> str:
    return "" if impurity is None else f"{impurity:.3f}"


def _gain_lines(candidate: "CandidateLines") -> list[str]:
    """Return the gain written out: impurity minus the weighted one of branches.

    Without rows with a known value there are no branch proportions.
    """
    known = sum(branch.weight for branch in candidate.branches)
    if not (candidate.decreases and known):
        return []
    parts = " + ".join(
        f"{weight_text(branch.weight)}/{weight_text(known)} × {branch.impurity:.3f}"
        for branch in candidate.branches
        if branch.weight
    )
    inner = f"{candidate.known_impurity:.3f} − ({parts})"
    if candidate.known_share < 1:
        inner = f"{candidate.known_share:.3f} × ({inner})"
    return [f"gain = {inner} = {_loss(candidate, known)}{candidate.gain:.3f}"]


def _loss(candidate: "CandidateLines", known: float) -> str:
    """Return the text of a negative gain, which counts as 0.

    The variance with n − 1 may be greater after a split than before.
    """
    shares = ((b.weight / known, b.impurity or 0.0) for b in candidate.branches)
    after = sum(share * impurity for share, impurity in shares)
    loss = candidate.known_share * (after - (candidate.known_impurity or 0.0))
    is_loss = candidate.gain == 0 and f"{loss:.3f}" != "0.000" and loss > 0
    return f"-{loss:.3f}, a loss, counts as " if is_loss else ""


def fact_lines(candidate: "CandidateLines", impurity_name: str) -> list[str]:
    """Return lines with further figures of a split, such as split information."""
    lines, facts = [], []
    if candidate.correction:
        left = candidate.gain - candidate.correction
        lines.append(
            f"MDL penalty for choosing the threshold: "
            f"{candidate.gain:.3f} − {candidate.correction:.3f} = {left:.3f}"
        )
    if candidate.decreases and candidate.split_impurity is not None:
        facts.append(f"{after_split(impurity_name)} {candidate.split_impurity:.3f}")
    if impurity_name == "entropy":
        facts.append(f"split information {candidate.split_information:.3f}")
        facts.append(f"gain ratio {gain_ratio(candidate):.3f}")
    return [*lines, ", ".join(facts)] if facts else lines


def _gate_lines(candidate: "CandidateLines", node: "NodeExplanation") -> list[str]:
    """Return lines on why a split does not compete, its cost and its optimality."""
    if candidate.given:
        return ["forced split, not searched here"]
    lines = []
    left = candidate.gain - candidate.correction
    if node.average_gain is not None and not candidate.competes:
        lines.append(f"below average gain {node.average_gain:.3f}: not considered")
    if left < node.min_gain and not (node.forest or node.member):
        lines.append(f"below minimum gain {number_text(node.min_gain)}: not considered")
    if candidate.price:
        lines.append(
            f"attribute cost {candidate.price:g}: {candidate.merit:.3f} / "
            f"(1 + {candidate.price:g}) = {candidate.merit / (1 + candidate.price):.3f}"
        )
    if not candidate.exact and candidate.threshold is not None:
        lines.append(
            "not all thresholds were evaluated, as none could win: a better one may "
            "exist; pass the training table (data) to count all"
        )
    elif candidate.bound is not None:
        short = percent_text(1 - candidate.gain / candidate.bound, 1)
        lines.append(
            f"not proved to be the best of {_subsets(candidate)}: none gains more than "
            f"{candidate.bound:.3f}, so this is at most {short} below it"
        )
    elif not candidate.exact:
        lines.append(
            "splitting subset found by ordering the values, not by exhaustive search: "
            "a better one may exist"
        )
    elif len(candidate.values) > MANY_VALUES and len(candidate.branches) == 2:
        lines.append(f"the best of {_subsets(candidate)}")
    return lines


def _subsets(candidate: "CandidateLines") -> str:
    n_values = len(candidate.values)
    return f"the 2^{n_values - 1} − 1 splitting subsets of {n_values} values"


def after_split(impurity_name: str) -> str:
    """Return the name of the weighted mean impurity of the branches.

    >>> after_split("entropy"), after_split("Gini index")
    ('conditional entropy', 'Gini index after split')
    """
    if impurity_name == "entropy":
        return "conditional entropy"
    return f"{impurity_name} after split"


def gain_ratio(candidate: "CandidateLines") -> float:
    """Return the gain ratio after the MDL penalty."""
    if not (candidate.correction and candidate.split_information):
        return candidate.gain_ratio
    return (candidate.gain - candidate.correction) / candidate.split_information


def counts_text(weights: "Sequence[float]") -> tuple[str, ...]:
    """Return weights as cells."""
    return tuple(weight_text(weight) for weight in weights)


def _value_remark(step: "RowStep") -> str:
    """Return the line for a missing or unseen value at a step."""
    goes = f": {step.sent_by}" if step.sent_by else ""
    if step.leaf:
        return ""
    if step.value is None:
        return f"  ({step.asks} is missing{goes})"
    if not step.seen:
        value = shown(step.value)
        return (
            f"  ({step.asks} = {value} was not seen at this node: as if missing{goes})"
        )
    return ""


def _verdict(row: "RowExplanation") -> str:
    """Return the label with class probabilities and costs, as text."""
    verdict = f"{shown(row.target)} = {label_text(row.label)}"
    if not row.probabilities:
        return verdict
    shares = _shares(row.classes, row.probabilities)
    pairs = zip(row.probabilities, row.counted, strict=True)
    if not all(isclose(share, counted, abs_tol=1e-9) for share, counted in pairs):
        counted = _shares(row.classes, row.counted)
        shares += f", smoothed; proportions of the training rows: {counted}"
    if row.costs:
        cost = costs_text(row.classes, row.costs, row.label)
        shares += f"; least expected cost: {cost}"
    return f"{verdict}  ({shares})"


def _shares(classes: tuple["Value", ...], shares: tuple[float, ...]) -> str:
    pairs = zip(classes, shares, strict=True)
    colon = ":" * ends_in_digit(classes)
    return ", ".join(
        f"{label_text(label)}{colon} {share:.3f}" for label, share in pairs
    )


def _model_lines(model: "ModelArithmetic", *, ascii_only: bool) -> list[str]:
    """Return a linear model written out, each coefficient times its term."""
    rows: list[tuple[str, ...]] = [
        (f"{model.name}: intercept", "", "", figure(model.intercept))
    ]
    for term in model.terms:
        value = figure(term.value) + (" (missing)" if term.missing else "")
        rows.append(
            (
                f"  {term.text}",
                value,
                f"× {figure(term.coefficient)}",
                figure(term.product),
            )
        )
    rows.append(("  sum", "", "", figure(model.value)))
    return _cells(rows, ascii_only=ascii_only)


def row_text(row: "RowExplanation", *, ascii_only: bool = False) -> str:
    """Return the path of a row as text."""
    lines = []
    remarks = {-1: ""}  # by depth, as the steps traverse the tree
    for step in row.steps:
        remarks[step.depth] = _value_remark(step)
        indent = "  " * min(step.depth, 40)
        part = "" if step.weight == 1 else f"  [weight {weight_text(step.weight)}]"
        ask = f"  → {label_text(step.label)}" if step.leaf else ""
        if step.model is not None:
            ask = f"  → {step.model.name} = {label_text(step.label)}"
        lines.append(
            f"{indent}node {step.node}: {step.condition or 'the root'}{part}"
            f"{remarks[step.depth - 1]}{ask}"
        )
    for step in row.steps:
        if step.model is not None:
            lines += ["", *_model_lines(step.model, ascii_only=ascii_only)]
    lines += ["", _verdict(row)]
    text = "\n".join(lines)
    return signs_to_ascii(text) if ascii_only else text
