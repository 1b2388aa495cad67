"""The best tree of all trees of its size, to be questioned like any other.

The search (``search_trees``) says which questions stand where. The plain learner then
grows that plan: so nodes have their counts and the splits that lost, and all that reads
trees reads these.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Integers
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.optimal.objectives import Objective, objective_of
from spinney.extensions.optimal.question_columns import (
    QuestionColumn,
    asked_one_by_one,
    question_columns,
)
from spinney.extensions.optimal.row_losses import RowLosses, row_losses
from spinney.growth.growth_options import Options, Planned
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Certificate, Tree

if TYPE_CHECKING:
    from spinney.extensions.optimal.search_trees import BestTree, Branches


def grow(training: TrainingSet, recipe: Recipe, options: Options) -> Tree:
    """Return the best tree of all trees of the recipe's size."""
    _refuse_options(options)
    losses, columns = row_losses(training, options), question_columns(training)
    depth = recipe.max_depth or 0
    objective = objective_of(recipe, losses, columns, depth)
    found = _searched(losses, columns, objective, recipe, depth)
    if objective.ceiling is not None and found.loss >= objective.ceiling:
        raise _without_error(recipe, depth, proven=found.bound >= found.loss)
    rows = np.arange(len(training.classes))
    plan, source = _planned(found.tree, columns, rows), training.source()
    single = replace(recipe, max_leaves=None, max_depth=0 if plan is None else depth)
    tree = grow_tree(source, single, replace(options, plan=plan))
    if objective.name == "loss":
        most = min(2**depth, recipe.max_leaves or len(rows), len(rows))
        both = found.loss, found.bound
        loss, bound = objective.lost(losses, both, tree.n_leaves, most)
    else:
        count = float(tree.n_leaves)
        if objective.name == "path_length":
            count = tree.weighted_external_path_length
        loss, bound = objective.counted(losses, (found.loss, found.bound), count)
    certificate = Certificate(
        loss,
        bound,
        depth,
        objective.named_price,
        tree.n_leaves,
        asked_one_by_one(training),
        recipe.max_leaves,
        objective.name,
    )
    return replace(tree, certificate=certificate)


def _searched(
    losses: RowLosses,
    columns: list[QuestionColumn],
    objective: Objective,
    recipe: Recipe,
    depth: int,
) -> "BestTree":
    """Return the best tree of cuts."""
    from spinney.extensions.optimal.search_problem import problem_of
    from spinney.extensions.optimal.search_trees import BestTree, search_trees

    if not columns or not depth:
        loss = losses.in_a_leaf + objective.price
        return BestTree(None, loss, loss)
    problem = problem_of(
        np.array([column.ranks for column in columns]),
        losses.sums,
        losses.most + depth * objective.asked,
        family=losses.family,
        price=objective.price,
        asked=objective.asked,
    )
    return search_trees(
        problem,
        depth,
        max_leaves=recipe.max_leaves,
        ceiling=objective.ceiling,
        time_limit=recipe.time_limit,
    )


def _without_error(recipe: Recipe, depth: int, *, proven: bool) -> ParameterError:
    """Return the refusal of an objective that no tree of its size can have."""
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
        f"is of trees without an avoidable error, and {which} of {size}",
        phrase("raise {}, or take {}", raised, Setting("objective", "loss")),
    )


def _planned(
    tree: "Branches | None", columns: list[QuestionColumn], rows: Integers
) -> Planned | None:
    """Return the questions of a tree of cuts over these rows."""
    if tree is None:
        return None
    column = columns[tree.cut.column]
    left = column.ranks[rows] <= tree.cut.rank
    question, turned = column.question(rows, tree.cut.rank)
    one = _planned(tree.left, columns, rows[left])
    two = _planned(tree.right, columns, rows[~left])
    return Planned(question, (two, one) if turned else (one, two))


def _refuse_options(options: Options) -> None:
    """Refuse what a search over all trees has no use for."""
    given = {
        "tie_break_order": options.preference,
        "forced_splits": options.forced,
        "attribute_costs": options.prices,
    }
    for name, value in given.items():
        if value:
            raise refusal(
                Setting(name),
                " has no part in a search over all trees",
                "leave it out, or take a recipe that grows greedily, such as 'cart'",
            )
