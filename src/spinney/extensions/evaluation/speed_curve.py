"""Scalability: time and memory by the number of rows.

``c · n^k`` is a straight line of slope k on logarithmic axes. The slope is 1 if twice
the rows take twice as long, and 2 if they take four times as long.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from spinney._support.text import shown
from spinney._support.text_table import aligned
from spinney.errors import DataError, Setting
from spinney.extensions.evaluation.candidates import DEFAULT_RECIPES, Recipes
from spinney.extensions.evaluation.measures import MEASURES
from spinney.extensions.evaluation.report import in_ascii, signed
from spinney.extensions.evaluation.results import Evaluation
from spinney.extensions.evaluation.study import make_study, prepare_study
from spinney.extensions.evaluation.tasks import learning_curve_tasks, training_sizes

SCALED_MEASURES = ("seconds", "row_microseconds", "peak_mib")
MIN_ROWS, MAX_SIZES = 50, 6
DEFAULT_HOLDOUT, DEFAULT_REPEATS = 0.3, 3


class Scalability(Evaluation):
    """An evaluation at several sizes of the training set, with exponents.

    Attributes
    ----------
    exponents : list of dict
        For each ``recipe`` and ``measure`` (seconds and memory of growing, microseconds
        per predicted row), the ``exponent`` of the rows, by least squares of
        logarithms, and ``last``, the exponent between the two largest sizes.
    """

    __slots__ = ()
    default_measures = (*SCALED_MEASURES, "leaves")

    @property
    def exponents(self) -> list[dict[str, Any]]:
        """The exponents of time and memory by recipe and measure."""
        lines = []
        for recipe in self.recipes:
            for measure in (name for name in SCALED_MEASURES if name in self.measures):
                sizes, values = self._median_curve(recipe, measure)
                lines.append(
                    {
                        "recipe": recipe,
                        "measure": measure,
                        "exponent": exponent(sizes, values),
                        "last": exponent(sizes[-2:], values[-2:]),
                    }
                )
        return lines

    def _median_curve(self, recipe: str, measure: str) -> tuple[list[int], list[float]]:
        """Return numbers of rows, and the median of a measure at each."""
        values: dict[int, list[float]] = {}
        for result in self.folds:
            value = result.measures.get(measure)
            if result.recipe == recipe and value is not None:
                values.setdefault(result.conditions["rows"], []).append(value)
        sizes = sorted(values)
        return sizes, [float(np.median(values[size])) for size in sizes]

    def text(
        self,
        *,
        width: int | None = 80,
        measures: Sequence[str] = (),
        ascii_only: bool = False,
    ) -> str:
        """Return the table as text, with the exponents below."""
        table = super().text(width=width, measures=measures, ascii_only=ascii_only)
        heading = "Exponent of the number of rows (in brackets: last two sizes):"
        names = [name for name in SCALED_MEASURES if name in self.measures]
        titles = [MEASURES[name].title for name in names]
        rows = [["recipe", *titles]]
        by_key = {(e["recipe"], e["measure"]): e for e in self.exponents}
        for recipe in self.recipes:
            cells = [_exponent_text(by_key[recipe, name]) for name in names]
            rows.append([shown(recipe), *cells])
        below = "\n".join(["", heading, *aligned(rows, left=[0])])
        return f"{table}\n{in_ascii(below) if ascii_only else below}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, with the exponents."""
        return {**super().as_dict(), "exponents": self.exponents}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Return the exponent k of the best fit c · size^k, by least squares of logarithms.

    None for fewer than two sizes, or if a value is not positive.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    if len(sizes) < 2 or min(values) <= 0:
        return None
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)


def _exponent_text(line: dict[str, Any]) -> str:
    both = (line["exponent"], line["last"])
    return "{} ({})".format(*("-" if k is None else signed(k, 2) for k in both))


def scalability(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    sizes: Sequence[float] | None = None,
    **arguments: Any,
) -> Scalability:
    """Measure the time and memory of growing and predicting by the number of rows.

    As in a learning curve, training sets are cut to their first rows in random order.
    Each model is grown twice, once for the peak of memory (on Linux only) and once for
    the time, after a warm-up.

    Parameters
    ----------
    data, target, recipes
        As for :func:`spinney.evaluate`.
    sizes : sequence, optional
        Numbers of rows (int), or fractions of the training set (float). By default all
        rows, half of them and so on, at most 6 sizes and at least 50 rows.
    **arguments
        Further arguments of :func:`spinney.evaluate`. By default ``holdout`` is 0.3
        and ``repeats`` is 3.

    Returns
    -------
    Scalability
        A line of its table has the number of training ``rows``. ``print`` shows the
        table and the ``exponents``.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": [i % 97 for i in range(400)],
    ...         "sold": ["yes" if i % 97 > 40 else "no" for i in range(400)]}
    >>> result = spinney.scalability(rows, "sold", "cart")
    >>> [line["rows"] for line in result.table]
    [70, 140, 280]
    >>> [line["measure"] for line in result.exponents][:2]
    ['seconds', 'row_microseconds']
    """
    settings = {name: value for name, value in arguments.items() if value is not None}
    if not {"folds", "holdout"} & settings.keys():
        settings["holdout"] = DEFAULT_HOLDOUT
    settings = {"repeats": DEFAULT_REPEATS, **settings, "data": data, "target": target}
    study = prepare_study(make_study(recipes, settings))
    max_size = min(len(split.train) for split in study.splits)
    numbers = (
        _halved_sizes(max_size) if sizes is None else training_sizes(sizes, max_size)
    )
    if len(numbers) < 2:
        remedy = (
            "give more rows, or two sizes, such as ",
            Setting("sizes", [0.5, 1.0]),
        )
        problem = f"there are too few training rows ({max_size}) for several sizes"
        raise DataError(problem, remedy=remedy)
    result = study.run(learning_curve_tasks(study, numbers), memory=True)
    return Scalability(**{f.name: getattr(result, f.name) for f in fields(result)})


def _halved_sizes(max_size: int) -> list[int]:
    """Return a number of rows, half of it and so on, in ascending order.

    >>> _halved_sizes(280), _halved_sizes(20)
    ([70, 140, 280], [])
    """
    halves = [max_size // 2**step for step in range(MAX_SIZES)]
    return sorted(number for number in halves if number >= MIN_ROWS)
