"""The rule set of a tree, from the tree and its training rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_choice
from spinney._support.ties import TOLERANCE, last_best
from spinney.data import Schema
from spinney.errors import warn
from spinney.extensions.rulesets.choose_rules import choose_rules
from spinney.extensions.rulesets.description_length import rule_coding
from spinney.extensions.rulesets.paths import (
    Bools,
    Path,
    matches,
    merge_tests,
    tree_paths,
)
from spinney.extensions.rulesets.ruleset import RankedRule, RuleSet
from spinney.extensions.rulesets.simplify_rules import (
    WORST_ESTIMATE,
    default_error,
    simplify_rule,
)
from spinney.growth import Model
from spinney.growth.prune import CONFIDENCE, check_confidence, upper_errors
from spinney.models.training_match import is_grown_on, recode_training_rows
from spinney.output.leaf_rules import Condition
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class RuleRows:
    """The training rows by column, with classes and weights."""

    schema: Schema
    columns: Sequence[NDArray[Any]]
    classes: Integers
    weights: Floats

    @classmethod
    def of(cls, training: TrainingSet) -> "RuleRows":
        """Return the rows of a training set."""
        schema, weights = training.schema, training.weights
        return cls(
            schema,
            training.columns,
            np.asarray(training.classes, dtype=np.int64),
            np.ones(len(training.classes)) if weights is None else weights,
        )

    def matching(self, conditions: Iterable[Condition]) -> Bools:
        """Return which rows satisfy all conditions."""
        n_rows = len(self.classes)
        return matches(conditions, self.columns, schema=self.schema, n_rows=n_rows)

    def tally(self, rows: Bools) -> Floats:
        """Return the weight of each class among some rows."""
        n_classes = self.schema.n_classes
        tally = np.bincount(self.classes[rows], self.weights[rows], minlength=n_classes)
        return np.asarray(tally, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CandidateRule:
    """A rule before rules are selected and ordered."""

    conditions: tuple[Condition, ...]
    code: int
    estimate: float


def tree_ruleset(
    tree: Tree,
    training: TrainingSet,
    *,
    confidence: float = CONFIDENCE,
    simplify: bool = True,
) -> RuleSet:
    """Return the rule set of a tree.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    training : TrainingSet
        The rows it was grown on, coded by the tree's schema.
    confidence : float
        The confidence of the pessimistic error; lower values give shorter rules.
    simplify : bool
        False keeps one rule per leaf, in the order of the leaves.
    """
    level = check_confidence(confidence)
    check_choice("simplify", simplify)
    rows = RuleRows.of(training)
    if simplify:
        candidates = _without_duplicates(
            candidate
            for path in tree_paths(tree)
            if (candidate := _simplified_rule(path, rows, level)) is not None
        )
        ordered = _order_by_class(_select_rules(candidates, rows), rows)
    else:
        ordered = [_whole_path_rule(path, rows, level) for path in tree_paths(tree)]
    return _make_ruleset(ordered, rows, level)


def model_ruleset(
    model: Model,
    table: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.25,
    simplify: bool = True,
) -> RuleSet:
    """Return the rule set of a model; see ``FittedTree.ruleset``."""
    training, _ = recode_training_rows(
        model.schema, model.recipe, table, y=y, sample_weight=sample_weight
    )
    _check_origin(model, training, simplify=simplify)
    return tree_ruleset(model.tree, training, confidence=confidence, simplify=simplify)


def _check_origin(model: Model, training: TrainingSet, *, simplify: bool) -> None:
    """Warn if the rules over these rows may contradict the tree of the model."""
    if not is_grown_on(model, training):
        warn(
            "the table is not the one that the tree was grown on (other rows, "
            "values, weights or order): the rules fit this table instead"
        )
    if simplify and model.schema.target.costs is not None:
        warn(
            "the tree has costs of errors, and simplified rules count errors: their "
            "labels may differ from the tree's (simplify=False keeps them)"
        )


def _whole_path_rule(path: Path, rows: RuleRows, confidence: float) -> CandidateRule:
    conditions = merge_tests(path.tests)
    tally = rows.tally(rows.matching(conditions))
    errors = tally.sum() - tally[path.code]
    estimate = float(upper_errors(errors, tally.sum(), confidence))
    return CandidateRule(conditions, path.code, estimate)


def _simplified_rule(
    path: Path, rows: RuleRows, confidence: float
) -> CandidateRule | None:
    """Return the simplified rule of a path; None if it is no better than a default.

    A rule is dropped if no training row follows the whole path, or no test is left. It
    is also dropped if predicting its class for all rows has no higher error, or if C4.5
    would never apply it.
    """
    satisfied = [rows.matching([test]) for test in path.tests]
    if not satisfied or not np.logical_and.reduce(satisfied).any():
        return None
    in_class = rows.classes == path.code
    weight, total = float(rows.weights[in_class].sum()), float(rows.weights.sum())
    default = default_error(weight, total)
    rule = simplify_rule(
        satisfied,
        rows.weights,
        wrong=~in_class,
        confidence=confidence,
        without_rows=default,
    )
    if not rule.tests or rule.estimate >= min(default, WORST_ESTIMATE):
        return None
    conditions = merge_tests(path.tests[test] for test in rule.tests)
    return CandidateRule(conditions, path.code, rule.estimate)


def _without_duplicates(candidates: Iterable[CandidateRule]) -> list[CandidateRule]:
    """Return the distinct candidates, each at its first position."""
    distinct: dict[Any, CandidateRule] = {}
    for candidate in candidates:
        tests = sorted(
            (c.attribute.name, c.low, c.high, c.values or (), c.missing is True)
            for c in candidate.conditions
        )
        distinct.setdefault((candidate.code, *tests), candidate)
    return list(distinct.values())


def _select_rules(
    candidates: Sequence[CandidateRule], rows: RuleRows
) -> list[CandidateRule]:
    """Return, for each class, the candidates of least description length."""
    coding = rule_coding(rows.schema, rows.columns, rows.weights)
    selected: list[CandidateRule] = []
    for code in range(rows.schema.n_classes):
        of_code = [candidate for candidate in candidates if candidate.code == code]
        if not of_code:
            continue
        choice = choose_rules(
            np.array([rows.matching(candidate.conditions) for candidate in of_code]),
            rows.weights,
            in_class=rows.classes == code,
            bits=np.array(
                [coding.rule_bits(candidate.conditions) for candidate in of_code]
            ),
            estimates=np.array([candidate.estimate for candidate in of_code]),
        )
        selected += [rule for rule, is_in in zip(of_code, choice, strict=True) if is_in]
    return selected


def _order_by_class(
    candidates: Sequence[CandidateRule], rows: RuleRows
) -> list[CandidateRule]:
    """Sort classes by false positives, and the rules of a class by estimated error.

    The next class is the one whose rules cover the least weight of other classes
    among the rows that no earlier class covers; the first if several are equal.
    """
    by_class: dict[int, list[CandidateRule]] = {}
    for candidate in candidates:
        by_class.setdefault(candidate.code, []).append(candidate)
    covers = {
        code: np.logical_or.reduce([rows.matching(d.conditions) for d in members])
        for code, members in by_class.items()
    }
    ordered: list[CandidateRule] = []
    uncovered = np.ones(len(rows.classes), dtype=np.bool_)
    while by_class:
        wrong = {
            code: float(
                rows.weights[uncovered & covers[code] & (rows.classes != code)].sum()
            )
            for code in sorted(by_class)
        }
        least = min(wrong.values()) + TOLERANCE * max(1.0, min(wrong.values()))
        code = next(code for code, weight in wrong.items() if weight <= least)
        ordered += sorted(by_class.pop(code), key=lambda candidate: candidate.estimate)
        uncovered &= ~covers[code]
    return ordered


def _make_ruleset(
    candidates: Sequence[CandidateRule], rows: RuleRows, confidence: float
) -> RuleSet:
    """Return ordered rules with their coverage, and the default class.

    The default is the most frequent class of the uncovered rows. Ties go to the more
    frequent class overall, then to the last.
    """
    uncovered = np.ones(len(rows.classes), dtype=np.bool_)
    names = {c.attribute.name for rule in candidates for c in rule.conditions}
    schema = rows.schema.narrowed(rows.schema.position(name) for name in names)
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    rules = []
    for order, rule in enumerate(candidates):
        match = rows.matching(rule.conditions)
        uncovered &= ~match
        weights = tuple(rows.tally(match).tolist())
        conditions = tuple(
            replace(c, attribute=attributes[c.attribute.name]) for c in rule.conditions
        )
        target = rows.schema.target
        rules.append(
            RankedRule(order, conditions, target, rule.code, weights, rule.estimate)
        )
    total, rest = rows.tally(np.ones_like(uncovered)), rows.tally(uncovered)
    is_most = rest >= rest.max() - TOLERANCE * max(1.0, float(rest.max()))
    default = int(last_best(np.where(is_most, total, -1.0)))
    support = tuple(rest.tolist())
    return RuleSet(
        schema, tuple(rules), default, support, tuple(total.tolist()), confidence
    )
