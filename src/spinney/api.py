"""The functions that a user types first: grow a tree, load one."""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney._support.checks import Progress
from spinney._support.keyed_random import recipe_seed, seed_of
from spinney._support.threads import limited_threads
from spinney.data import TextFormat, Value
from spinney.errors import ParameterError, did_you_mean
from spinney.estimators import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
)
from spinney.growth import Model
from spinney.growth.forest import Forest, Recipes
from spinney.models import (
    ALL_KINDS,
    FOREST_PARAMETERS,
    RECIPE_PARAMETERS,
    grow_forest_from,
    grow_from,
    load_model,
    refuse_forest_arguments,
)
from spinney.output.file import saved_content
from spinney.recipes import COMMON_SETTINGS, Recipe, our_names, refuse_uncommon
from spinney.sources.training_data import TableInput

if TYPE_CHECKING:
    import os

    from spinney.extensions.clustering.estimators import (
        KMeans,
        KPrototypes,
        MiniBatchKMeans,
    )
    from spinney.extensions.rulesets import RuleSet


def grow(
    data: Any,
    target: str,
    *,
    recipe: str | Recipe | None = None,
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
    validation: Any = None,
    keep_rows: bool = False,
    measure_quality: bool = True,
    progress: Progress | None = None,
    **settings: Any,
) -> TreeClassifier | TreeRegressor:
    """Grow a tree on a table that holds its target.

    Parameters
    ----------
    data : path, data frame, Arrow table, array, dict of columns or DuckDB relation
        The table; see :func:`spinney.read_table`. Or a database: an address such as
        ``"postgresql://user@host/database"`` or ``"sqlite:///file.db"``, or a
        connection of psycopg or sqlite3, each with ``table``; or a data frame of Spark
        or Dask. With ``engine="dask"`` or ``"partitions"`` it is a partitioned table: a
        list of tables or Parquet files, or a path with ``*``.
    target : str
        The column to predict. Numbers are classes where there are at most 20
        different ones, all whole; declare the column numeric or nominal to choose.
    recipe : {"auto", "id3", "c4.5", "cart", "chaid", "optimal", "hoeffding", "m5"} or \
Recipe, optional
        ``"auto"`` if not given; it needs the rows, so where they stay in a database
        ``"c4.5"``. ``model.recipe`` tells which it was. ``"m5"`` is for numeric
        targets only.
    nominal, numeric, ignore : sequences of str
        Columns whose kind is declared, or that are left out. Columns that only tell
        rows apart are left out, too, unless their kind is declared.
    ordinal : mapping of str to levels
        Ordered columns with their levels, low to high; or texts such as
        ``"size:small<medium<large"``.
    values : mapping of str to values
        All that nominal columns may hold, whether a row does or not; or texts such as
        ``"sky:sunny,rainy,cloudy"``. Categories of data frames say so by themselves.
    weight : str, optional
        The column of row weights.
    missing_values : sequence of str
        Texts that stand for a missing cell, such as ``"?"``. Empty cells are
        missing anyway; the text ``NA`` is not, unless it is named here.
    engine : {"memory", "duckdb", "postgres", "sqlite", "spark", "dask", \
"partitions"}, optional
        Where rows are counted. What is in a database, or on a cluster, stays there;
        everything else, tables of SQLite included, is read into memory, unless this
        says otherwise; see ``docs/databases.md``.
    connection : DuckDB connection, optional
        That of a relation, to bind values to its statements.
    table : str, optional
        The table or view of a database, or a query: one SELECT.
    memory_limit : int or str, optional
        What counting in an engine may take of this machine's memory, such as "2GiB":
        rows that fit into half of it are read once, and the other half is DuckDB's
        where it reads a file. If not given, rows may take a quarter of the machine's
        memory. The tree is the same; with 0 no row is read.
    format, encoding : str, optional
        Those of a file, where its suffix and what is in it do not tell.
    text_format : TextFormat or mapping, optional
        How numbers and dates are written, and how many lines stand above the names,
        where that cannot be seen: ``text_format={"decimal": ",", "skip": 2}``.
    validation : table with the target column, optional
        Rows to prune by, which the tree is not grown on: by
        ``pruning="reduced-error"``, which it means if nothing is said,
        ``"pre-pruning"``, which stops growing where they fare no better, or
        ``"cost-complexity"``. ``validation_share=0.3`` reserves such rows instead;
        ``model.validation_rows_`` are their places in the table.
    keep_rows : bool
        Whether the model is to keep its rows, in memory and in files, so that
        ``model.updated`` can add others and remove some.
    measure_quality : bool
        Whether further trees are grown, if that takes little time, to estimate the
        error on new rows; see ``model.quality_``.
    progress : function of two numbers, optional
        Called with how many trees have been grown, and how many there will be: those
        of folds and of recipes that are tried are among them. Where an engine counts,
        these are levels of the tree, and the second number grows with them.
    **settings
        Further parameters of :class:`TreeClassifier` and :class:`TreeRegressor`. One
        that the recipe or the target has no use for is refused; what each needs is in
        ``docs/growing.md``. Other settings are those of a :class:`Recipe`:
        ``recipe=Recipe.named("c4.5").changed(min_step=0)``.

    Returns
    -------
    TreeClassifier or TreeRegressor
        Grown, by what the target is. It reads later tables by the names of
        columns, in any order.

    Examples
    --------
    >>> import spinney
    >>> melons = {"texture": ["clear", "clear", "blurry", "blurry"],
    ...           "density": [0.7, 0.3, 0.8, 0.2], "ripe": ["yes", "no", "no", "no"]}
    >>> print(spinney.grow(melons, target="ripe", recipe="cart"))
    ripe  (4: no 3 (75 %), yes 1 (25 %))
    ├── texture = blurry → no  (2: no 2 (100 %))
    └── texture = clear  (2: no 1 (50 %), yes 1 (50 %))
        ├── density ≤ 0.5 → no  (1: no 1 (100 %))
        └── density > 0.5 → yes  (1: yes 1 (100 %))
    """
    table_input = TableInput.of(locals())
    settings = our_names(settings)
    parameters = _tree_parameters()
    refuse_uncommon(settings, parameters, "c4.5" if recipe is None else recipe)
    for name in settings:
        if name not in parameters:
            known = (*signature(grow).parameters, *parameters)
            msg = f"there is no parameter {name!r}: {did_you_mean(name, known)}"
            raise ParameterError(msg)
    options = {n: v for n, v in settings.items() if n not in COMMON_SETTINGS}
    with limited_threads(options.pop("n_jobs", None)):
        model = grow_from(
            table_input,
            recipe=recipe,
            settings={
                **{name: settings.get(name) for name in COMMON_SETTINGS},
                "seed": recipe_seed(options.pop("random_state", None)),
            },
            validation=validation,
            keep_rows=keep_rows,
            measure_quality=measure_quality,
            progress=progress,
            **options,
        )
    named = model.recipe.name if recipe is None else recipe
    columns = {
        "nominal": nominal,
        "ordinal": ordinal,
        "numeric": numeric,
        "values": values,
        "missing_values": missing_values,
    }
    return _adopted(model, named, {**settings, **columns})


def _tree_parameters() -> list[str]:
    """Return the parameters of trees, of classes and of numbers, that grow has not."""
    both = {*TreeClassifier().get_params(), *TreeRegressor().get_params()}
    return sorted(both.difference(signature(grow).parameters))


def grow_forest(
    data: Any,
    target: str,
    *,
    n_estimators: int = 100,
    recipe: Recipes = "cart",
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
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> ForestClassifier | ForestRegressor:
    """Grow a forest on a table that holds its target.

    Parameters
    ----------
    data, target, nominal, ordinal, numeric, ignore, values, weight, missing_values, \
engine, connection, table, memory_limit, format, encoding, text_format
        As for :func:`spinney.grow`. Of a table in an engine or in partitions bags are
        drawn by what is in rows, the same wherever these are (``bootstrap="hash"``).
    n_estimators : int
        How many trees; at most 100,000.
    recipe : {"cart", "id3", "c4.5", "chaid"} or Recipe, or a list of these
        That of the trees; of several each tree takes one, in turn.
    progress : function of two numbers, optional
        Called with how many trees have been grown, and how many there will be.
    n_jobs, random_state, **settings
        Further parameters of :class:`ForestClassifier`. What is about classes is
        refused where the target is a number.

    Returns
    -------
    ForestClassifier or ForestRegressor
        Grown, by what the target is. It reads later tables by the names of columns.

    Examples
    --------
    >>> import spinney
    >>> melons = {"texture": ["clear", "clear", "blurry", "?"] * 4,
    ...           "density": [0.7, 0.6, 0.3, 0.2] * 4,
    ...           "ripe": ["yes", "yes", "no", "no"] * 4}
    >>> model = spinney.grow_forest(melons, "ripe", missing_values=["?"])
    >>> model.predict({"texture": ["clear", None], "density": [0.8, 0.1]}).tolist()
    ['yes', 'no']
    """
    table_input = TableInput.of(locals())
    settings = our_names(settings)
    refuse_forest_arguments({"trees": recipe, **settings})
    forest, _ = grow_forest_from(
        table_input,
        n_trees=n_estimators,
        recipe=recipe,
        settings={
            **{n: v for n, v in settings.items() if n not in RECIPE_PARAMETERS},
            "seed": seed_of(random_state),
        },
        recipe_settings={n: settings.get(n) for n in RECIPE_PARAMETERS},
        n_jobs=n_jobs,
        progress=progress,
    )
    return _adopted_forest(forest)


def load(
    path: "str | os.PathLike[str]",
) -> (
    "TreeClassifier | TreeRegressor | ForestClassifier | ForestRegressor "
    "| KMeans | MiniBatchKMeans | KPrototypes | RuleSet"
):
    """Load a tree, a forest, clusters or rules that were saved, or exported as JSON.

    The file is checked whole before it is used, and no code in it is ever run.

    Parameters
    ----------
    path : str or path
        A file written by ``model.save``, or by ``model.export("json", path=...)``.

    Returns
    -------
    TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor, KMeans, \
MiniBatchKMeans, KPrototypes or RuleSet
        What was saved. It reads later tables by the names of columns.

    Raises
    ------
    ModelFormatError
        If it is no model, or a damaged one.
    """
    model: Any = load_model(path, kinds=ALL_KINDS)
    if model.kind == "rules":
        rules: RuleSet = model
        return rules
    if model.kind == "forest":
        return _adopted_forest(model.forest_)
    if model.kind == "tree":
        return _adopted(model.model_, model.model_.recipe, {})
    if registry.is_known("estimator", model.kind):
        model = registry.load("estimator", model.kind)(saved_content(model))
    other: KMeans | MiniBatchKMeans | KPrototypes = model
    return other


def _adopted_forest(forest: Forest) -> ForestClassifier | ForestRegressor:
    """Return the estimator that fits the target of a forest."""
    settings = forest.settings
    parameters: dict[str, Any] = {
        name: getattr(settings, name) for name in FOREST_PARAMETERS
    }
    parameters["random_state"] = settings.seed
    recipe: Recipes = list(forest.recipes)
    if len(forest.recipes) == 1:
        recipe = forest.recipes[0]
    if forest.schema.target.is_numeric:
        regressor = ForestRegressor(len(forest), recipe, **parameters)
        return regressor._adopt_by_name(forest)
    scale: Any = settings.class_weight
    if isinstance(scale, Mapping):
        scale = {forest.schema.target.classes[c]: w for c, w in scale.items()}
    return ForestClassifier(
        len(forest),
        recipe,
        voting=settings.voting,
        class_weight=scale,
        **parameters,
    )._adopt_by_name(forest)


def _adopted(
    model: Model, recipe: str | Recipe, settings: Mapping[str, Any]
) -> TreeClassifier | TreeRegressor:
    """Return the estimator that fits the target of a model."""
    numeric = model.schema.target.is_numeric
    estimator = TreeRegressor(recipe) if numeric else TreeClassifier(recipe)
    # What has an effect on the other kind of target was refused, or asks for nothing.
    known = estimator.get_params()
    fitting = {name: value for name, value in settings.items() if name in known}
    estimator.set_params(**fitting)
    return estimator._adopt_by_name(model)
