"""What all scikit-learn classes share: fitting, and reading tables."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, wraps
from inspect import signature
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney._support.arrays import Floats
from spinney._support.threads import limited_threads
from spinney.data import (
    X_ISSUES,
    Declarations,
    Schema,
    Table,
    Target,
    Value,
    declarations_of,
    similar_class_warnings,
    table_warnings,
)
from spinney.data.readers import read_table
from spinney.errors import (
    CellError,
    DataError,
    SpinneyError,
    warn,
)
from spinney.models import FittedTable
from spinney.recipes import Named, Recipe, our_names, refuse_uncommon
from spinney.sources.rows import TrainingSet, check_target, given_weights, training_set

Estimator = TypeVar("Estimator", bound=Any)
Options = ParamSpec("Options")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, Options], Result]


def delegated(method: Method[Options, Result]) -> Method[Options, Result]:
    """Return a method of fitted models as one of an estimator that holds a model."""
    name = method.__name__

    @wraps(method)
    def delegating(
        self: Any, /, *arguments: Options.args, **options: Options.kwargs
    ) -> Result:
        with limited_threads(self.n_jobs):
            result: Result = getattr(self._fitted(), name)(*arguments, **options)
        return result

    return delegating


# The parameters that declare what columns are.
DECLARED = ("nominal", "ordinal", "numeric", "values", "missing_values")
MOST_DENSE_CELLS = 1 << 28  # 2 GB of floats


@dataclass(eq=False, repr=False)
class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """A tree or a forest over tables as they are, by scikit-learn's conventions.

    It holds a fitted model, a ``FittedTree`` or ``FittedForest``, and delegates to it.
    Parameters are fields, of which the signature of ``__init__`` is made that
    scikit-learn reads. Here are those that trees and forests have alike.
    """

    _: KW_ONLY
    criterion: Named | None = None
    grouping: str | None = None
    missing_policy: str | None = None
    max_depth: int | None = None
    max_leaves: int | None = None
    min_samples_split: float | None = None
    min_samples_leaf: float | None = None
    min_weight_fraction_leaf: float | None = None
    min_gain: float | None = None
    pruning: str | None = None
    nominal: Sequence[str | int] = ()
    ordinal: Mapping[Any, Sequence[Value]] | Sequence[str] = ()
    numeric: Sequence[str | int] = ()
    values: Mapping[Any, Sequence[Value]] | Sequence[str] = ()
    missing_values: Sequence[str] = ()
    random_state: Any = None
    n_jobs: int | None = None

    # The name of the attribute that has what was grown, and the class of the model.
    _grown_as: ClassVar[str]
    _model_class: ClassVar[Any]
    _by_name = False  # whether later tables are read by the names of columns

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes or numbers.

        Parameters
        ----------
        X : data frame, array, dict of columns or anything that ``read_table`` takes
            The attributes.
        y : array
            The class of each row, or its number.
        sample_weight : array, optional
            The weight of each row; a row of weight 0 is as good as absent.
        """
        with limited_threads(self.n_jobs), learning_anew(self) as new:
            new._fit(X, y, sample_weight, self)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, old: Self) -> None:
        """Learn, as a new estimator that nobody else knows yet.

        ``old`` is the one whose ``fit`` was called, as it was before.
        """
        raise NotImplementedError

    def _rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        recipes: Sequence[Recipe],
        *,
        first: bool = False,
    ) -> TrainingSet:
        """Return the rows to grow on by a recipe, or several.

        ``first`` says that others will come.
        """
        name = getattr(y, "name", None)
        if y is None:
            validated(self, np.zeros((1, 1)), y=None)  # raises, in its own words
        cells = self._cells_of_target(y)
        declare = self._declarations
        table = validated_table(self, X, cells, reset=True, declare=declare)
        target, codes = self._target(
            cells, name if isinstance(name, str) else "y", table.n_rows
        )
        declared = self._declarations(True)
        warnings = [
            *table_warnings(table, declared, issues=X_ISSUES),
            *similar_class_warnings(target.name, target.classes, codes),
        ]
        for warning in warnings:
            warn(*warning.args, remedy=warning.remedy)
        weights = None
        if sample_weight is not None:
            weights = given_weights(sample_weight, table.n_rows)
        return training_set(
            table,
            target,
            classes=codes,
            weights=weights,
            markers=declared.missing,
            from_zero=any(recipe.counts_from_zero for recipe in recipes),
            complete=any(recipe.drops_rows for recipe in recipes),
            first=first,
        )

    def _cells_of_target(self, y: Any) -> NDArray[Any]:
        """Return y as one column, refused where a cell is no class, or no number."""
        raise NotImplementedError

    def _target(
        self, cells: NDArray[Any], name: str, n_rows: int
    ) -> tuple[Target, Any]:
        """Return the target of these cells, and each row's class or number."""
        raise NotImplementedError

    def _adopt(self, grown: Any) -> None:
        """Take what was grown as this estimator's model."""
        setattr(self, self._grown_as, grown)
        self._fitted_model: Any = self._model_class(grown)

    def _adopt_by_name(self, grown: Any) -> Self:
        """Take what was grown as a model that reads tables by the names of columns."""
        self._by_name = True
        self._adopt(grown)
        return self

    def _fitted(self) -> Any:
        """Return the fitted model, which reads tables by this estimator."""
        if self._grown_as not in vars(self):
            check_is_fitted(self, self._grown_as)  # raises, in its own words
        model = copy(self._fitted_model)
        model._estimator, model.n_jobs = self, self.n_jobs
        return model

    # Reading tables

    def _table(self, X: Any) -> Table:
        """Return X as a table to predict: by name, or by scikit-learn's conventions."""
        if self._by_name or has_names_only(X):
            return self.read(X, target=False)
        return validated_table(self, X, reset=False, declare=self._declarations)

    def _whole_table(self, data: Any) -> Table:
        """Return a table with all attributes of the model."""
        named = self._by_name or has_names_only(data)
        data = collected(data)
        if not named and is_framed(data):
            named = self.schema.target.name in data  # a frame that holds it
        if not named:
            return validated_table(self, data, reset=False, declare=self._declarations)
        return self.read(data, whole=True)

    def _rows_with_target(
        self, X: Any, sample_weight: Any
    ) -> tuple[Table, Any, Floats]:
        """Return the rows whose target the table holds, that target, their weights."""
        table = self.read(X)
        target = self.schema.target
        column = check_target(table, target.name)
        known = ~column.missing
        weights = given_weights(sample_weight, table.n_rows)[known]
        return table.take(known), target.encode(column)[known], weights

    def __str__(self) -> str:
        fitted = self._grown_as in vars(self)
        return str(self._fitted()) if fitted else repr(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return what a notebook shows: the model, or before fit the parameters."""
        shown: Any = self._fitted() if hasattr(self, self._grown_as) else super()
        bundle: dict[str, str] = shown._repr_mimebundle_(**options)
        return bundle

    @property
    def _repr_html_(self) -> Any:
        """Scikit-learn's page of the parameters, before there is a model to show."""
        if hasattr(self, self._grown_as):
            msg = "a fitted model is shown by its own page, not by its parameters"
            raise AttributeError(msg)
        return super()._repr_html_

    def _declarations(self, named: bool) -> Declarations:  # noqa: FBT001
        """Return what is declared of columns, which have names or are x0, x1, x2."""

        def name_of(column: Any) -> Any:
            if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
                return str(column) if named else f"x{column}"
            return column

        def names_of(columns: Any) -> Any:
            listed = isinstance(columns, Iterable) and not isinstance(columns, str)
            return [name_of(column) for column in columns] if listed else columns

        def levels_of(levels: Any) -> Any:
            mapped = isinstance(levels, Mapping)
            return {name_of(c): v for c, v in levels.items()} if mapped else levels

        return declarations_of(
            names_of(self.nominal),
            levels_of(self.ordinal),
            names_of(self.numeric),
            missing_values=self.missing_values,
            values=levels_of(self.values),
        )

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a setting that only recipes have is refused, with the way."""
        params = our_names(params)
        refuse_uncommon(params, self.get_params(deep=False), self.recipe)
        super().set_params(**params)
        return self

    # The model

    @property
    def kind(self) -> str:
        """The kind of model: "tree" or "forest"."""
        kind: str = self._model_class.kind
        return kind

    @property
    def schema(self) -> Schema:
        """The attributes and the target: how the model reads tables."""
        schema: Schema = self._fitted().schema
        return schema

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the columns that the model splits on."""
        names: tuple[str, ...] = self._fitted().asked
        return names

    outputs = delegated(FittedTable.outputs)
    read = delegated(FittedTable.read)
    batches = delegated(FittedTable.batches)
    unseen = delegated(FittedTable.unseen)
    predictor = delegated(FittedTable.predictor)
    explore = delegated(FittedTable.explore)
    export = delegated(FittedTable.export)

    def __sklearn_tags__(self) -> Any:
        return mixed_input(super().__sklearn_tags__())


def validated_table(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    reset: bool,
    declare: Callable[[bool], Declarations] = lambda named: Declarations(),
) -> Table:
    """Return X as a table, by scikit-learn's conventions; ``reset`` in fit.

    ``declare`` says what is declared of columns that have names, or that have none.
    """
    if has_names_only(X):
        declared = declare(True)
        table = read_table(X, declarations=declared)
        if isinstance(X, Table):
            refuse_other_kinds(table, declared)
        estimator.n_features_in_ = len(table.columns)
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
        estimator._fit_names = tuple(table.names)
        return table
    if is_framed(X):
        X = collected(X)
        table = read_table(X, declarations=declare(True))
        validated(estimator, X, skip_check_array=True, reset=reset)
    else:
        cells = _validated_array(estimator, X, y, reset=reset)
        table = read_table(cells, declarations=declare(False))
    names: Any = getattr(estimator, "feature_names_in_", None)
    if names is None:  # there are none, or another program has put them aside
        names = table.names
        if not reset:
            names = getattr(estimator, "_fit_names", names)
    names = tuple(map(str, names))
    if reset:
        estimator._fit_names = names
    if names == table.names:
        return table
    columns = zip(names, table.columns, strict=True)
    renamed = (replace(column, name=name) for name, column in columns)
    return Table(tuple(renamed), table.n_rows)


def _validated_array(estimator: Any, X: Any, y: Any, *, reset: bool) -> Any:
    """Return X as an array; a list keeps the types of its cells."""
    if isinstance(X, list) and all(isinstance(row, (list, tuple)) for row in X):
        widths = {len(row) for row in X}
        X = np.array(X, dtype=object) if len(widths) == 1 else X
    settings = {"dtype": None, "ensure_all_finite": "allow-nan"}
    settings["accept_sparse"] = "csr"
    if y is None:
        cells = validated(estimator, X, reset=reset, **settings)
    else:
        cells = validated(estimator, X, y=y, **settings)[0]
    return dense_cells(cells) if hasattr(cells, "toarray") else cells


def mixed_input(tags: Any) -> Any:
    """Return scikit-learn's tags of an estimator that takes tables as they are."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.sparse = True
    return tags


def validated(estimator: Any, X: Any, **settings: Any) -> Any:
    """Return what scikit-learn makes of X; what it refuses is our error."""
    with our_errors():
        return validate_data(estimator, X, **settings)


@contextmanager
def our_errors() -> Iterator[None]:
    """Make errors of ours, in the same words, of those that scikit-learn raises."""
    try:
        yield
    except SpinneyError:
        raise
    except TypeError as error:
        raise CellError(str(error)) from None
    except (ValueError, ArithmeticError) as error:
        raise DataError(str(error)) from None


def reject_unknown_parameters(estimator: type[Estimator]) -> type[Estimator]:
    """Let a constructor refuse settings that only recipes have, and name the way.

    It takes the aliases of parameters, too. The signature, which scikit-learn reads,
    stays that of the parameters.
    """
    construct = estimator.__init__
    _, *names = signature(construct).parameters

    @wraps(construct)
    def checked(self: Any, *arguments: Any, **parameters: Any) -> None:
        in_order = dict(zip(names, arguments, strict=False))
        given = our_names({**in_order, **parameters})
        refuse_uncommon(given, names, given.get("recipe", type(self).recipe))
        own = {name: given[name] for name in our_names(parameters)}
        construct(self, *arguments, **own)

    estimator.__init__ = checked
    return estimator


def refuse_other_kinds(table: Table, declared: Declarations) -> None:
    """Refuse kinds that are declared of a table that has been read otherwise."""
    for column in table.columns:
        kind = declared.kind(column.name)
        if kind not in (None, column.kind):
            msg = (
                f"column {column.name!r} is declared {kind}, and the table has it "
                f"{column.kind}: declare it where the table is read, by read_table"
            )
            raise DataError(msg)


def dense_cells(cells: Any) -> Floats:
    """Return a sparse matrix of numbers as an array, if that is not absurdly large."""
    n_cells = cells.shape[0] * cells.shape[1]
    if n_cells > MOST_DENSE_CELLS:
        msg = (
            f"X is sparse, {cells.shape[0]:,} × {cells.shape[1]:,}, and would be read "
            f"as {n_cells:,} cells, which take {n_cells * 8 / 2**30:.0f} GB"
        )
        remedy = (
            "take fewer columns, such as those that feature_selection.SelectKBest "
            "keeps, or fewer rows at a time"
        )
        raise DataError(msg, remedy=remedy)
    return np.asarray(cells.astype(np.float64).toarray())


@contextmanager
def learning_anew(estimator: Estimator) -> Iterator[Estimator]:
    """Give a new estimator that learns; then the old one is as it is.

    One which fails, or is interrupted, leaves the old estimator as it was.
    """
    kind: Any = type(estimator)
    parameters = {name: getattr(estimator, name) for name in _parameter_names(kind)}
    new = kind.__new__(kind)  # a subclass may have a constructor of its own
    getattr(kind.__init__, "__wrapped__", kind.__init__)(new, **parameters)
    new._by_name = False
    yield new
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)
    for name, value in vars(new).items():
        if name not in parameters:
            setattr(estimator, name, value)


@cache
def _parameter_names(kind: Any) -> list[str]:
    """Return the parameters of an estimator; scikit-learn finds them anew each time."""
    names: list[str] = kind._get_param_names()
    return names


def is_framed(X: Any) -> bool:
    """Return whether X is a frame, or a stream of one.

    Its type says so: some frames run a query when they are asked for their columns.
    """
    return hasattr(type(X), "columns") or hasattr(type(X), "__arrow_c_stream__")


def collected(X: Any) -> Any:
    """Return X, but the rows of a lazy frame, which is resolved this once."""
    lazy = hasattr(type(X), "collect") and hasattr(type(X), "collect_schema")
    return X.collect() if lazy else X


def has_names_only(X: Any) -> bool:
    """Return whether X is a table that scikit-learn knows nothing of."""
    return isinstance(X, (Mapping, Table, str, os.PathLike))
