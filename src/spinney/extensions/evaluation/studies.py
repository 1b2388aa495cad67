"""``evaluate``, ``learning_curve`` and ``robustness``."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from spinney._support.checks import Progress, check_choice
from spinney.data import Costs, TextFormat, Value
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.evaluation.candidates import DEFAULT_RECIPES, Recipes
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows
from spinney.extensions.evaluation.remote_study import evaluate_remote
from spinney.extensions.evaluation.results import Evaluation
from spinney.extensions.evaluation.study import make_study, prepare_study
from spinney.extensions.evaluation.tasks import (
    ATTRIBUTE_NOISE,
    CLASS_NOISE,
    MISSING_VALUES,
    OUTLIERS,
    TARGET_OUTLIERS,
    check_rates,
    learning_curve_tasks,
    perturbed_columns,
    perturbed_task,
    plain_task,
    training_sizes,
)
from spinney.recipes import DEFAULT_RECIPE

DEFAULT_OUTLIERS = (0, 0.1, 0.2)


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
    engine: str | None = None,
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
    """Evaluate recipes by cross-validation or hold-out.

    Rows are read once and split once, by scikit-learn: every recipe has the same
    training and test sets, stratified by class. Kinds of columns are inferred from the
    whole table; values, levels and statistics are learned from the training set.

    Parameters
    ----------
    data : path, data frame, Arrow table, array, dict of columns or DuckDB relation
        The table; see :func:`spinney.read_table`. Rows without a target are dropped. A
        remote table is split by row hash and counted in its engine
        (``docs/databases.md``).
    target : str
        The column to predict.
    recipes : str, Recipe, sequence or mapping, optional
        The candidates: names, Recipes, pairs of a label and arguments of
        :func:`spinney.grow` such as ``("stump", {"recipe": "cart", "max_depth":
        1})``, or a mapping of labels to arguments. The default is ``"auto"``,
        ``"c4.5"`` and, for tables in memory, ``"cart"`` with cost-complexity pruning.
    folds : int or "loo", optional
        The number of folds, or "loo" for leave-one-out. The default is 10, or the
        number of rows of the most frequent class, with a warning; below 30 rows it is
        leave-one-out.
    repeats : int
        The number of repeats with other splits.
    holdout : float, optional
        The fraction of rows in the test set, instead of folds.
    random_state : int, RandomState or Generator, optional
        The seed of the splits, 0 by default. Recipes have their own seed:
        ``("other", {"recipe": "auto", "random_state": 1})``.
    nominal, ordinal, numeric, ignore, values, weight, missing_values, source, \
connection, table, memory_limit, format, encoding, text_format
        As for :func:`spinney.grow`. Row weights count in growing and in measuring.
    cost_matrix : mapping of mappings, or square array, optional
        ``cost_matrix[label][true]``, to report the mean cost of a row. It does not
        influence growing, unlike a recipe's own argument.
    progress : function of two numbers, optional
        Called with the number of trees grown, and their total.
    **settings
        Arguments of :func:`spinney.grow` for all recipes, such as ``max_depth`` or
        ``class_weight``. All recipes must support them.

    Returns
    -------
    Evaluation
        ``print`` shows a table; ``.table`` and ``.folds`` have the figures, and
        ``.compare()`` tests the differences.

    Raises
    ------
    DataError
        If a recipe fails on a training set, such as one of a single class.

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
    study = make_study(recipes, arguments)
    if study.table.is_remote:
        return evaluate_remote(study)
    prepared = prepare_study(study)
    return prepared.run([plain_task(prepared.rows, s, {}) for s in prepared.splits])


def learning_curve(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPE,
    *,
    sizes: Sequence[float] = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    **arguments: Any,
) -> Evaluation:
    """Measure a recipe on increasing numbers of training rows.

    Each training set is cut to its first rows in a random stratified order, so smaller
    sizes are subsets of larger ones. The test set stays the same.

    Parameters
    ----------
    data, target
        As for :func:`spinney.evaluate`.
    recipes : str, Recipe, sequence or mapping
        One recipe or several; ``"auto"`` by default.
    sizes : sequence
        Numbers of rows (int), or fractions of the smallest training set (float).
    **arguments
        Further arguments of :func:`spinney.evaluate`. Rows of a database are read.

    Returns
    -------
    Evaluation
        A line of its table has the number of training ``rows``.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> curve = spinney.learning_curve(rows, "sold", "cart", sizes=[8, 0.5], folds=4)
    >>> [line["rows"] for line in curve.table]
    [8, 15]
    """
    arguments = {**arguments, "data": data, "target": target}
    study = prepare_study(make_study(recipes, arguments))
    max_size = min(len(split.train) for split in study.splits)
    return study.run(learning_curve_tasks(study, training_sizes(sizes, max_size)))


def robustness(
    data: Any,
    target: str,
    recipes: Recipes = DEFAULT_RECIPES,
    *,
    noise: Sequence[float] = (0, 0.1, 0.2),
    missing_rate: Sequence[float] = (0, 0.1, 0.2),
    outliers: Sequence[float] | None = None,
    missing_in_test: bool = False,
    **arguments: Any,
) -> Evaluation:
    """Measure how recipes tolerate noise, missing values and outliers.

    The training rows are perturbed, one kind at a time, the same for every recipe. Test
    rows do not change.

    Parameters
    ----------
    data, target, recipes
        As for :func:`spinney.evaluate`.
    noise : sequence of float
        Rates of class noise (another class at random; for a numeric target, the value
        of a random row) and of attribute noise (the value of a random row).
    missing_rate : sequence of float
        Rates of missing values in each attribute.
    outliers : sequence of float, optional
        Rates of outliers in numeric attributes and, separately, in a numeric target: 3
        to 10 interquartile ranges beyond a quartile. The default is (0, 0.1, 0.2) for
        tables with numbers.
    missing_in_test : bool
        Whether to remove values in test rows at the same rate.
    **arguments
        Further arguments of :func:`spinney.evaluate`. Rows of a database are read.

    Returns
    -------
    Evaluation
        A line of its table has the perturbation ``injected`` and its ``rate``. All
        rates of 0 are one line.

    Examples
    --------
    >>> import spinney
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> result = spinney.robustness(rows, "sold", "cart", noise=[0, 0.2],
    ...                             missing_rate=[0.2], outliers=[0.2], folds=4)
    >>> for line in result.table:
    ...     print(line["injected"], line["rate"])
    nothing 0.0
    class noise 0.2
    attribute noise 0.2
    missing values 0.2
    outliers 0.2
    """
    check_choice("missing_in_test", missing_in_test)
    arguments = {**arguments, "data": data, "target": target}
    study = prepare_study(make_study(recipes, arguments))
    perturbations = _perturbations(study.rows, noise, missing_rate, outliers)
    tasks = [
        perturbed_task(study, index, kind, rate, also_test=missing_in_test)
        for index, (kind, rate) in product(range(len(study.splits)), perturbations)
    ]
    return study.run(tasks)


def _perturbations(
    rows: EvaluationRows,
    noise: Sequence[float],
    missing_rate: Sequence[float],
    outliers: Sequence[float] | None,
) -> list[tuple[str, float]]:
    """Return kinds of perturbation with their rates; "nothing" is first, and once."""
    noise_rates = check_rates("noise", noise)
    rates = {
        CLASS_NOISE: noise_rates,
        ATTRIBUTE_NOISE: noise_rates,
        MISSING_VALUES: check_rates("missing_rate", missing_rate),
    }
    outlier_rates = check_rates(
        "outliers", DEFAULT_OUTLIERS if outliers is None else outliers
    )
    kinds = [k for k in (OUTLIERS, TARGET_OUTLIERS) if perturbed_columns(rows, k)]
    if any(outlier_rates) and not (kinds or outliers is None):
        raise refusal(
            Setting("outliers", outlier_rates),
            "need numbers, and neither an attribute nor the target is numeric",
            "remove it",
        )
    rates |= dict.fromkeys(kinds, outlier_rates)
    requested = [
        (kind, rate) for kind, listed in rates.items() for rate in listed if rate
    ]
    if any(0 in listed for listed in rates.values()):
        requested.insert(0, ("nothing", 0.0))
    if not requested:
        names = (Setting("noise"), Setting("missing_rate"), Setting("outliers"))
        remedy = ("give a rate, such as ", Setting("noise", [0.1]))
        problem = phrase("{}, {} and {} are all empty", *names)
        raise ParameterError(problem, remedy=remedy)
    return requested
