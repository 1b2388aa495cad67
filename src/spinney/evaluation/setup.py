"""All that is known before the first tree is grown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney._support.threads import limited_threads
from spinney.data import cost_array, declarations_of
from spinney.errors import ParameterError
from spinney.evaluation.evaluation_rows import EvaluationRows, rows_of
from spinney.evaluation.results import Evaluation
from spinney.evaluation.runs import TrainingTask, run_all
from spinney.evaluation.splits import Part, Scheme, parts_of, with_possible_folds
from spinney.evaluation.variants import Recipes, Variant, variants_of


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
    settings = dict(arguments)

    def given(*names: str) -> dict[str, Any]:
        return {name: settings.pop(name) for name in names if name in settings}

    progress = settings.pop("progress", None)
    cost_matrix = settings.pop("cost_matrix", None)
    seed = seed_of(settings.pop("random_state", None), 0)
    scheme = Scheme(**given("folds", "repeats", "holdout"), seed=seed)
    declarations = declarations_of(
        **given("nominal", "ordinal", "numeric", "ignore", "values"),
        **given("missing_values", "notation"),
    )
    reading = given("weight", "table", "format", "encoding")
    refuse_seed(settings)
    variants = variants_of(recipes, settings)  # refused before a large table is read
    rows = rows_of(data, target, declarations=declarations, **reading)
    for variant in variants:
        variant.check(numeric=rows.classes is None)
    costs = None
    if cost_matrix is not None:
        if rows.classes is None:
            msg = (
                "cost_matrix is for classes, and the target "
                f"{rows.target!r} is a number: leave it out"
            )
            raise ParameterError(msg)
        costs = cost_array(cost_matrix, rows.classes)
    scheme = with_possible_folds(scheme, rows)
    setup = Setup(rows, parts_of(rows, scheme), scheme, variants, costs)
    return setup, progress
