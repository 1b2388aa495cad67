"""One rule per leaf, conditions on the same attribute merged into one.

The rules of a tree are mutually exclusive and exhaustive: every row without a
missing value satisfies exactly one. At a node with surrogates, an unseen category
counts as missing.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import Any

import numpy as np

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import costs_text, label_text, percent_text, shown
from spinney._support.text_table import cells, shortened
from spinney.data import Attribute, Schema, Value
from spinney.trees import Groups, Node, Tree, range_text, values_text
from spinney.trees.criteria import variance

TERMS_SHOWN = 5  # of a linear model beside a tree
TERMS_IN_RULES = 24
DIGITS_IN_LINE = 4  # of a linear model in one line
MODEL_WIDTH = 120  # characters per line


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a rule on one attribute.

    Numbers and ordered codes lie in ``low < value ≤ high``; a nominal value is one
    of ``values``. ``missing`` says whether a missing value satisfies it too; None if
    the row is divided or surrogates decide.
    """

    attribute: Attribute
    low: float = -np.inf
    high: float = np.inf
    values: tuple[int, ...] | None = None
    missing: bool | None = None

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the condition as text."""
        name = self.attribute.text(ascii_only=ascii_only)
        if self.missing and (self.values == () or self.low == np.inf):
            return f"{name} is missing"
        suffix = " or missing" if self.missing else ""
        if self.values is not None:
            values = [self.attribute.values[code] for code in self.values]
            return values_text(name, values, ascii_only=ascii_only) + suffix
        attribute, low, high = self.attribute, self.low, self.high
        return range_text(attribute, low, high, ascii_only=ascii_only) + suffix


@dataclass(frozen=True, slots=True)
class Rule:
    """IF all conditions hold THEN the class, with its support and confidence.

    With a numeric target the label is the number, and ``deviation`` the standard
    deviation of the training rows. If the leaf has a linear model, ``model`` is its
    name, and the label is the mean.

    ``confidence`` is the predicted probability of the label, ``share`` its proportion
    in the training rows: equal unless ``probability`` smooths them. A leaf without rows
    has those of the nearest node above with rows. ``costs`` are the expected cost of
    each label over the rows of the leaf.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    target: str
    label: Value
    support: float
    confidence: float | None
    deviation: float | None = None
    model: str | None = None
    share: float | None = None
    costs: tuple[tuple[Value, float], ...] = ()

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the rule as one line."""
        support = shown(round(self.support, 6))
        if self.confidence is None:
            known = f"support {support}, sd {self.deviation:.4g}"
        elif self.support:
            known = f"support {support}, confidence {self._confidence_text()}"
        else:
            confidence = self._confidence_text()
            known = f"support 0; {confidence} at the nearest node above with rows"
        if self.costs:
            classes, costs = zip(*self.costs, strict=True)
            known += f"; least expected cost: {costs_text(classes, costs, self.label)}"
        return f"{self.claim(ascii_only=ascii_only)}  ({known})"

    def claim(self, *, ascii_only: bool = False) -> str:
        """Return the rule without its support and confidence."""
        conditions = [part.text(ascii_only=ascii_only) for part in self.conditions]
        head = f"IF {' AND '.join(conditions)} THEN " if conditions else "ALWAYS "
        then = self.model or label_text(self.label)
        return f"{head}{shown(self.target)} = {then}"

    def _confidence_text(self) -> str:
        """Return the confidence, and the proportion if it was smoothed."""
        assert self.confidence is not None
        share = percent_text(self.confidence, 1)
        if self.share is None or isclose(self.share, self.confidence, abs_tol=1e-9):
            return share
        return f"{share}, smoothed from {percent_text(self.share, 1)}"

    def __str__(self) -> str:
        return self.text()


class Rules(InNotebooks, Sequence[Rule]):
    """The rules of a tree, in printing order; ``print`` shows one per line.

    The linear models in rules follow.
    """

    def __init__(self, rules: Sequence[Rule], tree: Tree | None = None) -> None:
        self._rules = tuple(rules)
        self._tree = tree

    def __getitem__(self, index: Any) -> Any:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return one rule per line, then the linear models.

        Leaves without rows at the same node share a line.
        """
        rules = self._rules if self._tree is None else _shared(self._rules, self._tree)
        lines = [rule.text(ascii_only=ascii_only) for rule in rules]
        if self._tree is not None and self._tree.model_names:
            lines += ["", *model_lines(self._tree, ascii_only=ascii_only).values()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{len(self)} rules>"

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the rules as plain data."""
        return [
            {
                "leaf": rule.leaf,
                "if": [condition_dict(condition) for condition in rule.conditions],
                "then": {
                    "target": rule.target,
                    "label": rule.label,
                    **({} if rule.model is None else {"model": rule.model}),
                },
                "support": rule.support,
                **(
                    {"confidence": rule.confidence, "share": rule.share}
                    if rule.deviation is None
                    else {"deviation": rule.deviation}
                ),
                **(
                    {"costs": [{"label": c, "cost": cost} for c, cost in rule.costs]}
                    if rule.costs
                    else {}
                ),
            }
            for rule in self._rules
        ]


def condition_dict(condition: Condition) -> dict[str, Any]:
    """Return a condition as plain data; "is missing" has no values."""
    attribute = condition.attribute
    facts: dict[str, Any] = {"attribute": attribute.name, "text": condition.text()}
    if condition.low == np.inf:
        facts["values"] = []
    elif condition.values is not None:
        facts["values"] = [attribute.values[code] for code in condition.values]
    else:
        facts["above"] = condition.low if np.isfinite(condition.low) else None
        facts["at_most"] = condition.high if np.isfinite(condition.high) else None
    facts["missing"] = condition.missing
    return facts


def _shared(rules: Sequence[Rule], tree: Tree) -> list[Rule]:
    """Return the rules; leaves that share a line of text share a rule."""
    together: dict[int, tuple[Node, ...]] = {}
    for node in tree:
        below = tree.empty_sibling_leaves(node)
        together.update({leaf.number: below for leaf in below})
    kept = []
    for rule in rules:
        shared = together.get(rule.leaf, ())
        if not shared:
            kept.append(rule)
        elif rule.leaf == shared[-1].number:
            parent = tree.nodes[shared[0].parent or 0]
            attribute = tree.schema.attributes[parent.candidate.attribute]
            codes = tuple(tree.codes_of(shared))
            conditions = tuple(
                replace(c, values=codes) if c.attribute is attribute else c
                for c in rule.conditions
            )
            kept.append(replace(rule, conditions=conditions))
    return kept


def rules_of(tree: Tree) -> Rules:
    """Return one rule per leaf.

    Each node's conditions are its parent's with one of them narrowed, so the walk
    in printing order needs no recursion.
    """
    conditions: list[dict[int, Condition]] = [{}]
    rules = []
    for node in tree:
        if node.parent is not None:
            parent = tree.nodes[node.parent]
            narrowed = _narrowed(conditions[parent.number], parent, node, tree.schema)
            conditions.append(narrowed)
        if node.is_leaf:
            rules.append(_rule(tree, node, tuple(conditions[node.number].values())))
            conditions[node.number] = {}
    return Rules(rules, tree)


def model_lines(
    tree: Tree,
    leaves: Collection[int] | None = None,
    *,
    ascii_only: bool = False,
    room: float = MODEL_WIDTH,
    width: Callable[[str], float] = len,
    most: int = TERMS_IN_RULES,
) -> dict[int, str]:
    """Return the linear models of leaves as text, by leaf, broken into lines.

    No model has more than ``most`` terms.
    """
    target, texts = shown(tree.schema.target.name), {}
    for number, name in tree.model_names.items():
        if leaves is not None and number not in leaves:
            continue
        model = tree.nodes[number].model
        assert model is not None
        first, *terms = model.parts(tree.schema, ascii_only=ascii_only, most=most)
        lines = [f"{name}: {target} = {first}"]
        for term in terms:
            longer = f"{lines[-1]} {term}"
            if width(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(f"    {term}")
        texts[number] = "\n".join(lines)
    return texts


def short_model_lines(
    tree: Tree, leaves: Collection[int], *, ascii_only: bool, width: int
) -> list[str]:
    """Return the linear models of leaves, each in one line of five terms at most.

    It has as many terms as the line has room for.
    """
    target, lines = shown(tree.schema.target.name), []
    for number, name in tree.model_names.items():
        model = tree.nodes[number].model
        if number not in leaves or model is None:
            continue
        for most in range(TERMS_SHOWN, -1, -1):
            parts = model.parts(
                tree.schema,
                ascii_only=ascii_only,
                most=most,
                n_values=0,
                digits=DIGITS_IN_LINE,
            )
            line = f"{name}: {target} = {' '.join(parts)}"
            if cells(line) <= width:
                break
        lines.append(shortened(line, width))
    return lines


def _narrowed(
    inherited: dict[int, Condition], parent: Node, node: Node, schema: Schema
) -> dict[int, Condition]:
    test = branch_condition(parent, node, schema)
    attribute = parent.candidate.attribute
    before = inherited.get(attribute, Condition(test.attribute, missing=True))
    missing = None if test.missing is None else bool(before.missing) and test.missing
    return {**inherited, attribute: both(before, test, missing=missing)}


def branch_condition(parent: Node, node: Node, schema: Schema) -> Condition:
    """Return the condition of the branch from a node to a child."""
    assert parent.route is not None
    split, branch = parent.route.described, node.branch
    attribute = schema.attributes[split.attribute]
    # The branch of missing values matters only if the node has some.
    missing = None
    if split.missing is not None and parent.candidate.table.missing_rows.any():
        missing = split.missing == branch
    if not isinstance(split, Groups):
        return Condition(attribute, *split.bounds(branch), missing=missing)
    codes = split.codes_of(branch, range(len(attribute.values)))
    return Condition(attribute, values=tuple(sorted(codes)), missing=missing)


def both(one: Condition, other: Condition, *, missing: bool | None) -> Condition:
    """Return the conjunction of two conditions on one attribute."""
    values = one.values if other.values is None else other.values
    if one.values is not None and values is not None:
        allowed = set(one.values)
        values = tuple(code for code in values if code in allowed)
    low, high = max(one.low, other.low), min(one.high, other.high)
    return Condition(one.attribute, low, high, values, missing)


def _rule(tree: Tree, leaf: Node, conditions: tuple[Condition, ...]) -> Rule:
    numeric = tree.schema.target.is_numeric
    return Rule(
        leaf.number,
        conditions,
        tree.schema.target.name,
        tree.label(leaf),
        leaf.weight,
        None if numeric else float(leaf.distribution[leaf.label]),
        float(np.sqrt(variance(leaf.weights))) if numeric else None,
        tree.model_names.get(leaf.number),
        None if numeric else float(tree.counted_shares(leaf)[leaf.label]),
        tuple(zip(tree.schema.target.classes, tree.label_costs(leaf), strict=False)),
    )
