"""The leaves of a tree by their errors, most errors first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.text import percent_text, weight_text
from spinney._support.text_table import aligned

if TYPE_CHECKING:
    from spinney.models import FittedTree
    from spinney.output import Rule

MAX_LEAVES = 10
MIN_RULE_WIDTH, MIN_PREMISE_WIDTH = 20, 8


@dataclass(frozen=True, slots=True)
class LeafErrors:
    """A leaf's rule, the weight of its rows, and their error.

    The error is the weight of misclassified rows, or the sum of squared errors.
    """

    rule: "Rule"
    weight: float
    errors: float

    @property
    def rate(self) -> float:
        """The error rate, or the mean squared error."""
        return self.errors / self.weight


def leaf_errors(
    model: "FittedTree", rows: Any, weight: str | None
) -> tuple[LeafErrors, ...]:
    """Return the leaves that rows reach, those with the most errors first.

    A row with missing values may reach several leaves with fractional weights. Each
    fraction is correct or not by its leaf, as in ``node_errors``.
    """
    from spinney.output import rules_of

    # Errors are counted even if the tree has costs.
    target = model.schema.target
    unit = None if target.costs is None else 1.0 - np.eye(len(target.classes))
    errors = model.node_errors(rows, weight=weight, cost_matrix=unit)
    rules = {rule.leaf: rule for rule in rules_of(model.tree)}
    leaves = (LeafErrors(rules[n], errors[n].weight, errors[n].as_leaf) for n in rules)
    return tuple(
        sorted(
            (leaf for leaf in leaves if leaf.weight > 0),
            key=lambda leaf: (-leaf.errors, leaf.weight, leaf.rule.leaf),
        )
    )


def leaves_as_dicts(
    leaves: Sequence[LeafErrors], *, numeric: bool
) -> list[dict[str, Any]]:
    """Return leaves as plain data."""
    total = sum(leaf.errors for leaf in leaves)
    return [
        {
            "leaf": leaf.rule.leaf,
            "rows": leaf.weight,
            **(
                {
                    "rmse": float(np.sqrt(leaf.rate)),
                    "share": leaf.errors / total if total else 0.0,
                }
                if numeric
                else {"errors": leaf.errors, "rate": leaf.rate}
            ),
            "rule": leaf.rule.claim(),
        }
        for leaf in leaves
    ]


def leaf_error_lines(
    leaves: Sequence[LeafErrors], *, numeric: bool, width: int | None
) -> list[str]:
    """Return lines with the errors and rules of the worst leaves, if any."""
    wrong = [leaf for leaf in leaves if leaf.errors > 0]
    if not wrong:
        return []
    listed, hidden = wrong[:MAX_LEAVES], wrong[MAX_LEAVES:]
    heads = ["rmse", "share"] if numeric else ["errors"]
    total = sum(leaf.errors for leaf in wrong)
    cells = [["leaf", "rows", *heads]]
    for leaf in listed:
        figures = [weight_text(leaf.errors)]
        if numeric:
            rmse = f"{np.sqrt(leaf.rate):.4g}"
            figures = [rmse, percent_text(leaf.errors / total)]
        cells.append([str(leaf.rule.leaf), weight_text(leaf.weight), *figures])
    rules = ["rule", *(leaf.rule.claim() for leaf in listed)]
    lines = [
        f"{line}  {_shortened_rule(rule, width, len(line) + 2)}"
        for line, rule in zip(aligned(cells), rules, strict=True)
    ]
    if hidden:
        rest = sum(leaf.errors for leaf in hidden)
        part = percent_text(rest / total) if numeric else weight_text(rest)
        plural = "leaf has" if len(hidden) == 1 else "leaves have"
        lines.append(f"({len(hidden)} more {plural} {part} of the errors)")
    return ["errors by leaf, most first", *lines]


def _shortened_rule(rule: str, width: int | None, used: int) -> str:
    """Return a rule cut to fit, if possible before its label.

    >>> _shortened_rule("IF a > 1 AND b > 2 THEN c = yes", 31, 5)
    'IF a > 1 AND… THEN c = yes'
    """
    length = len(rule) if width is None else max(MIN_RULE_WIDTH, width - used)
    if len(rule) <= length:
        return rule
    premise, then, label = rule.rpartition(" THEN ")
    fits = length - len(f"…{then}{label}")
    if fits < MIN_PREMISE_WIDTH:
        return f"{rule[: length - 1]}…"
    return f"{premise[:fits]}…{then}{label}"
