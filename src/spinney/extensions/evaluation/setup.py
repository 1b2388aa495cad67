"""All that is known before the first tree is grown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_progress
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney._support.threads import limited_threads
from spinney.data import Costs, Declarations, Value, cost_array, declarations_of
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows, rows_of
from spinney.extensions.evaluation.results import Evaluation
from spinney.extensions.evaluation.runs import TrainingTask, run_all
from spinney.extensions.evaluation.splits import (
    Part,
    Scheme,
    parts_of,
    with_possible_folds,
)
from spinney.extensions.evaluation.variants import Recipes, Variant, variants_of
from spinney.sources.opened import is_counted_away

OPENING = ("source", "connection", "table", "memory_limit", "format", "encoding")


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
    declarations = declarations_of(
        **given("nominal", "ordinal", "numeric", "ignore", "values"),
        **given("missing_values", "notation"),
    )
    opening = given("weight", *OPENING)
    refuse_seed(settings)
    variants = variants_of(recipes, settings)
    return Experiment(scheme, variants, declarations, opening, cost_matrix, progress)


@dataclass(frozen=True, slots=True)
class Setup:
    """All that is the same whatever is done to the training rows."""

    rows: EvaluationRows
    parts: list[Part]
    scheme: Scheme
    variants: tuple[Variant, ...]
    costs: Floats | None

    def run(
        self,
        tasks: list[TrainingTask],
        progress: Progress | None,
        *,
        memory: bool = False,
    ) -> Evaluation:
        """Run every task for every variant; ``memory`` measures how much it takes."""
        with limited_threads(None):  # an interrupt leaves none of them
            results, pooled = run_all(
                self.rows,
                tasks,
                self.variants,
                costs=self.costs,
                progress=progress,
                pool=self.scheme.one_out,
                memory=memory,
            )
        rows, scheme = self.rows, self.scheme
        return Evaluation(
            rows.target, rows.classes, rows.n_rows, scheme, results, pooled
        )


def setup_of(
    data: Any, target: str, recipes: Recipes, arguments: Mapping[str, Any]
) -> tuple[Setup, Progress | None]:
    """Read and divide the rows; refuse what cannot be evaluated.

    ``arguments`` are those of ``evaluate``: its own, and settings for all recipes.
    """
    asked = asked_of(recipes, arguments)  # refused before a large table is read
    reading = dict(asked.opening)
    _refuse_away(data, reading)
    rows = rows_of(
        data,
        target,
        declarations=asked.declarations,
        **reading,
    )
    costs = asked.costs(target, rows.classes)
    scheme = with_possible_folds(asked.scheme, rows)
    setup = Setup(rows, parts_of(rows, scheme), scheme, asked.variants, costs)
    return setup, asked.progress


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
