"""All that is known before the first tree is grown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney.data import Costs, Declarations, Value, cost_array, declarations_of
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.evaluation.evaluation_rows import rows_of
from spinney.extensions.evaluation.runs import Setup
from spinney.extensions.evaluation.splits import Scheme, parts_of, with_possible_folds
from spinney.extensions.evaluation.variants import (
    DECLARED,
    OPENING,
    Recipes,
    Variant,
    variants_of,
)
from spinney.sources.opened import is_counted_away


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a study is asked for, before any row is read.

    ``opening`` says where the rows are and how they are read, the weight's column too.
    """

    scheme: Scheme
    variants: tuple[Variant, ...]
    declarations: Declarations
    opening: dict[str, Any]
    cost_matrix: Costs | None
    progress: Progress | None

    def costs(self, target: str, classes: tuple[Value, ...] | None) -> Floats | None:
        """Return the costs by class; refuse them, and settings, where they are none."""
        for variant in self.variants:
            variant.check(numeric=classes is None)
        if self.cost_matrix is None:
            return None
        if classes is None:
            msg = (
                f"cost_matrix is for classes, and the target {target!r} is a number: "
                "leave it out"
            )
            raise ParameterError(msg)
        return cost_array(self.cost_matrix, classes)


def asked_of(recipes: Recipes, arguments: Mapping[str, Any]) -> Experiment:
    """Return what arguments of ``evaluate`` ask for: its own, and settings for all."""
    settings = dict(arguments)

    def given(*names: str) -> dict[str, Any]:
        return {name: settings.pop(name) for name in names if name in settings}

    progress = settings.pop("progress", None)
    check_progress(progress)
    cost_matrix = settings.pop("cost_matrix", None)
    seed = seed_of(settings.pop("random_state", None), 0)
    scheme = Scheme(**given("folds", "repeats", "holdout"), seed=seed)
    declarations = declarations_of(**given(*DECLARED))
    opening = given(*OPENING)
    refuse_seed(settings)
    variants = variants_of(recipes, settings)
    return Experiment(scheme, variants, declarations, opening, cost_matrix, progress)


def setup_of(
    data: Any, target: str, recipes: Recipes, arguments: Mapping[str, Any]
) -> Setup:
    """Read and divide the rows; refuse what cannot be evaluated.

    ``arguments`` are those of ``evaluate``: its own, and settings for all recipes.
    """
    asked = asked_of(recipes, arguments)  # refused before a large table is read
    reading = dict(asked.opening)
    _refuse_away(data, reading)
    rows = rows_of(data, target, asked.declarations, **reading)
    costs = asked.costs(target, rows.classes)
    scheme = with_possible_folds(asked.scheme, rows)
    parts = parts_of(rows, scheme)
    return Setup(rows, parts, scheme, asked.variants, costs, asked.progress)


def _refuse_away(data: Any, opening: dict[str, Any]) -> None:
    """Take out what says where rows are; refuse all but that they are to be read."""
    source, connection = opening.pop("source", None), opening.pop("connection", None)
    is_counted_away(data, "memory", connection, table=opening.get("table"))
    if source not in (None, "memory", "sqlite"):
        raise refusal(
            Setting("source", source),
            "leaves rows where they are, and this study has them in memory",
            phrase("leave it out, or read them ({})", Setting("source", "memory")),
        )
