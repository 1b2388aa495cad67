"""All that is settled before the first tree is grown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.keyed_random import refuse_seed, seed_of
from spinney.data import Costs, cost_array, declarations_of
from spinney.errors import ParameterError
from spinney.evaluation.evaluation_rows import EvaluationRows, rows_of
from spinney.evaluation.results import Evaluation
from spinney.evaluation.runs import Progress, TrainingTask, run_all
from spinney.evaluation.splits import Part, Scheme, parts_of, settled
from spinney.evaluation.variants import Recipes, Variant, variants_of


@dataclass(frozen=True, slots=True)
class Setup:
    """All that is the same whatever is done to the training rows."""

    rows: EvaluationRows
    parts: list[Part]
    scheme: Scheme
    variants: tuple[Variant, ...]
    costs: Floats | None

    def run(self, tasks: list[TrainingTask], progress: Progress | None) -> Evaluation:
        """Run every task for every variant."""
        results = run_all(
            self.rows, tasks, self.variants, costs=self.costs, progress=progress
        )
        return Evaluation(
            self.rows.target, self.rows.classes, self.rows.n_rows, self.scheme, results
        )


def prepared(
    data: Any,
    target: str,
    recipes: Recipes,
    *,
    scheme: Scheme,
    declared: tuple[Any, ...] = (),
    reading: Mapping[str, Any],
    cost_matrix: Costs | None,
    settings: Mapping[str, Any],
) -> Setup:
    """Read and divide the rows; refuse what cannot be evaluated."""
    declarations = declarations_of(*declared)
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
    scheme = settled(scheme, rows)
    return Setup(rows, parts_of(rows, scheme), scheme, variants, costs)


def from_arguments(
    data: Any, target: str, recipes: Recipes, arguments: Mapping[str, Any]
) -> tuple[Setup, Progress | None]:
    """Sort the arguments of ``evaluate`` as it does itself."""
    given = dict(arguments)
    progress = given.pop("progress", None)
    names = ("folds", "repeats", "holdout")
    kinds = ("nominal", "ordinal", "numeric", "ignore", "missing_values")
    setup = prepared(
        data,
        target,
        recipes,
        scheme=Scheme(
            **{name: given.pop(name) for name in names if name in given},
            seed=seed_of(given.pop("random_state", None), 0),
        ),
        declared=tuple(given.pop(name, ()) for name in kinds),
        reading={
            name: given.pop(name)
            for name in ("weight", "format", "encoding")
            if name in given
        },
        cost_matrix=given.pop("cost_matrix", None),
        settings=given,
    )
    return setup, progress
