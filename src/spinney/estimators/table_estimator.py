"""The base of the scikit-learn estimators: fitting, and reading tables."""

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
from spinney.errors import CellError, DataError, SpinneyError, warn
from spinney.models import FittedTable
from spinney.recipes import Named, Recipe, our_names, refuse_uncommon
from spinney.sources.rows import TrainingSet, check_target, given_weights, training_set

Estimator = TypeVar("Estimator", bound=Any)
Options = ParamSpec("Options")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, Options], Result]


def delegated(method: Method[Options, Result]) -> Method[Options, Result]:
    """Return a method of an estimator that calls the method of its fitted model."""
    name = method.__name__

    @wraps(method)
    def delegating(
        self: Any, /, *arguments: Options.args, **options: Options.kwargs
    ) -> Result:
        with limited_threads(self.n_jobs):
            result: Result = getattr(self._fitted(), name)(*arguments, **options)
        return result

    return delegating


# The parameters that declare columns.
DECLARED = ("nominal", "ordinal", "numeric", "values", "missing_values")
MAX_DENSE_CELLS = 1 << 28  # 2 GB of floats


@dataclass(eq=False, repr=False)
class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """A tree or a forest over tables as they are, by scikit-learn's conventions.

    It has a fitted model, a ``FittedTree`` or ``FittedForest``, and delegates to it.
    Parameters are dataclass fields, so that ``__init__`` has the signature that
    scikit-learn reads.
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

    # The attribute of the grown tree or forest, and the class of the fitted model.
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
            The weight of each row; rows of weight 0 are ignored.
        """
        with limited_threads(self.n_jobs), transactional_fit(self) as new:
            new._fit(X, y, sample_weight, self)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, old: Self) -> None:
        """Fit this new estimator; ``old`` is the one whose ``fit`` was called."""
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
        """Return the rows to grow on; after the ``first`` batch others will follow."""
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
        """Return y as one column; refuse cells that are no classes, or no numbers."""
        raise NotImplementedError

    def _target(
        self, cells: NDArray[Any], name: str, n_rows: int
    ) -> tuple[Target, Any]:
        """Return the target, and the class code or number of each row."""
        raise NotImplementedError

    def _adopt(self, grown: Any) -> None:
        """Set the grown tree or forest, and its fitted model."""
        setattr(self, self._grown_as, grown)
        self._fitted_model: Any = self._model_class(grown)

    def _adopt_by_name(self, grown: Any) -> Self:
        """Set a grown tree or forest that finds columns of tables by name."""
        self._by_name = True
        self._adopt(grown)
        return self

    def _fitted(self) -> Any:
        """Return the fitted model, which reads tables with this estimator."""
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
        """Return the rows of a table with a target, their targets, and weights."""
        table = self.read(X)
        target = self.schema.target
        column = check_target(table, target.name)
        present = ~column.missing
        weights = given_weights(sample_weight, table.n_rows)[present]
        return table.take(present), target.encode(column)[present], weights

    def __str__(self) -> str:
        fitted = self._grown_as in vars(self)
        return str(self._fitted()) if fitted else repr(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the display in notebooks: the model, or before fit the parameters."""
        shown: Any = self._fitted() if hasattr(self, self._grown_as) else super()
        bundle: dict[str, str] = shown._repr_mimebundle_(**options)
        return bundle

    @property
    def _repr_html_(self) -> Any:
        """Scikit-learn's display of the parameters, before fit."""
        if hasattr(self, self._grown_as):
            msg = "a fitted model has its own display"
            raise AttributeError(msg)
        return super()._repr_html_

    def _declarations(self, named: bool) -> Declarations:  # noqa: FBT001
        """Return the declarations of columns, which are named or are x0, x1, x2."""

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
        """Set parameters; settings that only recipes have are refused with a remedy."""
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

    ``declare`` returns the declarations, given whether the columns have names.
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
    if names is None:  # X has none, or another program has removed them
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
    """Return X validated by scikit-learn; its errors become ours."""
    with our_errors():
        return validate_data(estimator, X, **settings)


@contextmanager
def our_errors() -> Iterator[None]:
    """Turn errors of scikit-learn into ours, with the same words."""
    try:
        yield
    except SpinneyError:
        raise
    except TypeError as error:
        raise CellError(str(error)) from None
    except (ValueError, ArithmeticError) as error:
        raise DataError(str(error)) from None


def reject_unknown_parameters(estimator: type[Estimator]) -> type[Estimator]:
    """Let a constructor refuse settings that only recipes have, with a remedy.

    It accepts aliases of parameters, too. The signature, which scikit-learn reads,
    stays that of the parameters.
    """
    construct = estimator.__init__
    _, *names = signature(construct).parameters

    @wraps(construct)
    def checked(self: Any, *arguments: Any, **parameters: Any) -> None:
        in_order = dict(zip(names, arguments, strict=False))
        given = our_names({**in_order, **parameters})
        refuse_uncommon(given, names, given.get("recipe", type(self).recipe))
        named = {name: given[name] for name in our_names(parameters)}
        construct(self, *arguments, **named)

    estimator.__init__ = checked
    return estimator


def refuse_other_kinds(table: Table, declared: Declarations) -> None:
    """Refuse declared kinds that differ from those of a table already read."""
    for column in table.columns:
        kind = declared.kind(column.name)
        if kind not in (None, column.kind):
            msg = (
                f"column {column.name!r} is declared {kind}, but {column.kind} in the "
                "table: declare it in read_table"
            )
            raise DataError(msg)


def dense_cells(cells: Any) -> Floats:
    """Return a sparse matrix as a dense array; refuse one that is too large."""
    n_cells = cells.shape[0] * cells.shape[1]
    if n_cells > MAX_DENSE_CELLS:
        msg = (
            f"sparse X of shape {cells.shape[0]:,} × {cells.shape[1]:,} would take "
            f"{n_cells * 8 / 2**30:.0f} GB as a dense array"
        )
        remedy = "use fewer columns (feature_selection.SelectKBest), or fewer rows"
        raise DataError(msg, remedy=remedy)
    return np.asarray(cells.astype(np.float64).toarray())


@contextmanager
def transactional_fit(estimator: Estimator) -> Iterator[Estimator]:
    """Give a new estimator to fit, then move its state to the old one.

    If fitting fails or is interrupted, the old estimator is unchanged.
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
    """Return the parameters of an estimator, cached as scikit-learn does not."""
    names: list[str] = kind._get_param_names()
    return names


def is_framed(X: Any) -> bool:
    """Return whether X is a data frame, or an Arrow stream.

    The type is checked, as some frames run a query to list their columns.
    """
    return hasattr(type(X), "columns") or hasattr(type(X), "__arrow_c_stream__")


def collected(X: Any) -> Any:
    """Return X; a lazy frame is collected."""
    lazy = hasattr(type(X), "collect") and hasattr(type(X), "collect_schema")
    return X.collect() if lazy else X


def has_names_only(X: Any) -> bool:
    """Return whether X is a table that scikit-learn does not know."""
    return isinstance(X, (Mapping, Table, str, os.PathLike))
