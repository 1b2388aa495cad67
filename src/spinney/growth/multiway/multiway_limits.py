"""The tasks that the multiway kernels can grow; checks load no compiler."""

from typing import TYPE_CHECKING

from spinney.growth.growth_options import Options
from spinney.growth.kernel_weights import suits_kernels
from spinney.recipes import Recipe
from spinney.search import MAX_BRANCHES

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

MAX_ROWS = 2**31
MAX_LEVELS = 65_536
KERNELS = ("ENTROPY", "GINI")  # of criteria

# Settings that the kernels know nothing of, and the value that asks for nothing.
REQUIRED_SETTINGS = {
    "buckets": None,
    "alpha_split": None,
    "linear_terms": 0,
    "construct": 0,
}


def can_grow_multiway(
    training: "TrainingSet", recipe: Recipe, options: Options
) -> bool:
    """Return whether the multiway kernels grow the plain learner's tree."""
    schema = training.schema
    if schema.target.is_numeric or recipe.grouping != "multiway":
        return False
    criterion = recipe.measure(numeric=False)
    if criterion.kernel not in KERNELS or recipe.missing_policy != "fractional":
        return False
    if any(getattr(recipe, name) != value for name, value in REQUIRED_SETTINGS.items()):
        return False
    if len(training.classes) >= MAX_ROWS or not options.every_class_has_cost:
        return False
    if not suits_kernels(training, options):
        return False
    if not options.has_only_weights(schema):
        return False
    max_values = {"numeric": 0, "nominal": MAX_BRANCHES, "ordinal": MAX_LEVELS}
    return all(
        len(attribute.values) <= max_values[attribute.kind]
        for attribute in schema.attributes
    )
