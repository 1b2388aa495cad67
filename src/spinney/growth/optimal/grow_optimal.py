"""The best tree of all trees of its depth, to be questioned like any other.

The search (``search_trees``) says which questions stand where. The plain learner then
grows that plan: so nodes have their counts and the splits that lost, and all that reads
trees reads these.

Among trees of the same loss the one of fewest leaves is wanted. So a leaf has a price
even where the user names none: one that all leaves together cannot make as much of as
two trees differ by.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Integers
from spinney.errors import Setting, refusal
from spinney.growth.growth_options import Options, Planned
from spinney.growth.optimal.question_columns import (
    QuestionColumn,
    asked_one_by_one,
    question_columns,
)
from spinney.growth.optimal.row_losses import row_losses
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Certificate, Tree

if TYPE_CHECKING:
    from spinney.growth.optimal.search_trees import Branches

# What a leaf costs where it has no price, as a share of what two trees differ by.
TIE_BREAK = 2.0**-10


def grow(training: TrainingSet, recipe: Recipe, options: Options) -> Tree:
    """Return the tree of least loss of all trees of the recipe's depth."""
    from spinney.growth.optimal.search_trees import problem_of, search_trees

    _refuse_options(options)
    losses, columns = row_losses(training, options), question_columns(training)
    depth = recipe.max_depth or 0
    source, nothing = training.source(), replace(recipe, max_depth=0)
    if not columns or not depth:
        loss = losses.in_a_leaf + losses.unavoidable
        tree = grow_tree(source, nothing, options)
        return replace(tree, certificate=Certificate(loss, loss, depth, 0.0, 1))
    price = recipe.leaf_price * (losses.whole if 0 < recipe.leaf_price < 1 else 1.0)
    problem = problem_of(
        np.array([column.ranks for column in columns]),
        losses.sums,
        losses.most,
        family=losses.family,
        price=max(price, losses.step * TIE_BREAK),
    )
    found = search_trees(problem, depth, time_limit=recipe.time_limit)
    plan = _planned(found.tree, columns, np.arange(len(training.classes)))
    if plan is None:
        tree = grow_tree(source, nothing, options)
    else:
        tree = grow_tree(source, recipe, replace(options, plan=plan))
    paid = float(problem.price[0]) * tree.n_leaves
    loss = max(0.0, found.loss - paid) + losses.unavoidable
    gap = found.loss - found.bound
    bound = loss if gap <= 0 else max(0.0, loss - gap)
    certificate = Certificate(
        loss, bound, depth, price, tree.n_leaves, asked_one_by_one(training)
    )
    return replace(tree, certificate=certificate)


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
        "ties": options.preference,
        "force": options.forced,
        "attribute_costs": options.prices,
    }
    for name, value in given.items():
        if value:
            raise refusal(
                Setting(name),
                " has no part in a search over all trees",
                "leave it out, or take a recipe that grows greedily, such as 'cart'",
            )
