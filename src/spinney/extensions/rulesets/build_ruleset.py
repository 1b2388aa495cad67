"""From a tree and its training rows to a rule set."""

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
from spinney.extensions.rulesets.choose_rules import chosen_rules
from spinney.extensions.rulesets.description_length import coding_of
from spinney.extensions.rulesets.paths import Bools, Path, matches, merged, paths_of
from spinney.extensions.rulesets.ruleset import RankedRule, RuleSet
from spinney.extensions.rulesets.simplify_rules import (
    WORST_ESTIMATE,
    default_error,
    simplified,
)
from spinney.growth import Model
from spinney.growth.prune import CONFIDENCE, check_confidence, upper_errors
from spinney.models.training_match import is_grown_on, recode_training_rows
from spinney.output.leaf_rules import Condition
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class RuleRows:
    """The training rows, ready to be matched."""

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
class RuleDraft:
    """A rule before the rules are put in order."""

    conditions: tuple[Condition, ...]
    code: int
    estimate: float


def ruleset_of(
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
        Of classes.
    training : TrainingSet
        The rows it was grown on, coded by the tree's schema.
    confidence : float
        That of the pessimistic error; the less, the shorter the rules.
    simplify : bool
        False keeps one rule per leaf, in the order of the leaves.
    """
    level = check_confidence(confidence)
    check_choice("simplify", simplify)
    rows = RuleRows.of(training)
    if simplify:
        drafts = _distinct(
            draft
            for path in paths_of(tree)
            if (draft := _simplified(path, rows, level)) is not None
        )
        ordered = _ordered(_chosen(drafts, rows), rows)
    else:
        ordered = [_as_it_is(path, rows, level) for path in paths_of(tree)]
    return _finished(ordered, rows, level)


def model_ruleset(
    model: Model,
    table: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.25,
    simplify: bool = True,
) -> RuleSet:
    """Return the rules of a model, as ``FittedTree.ruleset`` says."""
    training, _ = recode_training_rows(
        model.schema, model.recipe, table, y=y, sample_weight=sample_weight
    )
    _check_origin(model, training, simplify=simplify)
    return ruleset_of(model.tree, training, confidence=confidence, simplify=simplify)


def _check_origin(model: Model, training: TrainingSet, *, simplify: bool) -> None:
    """Warn where the rules of a model over these rows may contradict its tree."""
    if not is_grown_on(model, training):
        warn(
            "the table is not the one that the tree was grown on (other rows, "
            "values, weights or order): the rules fit this table instead"
        )
    if simplify and model.schema.target.costs is not None:
        warn(
            "the tree has costs of errors, and simplified rules count errors: they may "
            "give other labels than the tree; its rules as they are, not simplified, "
            "keep its labels"
        )


def _as_it_is(path: Path, rows: RuleRows, confidence: float) -> RuleDraft:
    conditions = merged(path.tests)
    tally = rows.tally(rows.matching(conditions))
    errors = tally.sum() - tally[path.code]
    estimate = float(upper_errors(errors, tally.sum(), confidence))
    return RuleDraft(conditions, path.code, estimate)


def _simplified(path: Path, rows: RuleRows, confidence: float) -> RuleDraft | None:
    """Return the simplified rule of a path; None where it is not worth having.

    That is where no training row takes the path whole, where no test is left,
    where the class alone would be wrong as seldom, and where C4.5 would never let it
    fire.
    """
    satisfied = [rows.matching([test]) for test in path.tests]
    if not satisfied or not np.logical_and.reduce(satisfied).any():
        return None
    of_class = rows.classes == path.code
    weight, total = float(rows.weights[of_class].sum()), float(rows.weights.sum())
    without = default_error(weight, total)
    rule = simplified(
        satisfied,
        rows.weights,
        wrong=~of_class,
        confidence=confidence,
        without_rows=without,
    )
    if not rule.tests or rule.estimate >= min(without, WORST_ESTIMATE):
        return None
    conditions = merged(path.tests[test] for test in rule.tests)
    return RuleDraft(conditions, path.code, rule.estimate)


def _distinct(drafts: Iterable[RuleDraft]) -> list[RuleDraft]:
    """Return the drafts without those that say the same as an earlier one."""
    distinct: dict[Any, RuleDraft] = {}
    for draft in drafts:
        asked = sorted(
            (c.attribute.name, c.low, c.high, c.values or (), c.missing is True)
            for c in draft.conditions
        )
        distinct.setdefault((draft.code, *asked), draft)
    return list(distinct.values())


def _chosen(drafts: Sequence[RuleDraft], rows: RuleRows) -> list[RuleDraft]:
    """Return for each class the drafts of least description length."""
    coding = coding_of(rows.schema, rows.columns, rows.weights)
    kept: list[RuleDraft] = []
    for code in range(rows.schema.n_classes):
        own = [draft for draft in drafts if draft.code == code]
        if not own:
            continue
        choice = chosen_rules(
            np.array([rows.matching(draft.conditions) for draft in own]),
            rows.weights,
            of_class=rows.classes == code,
            bits=np.array([coding.rule_bits(draft.conditions) for draft in own]),
            estimates=np.array([draft.estimate for draft in own]),
        )
        kept += [draft for draft, is_in in zip(own, choice, strict=True) if is_in]
    return kept


def _ordered(drafts: Sequence[RuleDraft], rows: RuleRows) -> list[RuleDraft]:
    """Put classes in order by false positives, and rules of a class by estimate.

    The next class is the one whose rules take the least weight of other classes
    among the rows that no class before has taken; the first of equal ones.
    """
    by_class: dict[int, list[RuleDraft]] = {}
    for draft in drafts:
        by_class.setdefault(draft.code, []).append(draft)
    covers = {
        code: np.logical_or.reduce([rows.matching(d.conditions) for d in own])
        for code, own in by_class.items()
    }
    ordered: list[RuleDraft] = []
    free = np.ones(len(rows.classes), dtype=np.bool_)
    while by_class:
        wrong = {
            code: float(
                rows.weights[free & covers[code] & (rows.classes != code)].sum()
            )
            for code in sorted(by_class)
        }
        least = min(wrong.values()) + TOLERANCE * max(1.0, min(wrong.values()))
        code = next(code for code, weight in wrong.items() if weight <= least)
        ordered += sorted(by_class.pop(code), key=lambda draft: draft.estimate)
        free &= ~covers[code]
    return ordered


def _finished(
    drafts: Sequence[RuleDraft], rows: RuleRows, confidence: float
) -> RuleSet:
    """Count what each rule covers, and find the default."""
    free = np.ones(len(rows.classes), dtype=np.bool_)
    asked = {c.attribute.name for draft in drafts for c in draft.conditions}
    schema = rows.schema.narrowed(rows.schema.position(name) for name in asked)
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    rules = []
    for order, draft in enumerate(drafts):
        match = rows.matching(draft.conditions)
        free &= ~match
        weights = tuple(rows.tally(match).tolist())
        rules.append(
            RankedRule(
                order,
                tuple(
                    replace(c, attribute=attributes[c.attribute.name])
                    for c in draft.conditions
                ),
                rows.schema.target,
                draft.code,
                weights,
                draft.estimate,
            )
        )
    everything = rows.tally(np.ones_like(free))
    left = rows.tally(free)
    return RuleSet(
        schema,
        tuple(rules),
        _default(left, everything),
        tuple(left.tolist()),
        tuple(everything.tolist()),
        confidence,
    )


def _default(left: Floats, everything: Floats) -> int:
    """Return the most frequent class of what is left.

    Ties go to the more frequent class overall, then to the last.
    """
    most = left >= left.max() - TOLERANCE * max(1.0, float(left.max()))
    return int(last_best(np.where(most, everything, -1.0)))
