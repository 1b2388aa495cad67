"""The rule set of a grown model over the table that it was grown on."""

from typing import Any

from spinney.errors import warn
from spinney.extensions.rulesets.build_ruleset import ruleset_of
from spinney.extensions.rulesets.ruleset import RuleSet
from spinney.growth import Model
from spinney.models.grown_rows import is_grown_on, rows_again
from spinney.sources.rows import TrainingSet


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
    training, _ = rows_again(
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
