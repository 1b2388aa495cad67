"""All that is known before the first tree is grown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney.data import Costs, Value, cost_array
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.evaluation.evaluation_rows import rows_of
from spinney.extensions.evaluation.runs import Setup
from spinney.extensions.evaluation.splits import Scheme, parts_of, with_possible_folds
from spinney.extensions.evaluation.variants import (
    DEFAULT_RECIPES,
    RECIPES_AWAY,
    Recipes,
    Variant,
    variants_of,
)
from spinney.sources.training_data import DECLARING, OPENING, TableInput


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a study is asked for, before any row is read."""

    table: TableInput
    scheme: Scheme
    variants: tuple[Variant, ...]
    by_default: bool  # whether nobody has named the recipes
    cost_matrix: Costs | None
    progress: Progress | None

    def costs(self, classes: tuple[Value, ...] | None) -> Floats | None:
        """Return the costs by class; refuse them, and settings, where they are none."""
        for variant in self.variants:
            variant.check(numeric=classes is None)
        if self.cost_matrix is None:
            return None
        if classes is None:
            msg = (
                f"cost_matrix is for classes, and the target {self.table.target!r} is "
                "a number: leave it out"
            )
            raise ParameterError(msg)
        return cost_array(self.cost_matrix, classes)


def experiment_of(
    recipes: Recipes | None, arguments: Mapping[str, Any], **further: Any
) -> Experiment:
    """Return what arguments of ``evaluate`` ask for: its own, and settings for all.

    Where no recipes are named, they are those that the place of the rows allows.
    """
    settings = {**arguments, **further}

    def given(*names: str) -> dict[str, Any]:
        return {name: settings.pop(name) for name in names if name in settings}

    progress = settings.pop("progress", None)
    check_progress(progress)
    cost_matrix = settings.pop("cost_matrix", None)
    seed = seed_of(settings.pop("random_state", None), 0)
    scheme = Scheme(**given("folds", "repeats", "holdout"), seed=seed)
    table = TableInput.of(given("data", "target", *DECLARING, *OPENING))
    refuse_seed(settings)
    by_default = recipes is None
    if recipes is None:
        recipes = RECIPES_AWAY if table.is_remote else DEFAULT_RECIPES
    variants = variants_of(recipes, settings)
    return Experiment(table, scheme, variants, by_default, cost_matrix, progress)


def setup_of(asked: Experiment) -> Setup:
    """Read and divide the rows; refuse what cannot be evaluated."""
    if asked.table.source not in (None, "memory", "sqlite"):
        raise refusal(
            Setting("source", asked.table.source),
            "leaves rows where they are, and this study has them in memory",
            phrase("leave it out, or read them ({})", Setting("source", "memory")),
        )
    rows = rows_of(replace(asked.table, source="memory"))
    costs = asked.costs(rows.classes)
    scheme = with_possible_folds(asked.scheme, rows)
    parts = parts_of(rows, scheme)
    return Setup(rows, parts, scheme, asked.variants, costs, asked.progress)
