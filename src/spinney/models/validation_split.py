"""Validation rows, which a tree is pruned by and not grown on: given or reserved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Schema, Table, Target
from spinney.data.readers import read_with_schema
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth.prune import (
    EncodedRows,
    check_validation_share,
    reserve_validation_rows,
)
from spinney.recipes import BY_VALIDATION, Recipe, refuse_unusable
from spinney.sources.rows import TrainingSet, usable_rows
from spinney.sources.training_data import TableInput, TrainingData
from spinney.trees import Tree
from spinney.trees.predict import flatten

# The default pruning by validation rows, also of model.prune.
DEFAULT_PRUNING = "reduced-error"
# Of remote rows, instead of folds.
DEFAULT_SHARE, MAX_RESERVED = 0.2, 50_000
MIN_ROWS_TO_RESERVE = 30


@dataclass(frozen=True, slots=True)
class ValidationSplit:
    """The rows to grow on, and those to prune by.

    Parameters
    ----------
    rows : TrainingData
        The rows to grow on.
    recipe : Recipe
        A recipe that prunes by the others, if there are any.
    validation : EncodedRows, optional
        The rows to prune by.
    positions : array of int, optional
        Their positions in the table, if they were reserved of it.
    """

    rows: TrainingData
    recipe: Recipe
    validation: EncodedRows | None = None
    positions: Integers | None = None


def split_validation(
    rows: TrainingData,
    recipe: Recipe,
    *,
    validation: EncodedRows | None = None,
    validation_share: float | None = None,
    ccp_alpha: float | None = None,
) -> ValidationSplit:
    """Split off rows to prune by, or take those given; refuse a recipe that lacks them.

    A recipe that tries several ways to grow is then grown by its own settings.
    """
    share = validation_share
    if validation is None and share is None:
        if recipe.pruning in ("reduced-error", "pre-pruning"):
            raise refusal(
                Setting("pruning", recipe.pruning),
                "needs rows that the tree is not grown on",
                phrase(
                    "reserve some ({}), or give a table of them ({})",
                    Setting("validation_share", 0.3),
                    Setting("validation", ...),
                ),
            )
        return ValidationSplit(rows, recipe)
    if validation is not None and share is not None:
        raise ParameterError(
            Setting("validation_share", share),
            (" and ", Setting("validation"), " both give rows to prune by"),
            remedy="leave one out",
        )
    given = "validation" if share is None else "validation_share"
    if ccp_alpha is not None:
        raise ParameterError(
            Setting(given),
            (" and ", Setting("ccp_alpha", ccp_alpha), " both say how to prune"),
            remedy="leave one out",
        )
    recipe = _pruned_by_validation(recipe, given)
    if share is None:
        return ValidationSplit(rows, recipe, validation)
    return _reserve_share(rows, recipe, share)


def _reserve_share(rows: TrainingData, recipe: Recipe, share: float) -> ValidationSplit:
    """Reserve a fraction of the rows in memory, drawn by their contents."""
    check_validation_share(share)
    if rows.is_remote:
        raise refusal(
            Setting("validation_share", share),
            "needs the rows in memory, but this table is remote",
            phrase(
                "read them ({}), or give a table of others ({})",
                Setting("engine", "memory"),
                Setting("validation", ...),
            ),
        )
    training = rows.in_memory_rows
    chosen = reserve_validation_rows(training, share, seed=recipe.seed)
    validation, training = training.take(chosen), training.take(~chosen)
    positions = validation.places
    if positions is None:
        positions = np.flatnonzero(chosen)
    rows = TrainingData(training)
    return ValidationSplit(rows, recipe, encoded_rows(validation), positions)


def encoded_rows(rows: TrainingSet) -> EncodedRows:
    """Return rows of a training set as rows to prune by."""
    return EncodedRows(rows.columns, rows.classes, rows.sample_weights)


def remote_validation_share(
    recipe: Recipe, given: float | None
) -> Callable[[int, Target], float | None]:
    """Return a function for the share of remote rows to reserve for pruning, if any.

    By default, only a recipe for classes that folds would choose is pruned by such
    rows. For numbers it is m5, which needs none.
    """
    if given is not None:
        check_validation_share(given)

    def share(n_rows: int, target: Target) -> float | None:
        by_folds = recipe.tries and "pruning" not in recipe.given
        too_few = n_rows < MIN_ROWS_TO_RESERVE
        if given is not None or target.is_numeric or too_few or not by_folds:
            return given
        return min(DEFAULT_SHARE, MAX_RESERVED / max(n_rows, 1))

    return share


def _pruned_by_validation(recipe: Recipe, given: str) -> Recipe:
    """Return a recipe that prunes by validation rows; refuse one that cannot."""
    if recipe.pruning not in BY_VALIDATION:
        if "pruning" in recipe.given:
            fitting = " or ".join(map(repr, BY_VALIDATION))
            raise ParameterError(
                Setting(given),
                (": of no use to ", Setting("pruning", recipe.pruning)),
                remedy=f"leave it out, or prune by {fitting}",
            )
        recipe = replace(recipe, pruning=DEFAULT_PRUNING)
    if "folds" in recipe.given:
        raise ParameterError(
            Setting("folds", recipe.folds),
            (" and ", Setting(given), " both choose among the subtrees"),
            remedy="leave one out",
        )
    recipe = replace(recipe, tries=())
    refuse_unusable(recipe, recipe.given)
    return recipe


def read_validation(schema: Schema, data: Any, training: TableInput) -> EncodedRows:
    """Read a table to prune by, as the training table was read, by its schema."""
    weight = training.weight
    table = read_with_schema(
        schema,
        range(len(schema.attributes)),
        data,
        also=() if weight is None else (weight,),
        format=training.format,
        encoding=training.encoding,
    )
    return _encoded_table(schema, table, weight)


def _encoded_table(
    schema: Schema,
    table: Table,
    weight: str | None,
    *,
    needed: Iterable[int] | None = None,
    optional: Iterable[int] = (),
) -> EncodedRows:
    """Return the encoded rows of a table that have a target and a weight.

    ``needed`` and ``optional`` are the attributes that ``Schema.encode`` asks for.
    """
    target = schema.target
    table, weights, _ = usable_rows(table, target.name, weight)
    return EncodedRows(
        schema.encode(table, needed, optional=optional),
        target.encode(table[target.name]),
        np.ones(table.n_rows) if weights is None else weights,
    )


def read_encoded_rows(
    tree: Tree, read: Callable[..., Table], data: Any, weight: str | None = None
) -> EncodedRows:
    """Read and encode a table to send down a tree, as its model reads tables."""
    flat, table = flatten(tree), read(data, weight=weight)
    return _encoded_table(
        tree.schema, table, weight, needed=flat.read, optional=flat.gathered_optional
    )
