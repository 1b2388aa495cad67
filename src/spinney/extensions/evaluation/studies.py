"""Evaluate recipes on a table: folds, learning curves, robustness."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from spinney._support.checks import Progress, check_choice
from spinney.data import Costs, TextFormat, Value
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows
from spinney.extensions.evaluation.remote_runs import evaluate_remote
from spinney.extensions.evaluation.results import Evaluation
from spinney.extensions.evaluation.setup import experiment_of, setup_of
from spinney.extensions.evaluation.tasks import (
    ATTRIBUTE_NOISE,
    CLASS_NOISE,
    MISSING_VALUES,
    OUTLIERS,
    TARGET_OUTLIERS,
    checked_rates,
    cut_tasks,
    damaged_columns,
    damaged_task,
    plain_task,
    row_hashing,
)
from spinney.extensions.evaluation.variants import DEFAULT_RECIPES, Recipes
from spinney.recipes import DEFAULT_RECIPE

USUAL_OUTLIERS = (0, 0.1, 0.2)


def evaluate(
    data: Any,
    target: str,
    recipes: Recipes | None = None,
    *,
    folds: int | str | None = None,
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
    source: str | None = None,
    connection: Any = None,
    table: str | None = None,
    memory_limit: int | str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | Mapping[str, Any] | None = None,
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
        The table; see :func:`spinney.read_table`. Rows without a known target are left
        out. Or what :func:`spinney.grow` counts elsewhere: then folds are drawn by what
        is in rows, and models grown where these are (``docs/databases.md``).
    target : str
        The column to predict.
    recipes : str, Recipe, sequence or mapping, optional
        What to compare: names, Recipes, pairs of a label and arguments of
        :func:`spinney.grow` such as ``("stump", {"recipe": "cart", "max_depth":
        1})``, or a mapping of labels to arguments. If not given, ``"auto"``, which
        is what ``grow`` grows by, ``"c4.5"``, and ``"cart"`` pruned by cost complexity;
        the last, which needs folds of its own, not of rows that are away.
    folds : int or "loo", optional
        Parts of the cross-validation; "loo" leaves out one row at a time. If not given,
        10; where no class has so many rows, as many as the commonest has, with a
        warning; of fewer than 30 rows, one at a time.
    repeats : int
        How often it is done, each time with other parts.
    holdout : float, optional
        Instead of folds: the share of the rows to test on.
    random_state : int, RandomState or Generator, optional
        What the parts are drawn by; 0 if not given. What recipes draw is
        theirs: ``("other", {"recipe": "auto", "random_state": 1})``.
    nominal, ordinal, numeric, ignore, values, weight, missing_values, source, \
connection, table, memory_limit, format, encoding, text_format
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
    arguments = {**locals(), **settings}  # all that is given, by name
    del arguments["recipes"], arguments["settings"]
    asked = experiment_of(recipes, arguments)
    if asked.table.is_remote:
        return evaluate_remote(asked)
    setup = setup_of(asked)
    return setup.run([plain_task(setup.rows, part, {}) for part in setup.parts])


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
        Further arguments of :func:`spinney.evaluate`. Rows of a database are read.

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
    setup = setup_of(experiment_of(recipe, arguments, data=data, target=target))
    most = min(len(part.train) for part in setup.parts)
    return setup.run(cut_tasks(setup, row_hashing(sizes, most)))


def robustness(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    noise: Sequence[float] = (0, 0.1, 0.2),
    missing: Sequence[float] = (0, 0.1, 0.2),
    outliers: Sequence[float] | None = None,
    missing_in_test: bool = False,
    **arguments: Any,
) -> Evaluation:
    """Measure how recipes bear noise, missing values and outliers.

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
    outliers : sequence of float, optional
        Rates at which cells of numeric attributes go far out: 3 to 10 times the range
        between the quartiles above the upper or below the lower one. Where the target
        is a number the same is done to it, by itself. If not given, (0, 0.1, 0.2) of
        tables that have numbers.
    missing_in_test : bool
        Whether cells of the test rows are taken away too, at the same rate.
    **arguments
        Further arguments of :func:`spinney.evaluate`. Rows of a database are read.

    Returns
    -------
    Evaluation
        Each line of its table has what was ``injected`` and at which ``rate``. All
        rates of 0 are one line, where nothing was.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> result = spinney.robustness(rows, "sold", "cart", noise=[0, 0.2],
    ...                             missing=[0.2], outliers=[0.2], folds=4)
    >>> for line in result.table:
    ...     print(line["injected"], line["rate"])
    nothing 0.0
    class noise 0.2
    attribute noise 0.2
    missing values 0.2
    outliers 0.2
    """
    check_choice("missing_in_test", missing_in_test)
    setup = setup_of(experiment_of(recipes, arguments, data=data, target=target))
    wanted = _wanted_damage(setup.rows, noise, missing, outliers)
    tasks = [
        damaged_task(setup, index, kind, rate, also_test=missing_in_test)
        for index, (kind, rate) in product(range(len(setup.parts)), wanted)
    ]
    return setup.run(tasks)


def _wanted_damage(
    rows: EvaluationRows,
    noise: Sequence[float],
    missing: Sequence[float],
    outliers: Sequence[float] | None,
) -> list[tuple[str, float]]:
    """Return kinds of damage with their rates; no damage first, and once."""
    noise_rates = checked_rates("noise", noise)
    rates = {
        CLASS_NOISE: noise_rates,
        ATTRIBUTE_NOISE: noise_rates,
        MISSING_VALUES: checked_rates("missing", missing),
    }
    given = USUAL_OUTLIERS if outliers is None else outliers
    far_out, both = checked_rates("outliers", given), (OUTLIERS, TARGET_OUTLIERS)
    kinds = [kind for kind in both if damaged_columns(rows, kind)]
    if any(far_out) and not (kinds or outliers is None):
        raise refusal(
            Setting("outliers", far_out),
            "are of numbers, and no attribute is one, nor the target",
            "leave it out",
        )
    rates |= dict.fromkeys(kinds, far_out)
    wanted = [(kind, rate) for kind, given in rates.items() for rate in given if rate]
    if any(0 in given for given in rates.values()):
        wanted.insert(0, ("nothing", 0.0))
    if not wanted:
        names = (Setting("noise"), Setting("missing"), Setting("outliers"))
        remedy = ("give a rate, such as ", Setting("noise", [0.1]))
        problem = phrase("{}, {} and {} are all empty", *names)
        raise ParameterError(problem, remedy=remedy)
    return wanted
