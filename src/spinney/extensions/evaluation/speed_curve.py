"""How time and memory grow with the rows: the learning curve of speed.

Whatever takes ``c · n^k`` lies on a straight line of slope k where both axes are
logarithms. So the slope through the sizes tells how a learner scales on this table:
1 where twice the rows take twice as long, 2 where they take four times as long.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from spinney._support.text import shown
from spinney._support.text_table import aligned
from spinney.errors import DataError, Setting
from spinney.extensions.evaluation.measures import MEASURES
from spinney.extensions.evaluation.report import in_ascii, signed
from spinney.extensions.evaluation.results import Evaluation
from spinney.extensions.evaluation.setup import experiment_of, setup_of
from spinney.extensions.evaluation.tasks import cut_tasks, row_hashing
from spinney.extensions.evaluation.variants import DEFAULT_RECIPES, Recipes

SCALED = ("seconds", "row_microseconds", "peak_mib")
FEWEST_ROWS, MOST_SIZES = 50, 6
USUAL_HOLDOUT, USUAL_REPEATS = 0.3, 3


class Scalability(Evaluation):
    """An evaluation at several sizes of the training part, and its exponents.

    Attributes
    ----------
    exponents : list of dict
        Of each ``recipe`` and ``measure`` (seconds of growing, microseconds of
        predicting a row, memory of growing) the ``exponent`` of the rows, fitted to
        all sizes by least squares of logarithms, and between the ``last`` two.
    """

    __slots__ = ()
    usual = (*SCALED, "leaves")

    @property
    def exponents(self) -> list[dict[str, Any]]:
        """How each recipe's time and memory grow with the rows."""
        lines = []
        for recipe in self.recipes:
            for measure in (name for name in SCALED if name in self.measures):
                sizes, values = self._curve(recipe, measure)
                lines.append(
                    {
                        "recipe": recipe,
                        "measure": measure,
                        "exponent": exponent(sizes, values),
                        "last": exponent(sizes[-2:], values[-2:]),
                    }
                )
        return lines

    def _curve(self, recipe: str, measure: str) -> tuple[list[int], list[float]]:
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
        heading = "Each grows as rows to the power of (in brackets: last two sizes):"
        names = [name for name in SCALED if name in self.measures]
        titles = [MEASURES[name].title for name in names]
        rows = [["recipe", *titles]]
        found = {(e["recipe"], e["measure"]): e for e in self.exponents}
        for recipe in self.recipes:
            cells = [_exponent_text(found[recipe, name]) for name in names]
            rows.append([shown(recipe), *cells])
        below = "\n".join(["", heading, *aligned(rows, left=[0])])
        return f"{table}\n{in_ascii(below) if ascii_only else below}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON, the exponents too."""
        return {**super().as_dict(), "exponents": self.exponents}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Return the k for which c · size^k is nearest to the values, as logarithms.

    None where there are fewer than two sizes, or a value is not above 0.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    if len(sizes) < 2 or min(values) <= 0:
        return None
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)


def _exponent_text(found: dict[str, Any]) -> str:
    def written(value: float | None) -> str:
        return "-" if value is None else signed(value, 2)

    return f"{written(found['exponent'])} ({written(found['last'])})"


def scalability(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    sizes: Sequence[float] | None = None,
    **arguments: Any,
) -> Scalability:
    """Measure how the time to build and to use a model, and memory, grow with rows.

    As a learning curve, training parts are cut to their first rows in a random order
    and the test part stays. Each model is grown twice: once to see how much memory
    was resident at the peak beyond that before it (Linux alone tells; elsewhere there
    is no such column), and once to see how long it takes. What a process loads only
    once is loaded before, by a model that is not measured.

    Parameters
    ----------
    data, target, recipes
        As for :func:`spinney.evaluate`.
    sizes : sequence, optional
        Numbers of rows (int), or shares of the training part (float). If not given,
        all rows, half of them, a quarter and so on, at most 6 sizes and at least 50
        rows.
    **arguments
        Further arguments of :func:`spinney.evaluate`. If neither ``folds`` nor
        ``holdout`` is given, 0.3 of the rows are held out; ``repeats`` is 3.

    Returns
    -------
    Scalability
        Each line of its table has the number of ``rows`` trained on; ``exponents``
        says how time and memory grow with them. ``print`` shows both.

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
    given = {name: value for name, value in arguments.items() if value is not None}
    if not {"folds", "holdout"} & given.keys():
        given["holdout"] = USUAL_HOLDOUT
    given.setdefault("repeats", USUAL_REPEATS)
    setup = setup_of(experiment_of(recipes, given, data=data, target=target))
    most = min(len(part.train) for part in setup.parts)
    numbers = _halves(most) if sizes is None else row_hashing(sizes, most)
    if len(numbers) < 2:
        remedy = (
            "give more rows, or two sizes, such as ",
            Setting("sizes", [0.5, 1.0]),
        )
        problem = f"there are {most} rows to train on: too few to see how time grows"
        raise DataError(problem, remedy=remedy)
    found = setup.run(cut_tasks(setup, numbers), memory=True)
    return Scalability(
        **{each.name: getattr(found, each.name) for each in fields(found)}
    )


def _halves(most: int) -> list[int]:
    """Return a number of rows, half of it and so on, in rising order.

    >>> _halves(280), _halves(20)
    ([70, 140, 280], [])
    """
    halves = [most // 2**step for step in range(MOST_SIZES)]
    return sorted(number for number in halves if number >= FEWEST_ROWS)
