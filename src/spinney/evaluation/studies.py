"""Evaluate recipes on a table: folds, learning curves, robustness."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from spinney._support.checks import Progress
from spinney.data import Costs, Notation, Value
from spinney.errors import ParameterError, Setting, phrase
from spinney.evaluation.results import Evaluation
from spinney.evaluation.setup import setup_of
from spinney.evaluation.splits import Part
from spinney.evaluation.tasks import (
    ATTRIBUTE_NOISE,
    CLASS_NOISE,
    MISSING_VALUES,
    checked_rates,
    damaged_task,
    generator,
    plain_task,
    row_numbers,
    spread,
)
from spinney.evaluation.variants import DEFAULT_RECIPES, Recipes
from spinney.recipes import DEFAULT_RECIPE


def evaluate(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    folds: int | None = None,
    repeats: int = 1,
    holdout: float | None = None,
    random_state: Any = None,
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    values: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    weight: str | None = None,
    missing_values: Sequence[str] = (),
    format: str | None = None,
    encoding: str | None = None,
    notation: Notation | Mapping[str, Any] | None = None,
    cost_matrix: Costs | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Evaluation:
    """Measure recipes on rows that their trees have not seen.

    Rows are read once and divided once, by scikit-learn: every recipe is trained
    and tested on the same parts. Class shares are kept in each part. The kinds of
    columns are those of the whole table; values, levels and statistics are learned
    from the training part alone.

    Parameters
    ----------
    data : path, data frame, Arrow table, array, dict of columns or DuckDB relation
        The table, read into memory; see :func:`spinney.read_table`. Rows without a
        known target are left out.
    target : str
        The column to predict.
    recipes : str, Recipe, sequence or mapping
        What to compare: names, Recipes, pairs of a label and arguments of
        :func:`spinney.grow` such as ``("stump", {"recipe": "cart", "max_depth":
        1})``, or a mapping of labels to arguments. If not given, ``"auto"``, which
        is what ``grow`` grows by, ``"c4.5"``, and ``"cart"`` pruned by cost complexity.
    folds : int, optional
        Parts of the cross-validation. If not given, 10; where no class has so many
        rows, as many as the commonest has, with a warning.
    repeats : int
        How often it is done, each time with other parts.
    holdout : float, optional
        Instead of folds: the share of the rows to test on.
    random_state : int, RandomState or Generator, optional
        What the parts are drawn by; 0 if not given. What recipes draw is
        theirs: ``("other", {"recipe": "auto", "random_state": 1})``.
    nominal, ordinal, numeric, ignore, values, weight, missing_values, format, \
encoding, notation
        As for :func:`spinney.grow`. Row weights count in growing and in measuring.
    cost_matrix : mapping of mappings, or square array, optional
        ``cost_matrix[label][true]``, to report the mean cost of a row. It does not
        change how trees grow; a recipe's own arguments do.
    progress : function of two numbers, optional
        Called with how many trees are done and how many there will be.
    **settings
        Arguments of :func:`spinney.grow` for all recipes, such as ``max_depth``
        or ``class_weight``. One that any of the recipes has no use for is refused:
        give it to the others alone.

    Returns
    -------
    Evaluation
        Prints as a table; ``.table`` and ``.folds`` hold the figures, ``.compare()``
        tests the differences.

    Raises
    ------
    DataError
        If a training part cannot be grown on, such as one of a single class; the
        message names the recipe and the fold.

    Examples
    --------
    >>> import spinney
    >>> sold = ["no"] * 15 + ["yes", "no"] * 5 + ["yes"] * 15
    >>> rows = {"size": list(range(40)), "sold": sold}
    >>> recipes = ["id3", ("stump", {"recipe": "id3", "max_depth": 1})]
    >>> result = spinney.evaluate(rows, "sold", recipes, folds=4)
    >>> [(line["recipe"], line["accuracy"], line["leaves"]) for line in result.table]
    [('id3', 0.75, 8.5), ('stump', 0.825, 2.0)]
    """
    arguments = {
        "folds": folds,
        "repeats": repeats,
        "holdout": holdout,
        "random_state": random_state,
        "nominal": nominal,
        "ordinal": ordinal,
        "numeric": numeric,
        "ignore": ignore,
        "values": values,
        "weight": weight,
        "missing_values": missing_values,
        "format": format,
        "encoding": encoding,
        "notation": notation,
        "cost_matrix": cost_matrix,
    }
    setup, _ = setup_of(data, target, recipes, {**settings, **arguments})
    tasks = [plain_task(setup.rows, part, {}) for part in setup.parts]
    return setup.run(tasks, progress)


def learning_curve(
    data: Any,
    target: str,
    recipe: Recipes = DEFAULT_RECIPE,
    *,
    sizes: Sequence[float] = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    **arguments: Any,
) -> Evaluation:
    """Measure a recipe that is trained on ever more rows.

    In each division of the rows the test part stays, and the training part is cut
    to its first rows in an order drawn by ``random_state``, in which every stretch has
    about the class shares of the whole: smaller sizes are parts of larger ones.

    Parameters
    ----------
    data, target
        As for :func:`spinney.evaluate`.
    recipe : str, Recipe, sequence or mapping
        One recipe or several; ``"auto"`` if not given.
    sizes : sequence
        Numbers of rows (int), or shares of the smallest training part (float).
    **arguments
        Further arguments of :func:`spinney.evaluate`.

    Returns
    -------
    Evaluation
        Each line of its table has the number of ``rows`` trained on.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> curve = spinney.learning_curve(rows, "sold", "cart", sizes=[8, 0.5], folds=4)
    >>> [line["rows"] for line in curve.table]
    [8, 15]
    """
    setup, progress = setup_of(data, target, recipe, arguments)
    rows, parts = setup.rows, setup.parts
    numbers = row_numbers(sizes, min(len(part.train) for part in parts))
    tasks = []
    for index, part in enumerate(parts):
        order = spread(rows, part, generator(setup.scheme.seed, index))
        tasks += [
            plain_task(
                rows,
                Part(part.repeat, part.fold, np.sort(order[:number]), part.test),
                {"rows": number},
            )
            for number in numbers
        ]
    return setup.run(tasks, progress)


def robustness(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    noise: Sequence[float] = (0, 0.1, 0.2),
    missing: Sequence[float] = (0, 0.1, 0.2),
    missing_in_test: bool = False,
    **arguments: Any,
) -> Evaluation:
    """Measure how recipes bear noise and missing values.

    Damage is done to the training rows, one kind at a time, the same for every
    recipe. Test rows stay as they are, so what is measured is what was learned.

    Parameters
    ----------
    data, target, recipes
        As for :func:`spinney.evaluate`.
    noise : sequence of float
        Rates between 0 and 1 of class noise (the class of that share of the rows
        becomes one of the others, each equally likely; a numeric target becomes
        that of a random row), and of attribute noise (that share of each
        attribute's cells becomes the value of a random row).
    missing : sequence of float
        Rates at which each attribute's cells are taken away.
    missing_in_test : bool
        Whether cells of the test rows are taken away too, at the same rate.
    **arguments
        Further arguments of :func:`spinney.evaluate`.

    Returns
    -------
    Evaluation
        Each line of its table has what was ``injected`` and at which ``rate``. All
        rates of 0 are one line, where nothing was.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> result = spinney.robustness(
    ...     rows, "sold", "cart", noise=[0, 0.2], missing=[0.2], folds=4)
    >>> [(line["injected"], line["rate"]) for line in result.table][:3]
    [('nothing', 0.0), ('class noise', 0.2), ('attribute noise', 0.2)]
    """
    setup, progress = setup_of(data, target, recipes, arguments)
    rates = {
        CLASS_NOISE: checked_rates("noise", noise),
        ATTRIBUTE_NOISE: checked_rates("noise", noise),
        MISSING_VALUES: checked_rates("missing", missing),
    }
    wanted = [(kind, rate) for kind, given in rates.items() for rate in given if rate]
    if any(0 in given for given in rates.values()):
        wanted.insert(0, ("nothing", 0.0))
    if not wanted:
        problem = phrase(
            "{} and {} are both empty", Setting("noise"), Setting("missing")
        )
        remedy = ("give a rate, such as ", Setting("noise", [0.1]))
        raise ParameterError(problem, remedy=remedy)
    tasks = [
        damaged_task(setup, index, kind, rate, also_test=missing_in_test)
        for index, (kind, rate) in product(range(len(setup.parts)), wanted)
    ]
    return setup.run(tasks, progress)
