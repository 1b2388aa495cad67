"""The grower of optimal trees.

The search (``search_trees``) returns the splits. The plain learner then grows them, so
nodes have counts and competitors, as in any other tree.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Integers
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.optimal.feature_columns import (
    FeatureColumn,
    feature_columns,
    single_value_attributes,
)
from spinney.extensions.optimal.objectives import Objective, make_objective
from spinney.extensions.optimal.row_losses import RowLosses, row_losses
from spinney.growth.growth_options import Options, PlannedSplit
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Certificate, Tree

if TYPE_CHECKING:
    from spinney.extensions.optimal.search_trees import BestTree, SplitTree


def grow(training: TrainingSet, recipe: Recipe, options: Options) -> Tree:
    """Return the optimal tree within the recipe's limits of size."""
    _refuse_options(options)
    losses, columns = row_losses(training, options), feature_columns(training)
    depth = recipe.max_depth or 0
    objective = make_objective(recipe, losses, columns, depth)
    best = _search_best_tree(losses, columns, objective, recipe, depth)
    if objective.ceiling is not None and best.loss >= objective.ceiling:
        raise _unreachable_objective(recipe, depth, proven=best.bound >= best.loss)
    rows = np.arange(len(training.classes))
    plan, source = _forced_plan(best.tree, columns, rows), training.source()
    unlimited = replace(recipe, max_leaves=None, max_depth=0 if plan is None else depth)
    tree = grow_tree(source, unlimited, replace(options, plan=plan))
    searched = best.loss, best.bound
    if objective.name == "loss":
        max_leaves = min(2**depth, recipe.max_leaves or len(rows), len(rows))
        loss, bound = objective.certify_loss(
            losses, searched, tree.n_leaves, max_leaves
        )
    else:
        count = float(tree.n_leaves)
        if objective.name == "path_length":
            count = tree.weighted_external_path_length
        loss, bound = objective.certify_count(losses, searched, count)
    certificate = Certificate(
        loss,
        bound,
        depth,
        objective.user_cost,
        tree.n_leaves,
        single_value_attributes(training),
        recipe.max_leaves,
        objective.name,
    )
    return replace(tree, certificate=certificate)


def _search_best_tree(
    losses: RowLosses,
    columns: list[FeatureColumn],
    objective: Objective,
    recipe: Recipe,
    depth: int,
) -> "BestTree":
    """Return the optimal tree of splits."""
    from spinney.extensions.optimal.search_problem import make_problem
    from spinney.extensions.optimal.search_trees import BestTree, search_trees

    if not columns or not depth:
        loss = losses.loss_in_leaf + objective.leaf_cost
        return BestTree(None, loss, loss)
    problem = make_problem(
        np.array([column.ranks for column in columns]),
        losses.sums,
        losses.max_increase + depth * objective.path_cost,
        family=losses.family,
        leaf_cost=objective.leaf_cost,
        path_cost=objective.path_cost,
    )
    return search_trees(
        problem,
        depth,
        max_leaves=recipe.max_leaves,
        ceiling=objective.ceiling,
        time_limit=recipe.time_limit,
    )


def _unreachable_objective(
    recipe: Recipe, depth: int, *, proven: bool
) -> ParameterError:
    """Return the error for an objective that no tree of the size reaches."""
    size, limits = f"depth {depth}", [Setting("max_depth")]
    if recipe.max_leaves is not None:
        leaves = "leaf" if recipe.max_leaves == 1 else "leaves"
        size += f" and {recipe.max_leaves} {leaves}"
        limits.append(Setting("max_leaves"))
    if not proven:
        limits.append(Setting("time_limit"))
    which = "there is none" if proven else "none was found in time"
    raised = phrase(" or ".join("{}" for _ in limits), *limits)
    return refusal(
        Setting("objective", recipe.objective),
        f"needs a tree without avoidable errors, and {which} of {size}",
        phrase("raise {}, or use {}", raised, Setting("objective", "loss")),
    )


def _forced_plan(
    tree: "SplitTree | None", columns: list[FeatureColumn], rows: Integers
) -> PlannedSplit | None:
    """Return the forced splits of a tree of cuts over these rows."""
    if tree is None:
        return None
    column = columns[tree.cut.column]
    is_left = column.ranks[rows] <= tree.cut.rank
    condition, is_reversed = column.condition(rows, tree.cut.rank)
    left = _forced_plan(tree.left, columns, rows[is_left])
    right = _forced_plan(tree.right, columns, rows[~is_left])
    return PlannedSplit(condition, (right, left) if is_reversed else (left, right))


def _refuse_options(options: Options) -> None:
    """Refuse options that an optimal search does not support."""
    unsupported = {
        "tie_break_order": options.preference,
        "forced_splits": options.forced,
        "attribute_costs": options.prices,
    }
    for name, value in unsupported.items():
        if value:
            raise refusal(
                Setting(name),
                " has no effect on optimal trees",
                "remove it, or use a greedy recipe such as 'cart'",
            )


def compile_kernels() -> None:
    """Compile and cache the kernels, for ``spinney compile``."""
    from spinney.cli.compile_jobs import grow_example_tree

    grow_example_tree(np.float64, "optimal")
