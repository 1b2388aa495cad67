"""Rows to prune by, which a tree is not grown on: given, or reserved of its table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Schema, Table, Target
from spinney.data.readers import read_with_schema
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth.prune import EncodedRows, check_share, reserved
from spinney.recipes import BY_VALIDATION, Recipe, refuse_unusable
from spinney.sources.rows import TrainingSet, known_rows
from spinney.sources.training_data import TableInput, TrainingData
from spinney.trees import Tree
from spinney.trees.predict import flatten

# What a tree is pruned by where rows are held and nothing else is said; model.prune
# has the same default.
DEFAULT = "reduced-error"
# Of rows in engines, where folds would have chosen: so many tell enough.
USUAL_SHARE, MOST_RESERVED = 0.2, 50_000
FEWEST_TO_RESERVE = 30


@dataclass(frozen=True, slots=True)
class Held:
    """What is left to grow on, and what was held.

    Parameters
    ----------
    rows : TrainingData
        The rows to grow on.
    recipe : Recipe
        One that is pruned by the others, if there are any.
    validation : EncodedRows, optional
        The rows to prune by.
    places : array of int, optional
        Where they stand in the table, if they were reserved of it.
    """

    rows: TrainingData
    recipe: Recipe
    validation: EncodedRows | None = None
    places: Integers | None = None


def held_rows(
    rows: TrainingData,
    recipe: Recipe,
    *,
    validation: EncodedRows | None = None,
    validation_share: float | None = None,
    ccp_alpha: float | None = None,
) -> Held:
    """Hold rows to prune by, as a user says; refuse a recipe that lacks them.

    A recipe that tries several ways to grow is grown as its own settings say.
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
        return Held(rows, recipe)
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
    recipe = _pruned_by_them(recipe, given)
    if share is None:
        return Held(rows, recipe, validation)
    return _reserved(rows, recipe, share)


def _reserved(rows: TrainingData, recipe: Recipe, share: float) -> Held:
    """Reserve a share of rows in memory, drawn by what is in them."""
    check_share(share)
    if rows.is_remote:
        raise refusal(
            Setting("validation_share", share),
            "takes some of the rows, and they stay where they are",
            phrase(
                "read them ({}), or give a table of others ({})",
                Setting("source", "memory"),
                Setting("validation", ...),
            ),
        )
    training = rows.in_memory_rows
    chosen = reserved(training, share, seed=recipe.seed)
    held, own = training.take(chosen), training.take(~chosen)
    places = np.flatnonzero(chosen) if held.places is None else held.places
    return Held(TrainingData(own), recipe, coded(held), places)


def coded(rows: TrainingSet) -> EncodedRows:
    """Return rows as those to prune by."""
    return EncodedRows(rows.columns, rows.classes, rows.own_weights)


def remote_validation_share(
    recipe: Recipe, given: float | None
) -> Callable[[int, Target], float | None]:
    """Return which share of so many rows an engine reserves to prune by, if it does.

    A recipe of classes that folds would choose is pruned by these instead, where
    nothing is said; of numbers it is m5, which needs none.
    """
    if given is not None:
        check_share(given)

    def share(n_rows: int, target: Target) -> float | None:
        by_folds = recipe.tries and "pruning" not in recipe.given
        few = n_rows < FEWEST_TO_RESERVE
        if given is not None or target.is_numeric or few or not by_folds:
            return given
        return min(USUAL_SHARE, MOST_RESERVED / max(n_rows, 1))

    return share


def _pruned_by_them(recipe: Recipe, given: str) -> Recipe:
    """Return a recipe that rows which are held prune; refuse one that has no use."""
    if recipe.pruning not in BY_VALIDATION:
        if "pruning" in recipe.given:
            fitting = " or ".join(map(repr, BY_VALIDATION))
            raise ParameterError(
                Setting(given),
                (": of no use to ", Setting("pruning", recipe.pruning)),
                remedy=f"leave it out, or prune by {fitting}",
            )
        recipe = replace(recipe, pruning=DEFAULT)
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
    return coded_rows(schema, table, weight)


def coded_rows(
    schema: Schema,
    table: Table,
    weight: str | None,
    *,
    needed: Iterable[int] | None = None,
    optional: Iterable[int] = (),
) -> EncodedRows:
    """Return the rows of a table that have a target and a weight, in codes.

    ``needed`` and ``optional`` are the attributes that ``Schema.encode`` asks for.
    """
    target = schema.target
    table, weights, _ = known_rows(table, target.name, weight)
    return EncodedRows(
        schema.encode(table, needed, optional=optional),
        target.encode(table[target.name]),
        np.ones(table.n_rows) if weights is None else weights,
    )


def rows_for(
    tree: Tree, read: Callable[..., Table], data: Any, weight: str | None = None
) -> EncodedRows:
    """Read a table that is to be sent down a tree, as its model reads tables."""
    flat, table = flatten(tree), read(data, weight=weight)
    return coded_rows(
        tree.schema, table, weight, needed=flat.read, optional=flat.gathered_if_there
    )
