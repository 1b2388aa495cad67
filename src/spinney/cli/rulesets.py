"""Simplified rules for the shell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spinney.errors import ParameterError
from spinney.growth.prune.error_limits import CONFIDENCE, check_confidence

if TYPE_CHECKING:
    from spinney.readable import ReadableTree
    from spinney.rulesets import RuleSet

__all__ = ["check_alone", "simplified"]


def check_alone(options: Mapping[str, Any]) -> None:
    """Refuse options that say nothing without --simplify."""
    for name in ("confidence", "weight"):
        if options[name] is not None:
            msg = f"--{name} {options[name]} says nothing without --simplify DATA"
            raise ParameterError(msg)


def simplified(
    model: "ReadableTree", data: str, options: Mapping[str, Any]
) -> "RuleSet":
    """Return the rule set of a model over the table that it was grown on."""
    from spinney.data.conform import read_by
    from spinney.sources.training_set import row_weights

    given, weight = options["confidence"], options["weight"]
    confidence = check_confidence(CONFIDENCE if given is None else given)
    schema = model.model_.schema
    table = read_by(
        schema,
        range(len(schema.attributes)),
        data,
        also=() if weight is None else (weight,),
        format=options["format_"],
        encoding=options["encoding"],
    )
    weights = None if weight is None else row_weights(table[weight])
    return model.ruleset(table, sample_weight=weights, confidence=confidence)
