"""The results of a study by fold, with means and standard deviations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from spinney._support.in_notebooks import InNotebooks
from spinney.data import Value
from spinney.errors import Setting, refusal
from spinney.extensions.evaluation.compare import Comparison, corrected_t_test
from spinney.extensions.evaluation.measures import (
    DEFAULT_MEASURES,
    GROUPS,
    MEASURES,
    ROW_MEANS,
    Measured,
    measure_named,
)
from spinney.extensions.evaluation.splits import Scheme


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The measures of a recipe on one split.

    ``conditions`` are the size of a learning curve or the perturbation, if any.
    """

    recipe: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    measures: Measured
    conditions: dict[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> tuple[Any, ...]:
        """The recipe and conditions, which identify a line of the table."""
        return (self.recipe, tuple(self.conditions.items()))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "recipe": self.recipe,
            **self.conditions,
            "repeat": self.repeat,
            "fold": self.fold,
            "n_train": self.n_train,
            "n_test": self.n_test,
            **self.measures,
        }


# The measures of all test sets together, by line of the table.
Pooled = Mapping[tuple[Any, ...], Measured]


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(InNotebooks):
    """The measures of recipes on the same splits of a table.

    ``print`` shows a table of 80 columns; :meth:`text` takes another width.

    Attributes
    ----------
    target : str
        The predicted column.
    classes : tuple, optional
        The classes of the target; None if the target is numeric.
    n_rows : int
        The rows with a known target and a positive weight.
    scheme : Scheme
        The scheme of splits.
    folds : tuple of FoldResult
        The measures of each recipe on each fold.
    pooled : mapping
        For leave-one-out, the measures over all rows by line of the table, because
        balanced accuracy and RMSE are not means over single rows.
    table : list of dict
        A line for each recipe (and condition): the mean of each measure over the folds
        under its name, its standard deviation under the name with ``_sd``.
    """

    default_measures: ClassVar[tuple[str, ...]] = DEFAULT_MEASURES  # shown by default

    target: str
    classes: tuple[Value, ...] | None
    n_rows: int
    scheme: Scheme
    folds: tuple[FoldResult, ...]
    pooled: Pooled = field(default_factory=dict)

    @property
    def recipes(self) -> tuple[str, ...]:
        """The labels of the candidates, in order."""
        return tuple(dict.fromkeys(result.recipe for result in self.folds))

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in order."""
        measured = {name for result in self.folds for name in result.measures}
        return tuple(name for name in MEASURES if name in measured)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A line for each recipe and condition: means and standard deviations."""
        return [
            {"recipe": recipe, **conditions, **self._mean_measures(results)}
            for recipe, conditions, results in self._groups()
        ]

    def _groups(self) -> list[tuple[str, dict[str, Any], list[FoldResult]]]:
        """Return the results of each recipe under each condition, in order."""
        groups: dict[Any, tuple[str, dict[str, Any], list[FoldResult]]] = {}
        for result in self.folds:
            if result.line not in groups:
                groups[result.line] = (result.recipe, result.conditions, [])
            groups[result.line][2].append(result)
        return list(groups.values())

    def _mean_measures(self, results: Sequence[FoldResult]) -> Measured:
        """Return means and deviations over the folds that define a measure."""
        summary: Measured = {}
        for name in self.measures:
            each = [result.measures.get(name) for result in results]
            values = np.array([value for value in each if value is not None])
            summary[name] = float(values.mean()) if len(values) else None
            several = len(values) > 1
            summary[f"{name}_sd"] = float(values.std(ddof=1)) if several else None
        for name, value in self.pooled.get(results[0].line, {}).items():
            summary[name], summary[f"{name}_sd"] = value, None
        return summary

    def compare(self, measure: str | None = None) -> list[Comparison]:
        """Return the corrected resampled t-test of each pair of recipes.

        Parameters
        ----------
        measure : str, optional
            The measure to compare, :attr:`compared` by default: accuracy or RMSE. Folds
            where a recipe lacks it are dropped.

        Raises
        ------
        ParameterError
            If there are fewer than two folds, or if folds are single rows and the
            measure is not a mean over rows.
        """
        name = measure_named(measure or self.compared, self.measures).name
        if not self.can_compare(name):
            raise refusal(
                Setting("measure", name),
                "is no mean over rows, and each fold is one row",
                f"compare {self.compared!r}, or use fewer folds",
            )
        by_condition: dict[Any, list[tuple[str, list[FoldResult]]]] = {}
        for recipe, conditions, results in self._groups():
            key = tuple(conditions.items())
            by_condition.setdefault(key, []).append((recipe, results))
        return [
            _comparison(name, dict(key), first_recipe, second_recipe)
            for key, groups in by_condition.items()
            for first_recipe, second_recipe in combinations(groups, 2)
        ]

    @property
    def compared(self) -> str:
        """The first measure whose differences on folds can be tested."""
        return next(filter(self.can_compare, self.measures))

    def can_compare(self, measure: str) -> bool:
        """Return whether the table shows the mean of a measure over folds."""
        averaged = measure in ROW_MEANS or measure not in GROUPS["quality"]
        return averaged or not self.pooled

    @property
    def comparable(self) -> bool:
        """Whether there are two recipes and two folds."""
        divisions = {(result.repeat, result.fold) for result in self.folds}
        return len(self.recipes) > 1 and len(divisions) > 1

    def text(
        self,
        *,
        width: int | None = 80,
        measures: Sequence[str] = (),
        ascii_only: bool = False,
    ) -> str:
        """Return the table as text.

        Parameters
        ----------
        width : int or None
            The longest line. Columns that do not fit are named below, the least
            important first; None shows all.
        measures : sequence of str
            The measures to show, the first with its standard deviation; "quality",
            "interpretability", "speed" and "all" are groups. Empty shows the default
            measures.
        ascii_only : bool
            Whether to avoid signs outside ASCII.
        """
        from spinney.extensions.evaluation.report import report

        return report(self, width=width, measures=measures, ascii_only=ascii_only)

    def __repr__(self) -> str:
        names = ", ".join(self.recipes)
        return f"<Evaluation of {names} on {self.n_rows} rows: {self.scheme}>"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with folds and comparisons."""
        tests = self.compare() if self.comparable else []
        return {
            "target": self.target,
            "classes": None if self.classes is None else list(self.classes),
            "rows": self.n_rows,
            "scheme": self.scheme.as_dict(),
            "table": self.table,
            "comparisons": [test.as_dict() for test in tests],
            "folds": [result.as_dict() for result in self.folds],
        }


def _comparison(
    measure: str,
    conditions: dict[str, Any],
    first_recipe: tuple[str, list[FoldResult]],
    second_recipe: tuple[str, list[FoldResult]],
) -> Comparison:
    pairs = [
        (first, second)
        for first, second in zip(first_recipe[1], second_recipe[1], strict=True)
        if first.measures.get(measure) is not None
        and second.measures.get(measure) is not None
    ]
    if len(pairs) < 2:
        raise refusal(
            Setting("measure", measure),
            f"is defined for {len(pairs)} fold{'' if len(pairs) == 1 else 's'} of "
            f"{first_recipe[0]!r} and {second_recipe[0]!r}",
            "a comparison needs two; use more folds or repeats",
        )
    differences = [
        float(first.measures[measure] or 0) - float(second.measures[measure] or 0)
        for first, second in pairs
    ]
    t, degrees, p = corrected_t_test(
        differences,
        n_train=float(np.mean([first.n_train for first, _ in pairs])),
        n_test=float(np.mean([first.n_test for first, _ in pairs])),
    )
    mean = float(np.mean(differences))
    return Comparison(
        first_recipe[0], second_recipe[0], measure, mean, t, degrees, p, conditions
    )
