"""Pruning by name: what each method needs, and which one a recipe ends with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spinney._support.arrays import Floats
from spinney.errors import Setting, phrase, refusal, refuse_unknown
from spinney.growth.prune.by_validation import EncodedRows, pre_pruning, reduced_error
from spinney.growth.prune.cost_complexity import cost_complexity
from spinney.growth.prune.equal_leaves import simplify
from spinney.growth.prune.error_based import collapse, error_based
from spinney.growth.prune.manual import manual
from spinney.growth.prune.mdl import mdl
from spinney.growth.prune.mutable_nodes import NodeRecounter
from spinney.growth.prune.pessimistic import pessimistic
from spinney.growth.prune.prune_record import Pruned, Steps
from spinney.recipes import Recipe
from spinney.sources import Counts
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class Method:
    """A way to prune, as data.

    Parameters
    ----------
    name : str
        What users call it.
    function : callable
        From a tree and the options below to a :class:`Pruned`.
    needs : tuple of str
        The options without which it cannot work; of names joined by "|" one.
    takes : tuple of str
        Further options.
    numeric : bool
        Whether it works where the target is a number.
    by_means : bool
        Whether it takes the leaves of such a tree for means, which linear models
        are not.
    """

    name: str
    function: Callable[..., Pruned]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    numeric: bool = True
    by_means: bool = False

    @property
    def options(self) -> frozenset[str]:
        """All options that it knows."""
        needed = (name for names in self.needs for name in names.split("|"))
        return frozenset((*needed, *self.takes))


METHODS = {
    method.name: method
    for method in (
        Method(
            "reduced-error", reduced_error, ("validation",), ("weight", "cost_matrix")
        ),
        Method("pre-pruning", pre_pruning, ("validation",), ("weight", "cost_matrix")),
        Method(
            "cost-complexity",
            cost_complexity,
            ("alpha|data|validation",),
            ("weight", "folds", "rule", "random_state", "cost_matrix"),
            by_means=True,
        ),
        Method("pessimistic", pessimistic, numeric=False),
        Method(
            "error-based",
            error_based,
            (),
            ("confidence", "raising", "data", "weight"),
            numeric=False,
        ),
        Method("collapse", collapse, numeric=False),
        Method("mdl", mdl, numeric=False),
        Method("manual", manual, ("nodes",), ("cost_matrix",)),
        Method("simplify", simplify, (), ("cost_matrix",), by_means=True),
    )
}


# What a recipe may end with and needs nothing but the tree and its source;
# cost complexity asks for rows (growth.folds), M5's pruning for linear models
# (growth.model_trees).
AFTER_GROWING = ("collapse", "error-based", "pessimistic", "mdl", "simplify")


def pruned_after_growing(
    tree: Tree,
    source: Counts,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
    validation: EncodedRows | None = None,
) -> Pruned:
    """Prune a tree as its recipe says: by the rows that it was grown on, or by others.

    A tree that predicts numbers stays as it is where a method counts errors.
    """
    if validation is not None:
        by_hand = recipe.pruning == "cost-complexity" and "rule" in recipe.given
        rule = {"rule": recipe.rule} if by_hand else {}
        return pruned(tree, recipe.pruning, validation=validation, **rule)
    numeric = tree.schema.target.is_numeric
    if recipe.pruning not in AFTER_GROWING or (
        numeric and not METHODS[recipe.pruning].numeric
    ):
        return Pruned(tree, Steps(()))
    options: dict[str, Any] = {}
    if recipe.pruning == "error-based":
        options["confidence"] = recipe.confidence
        if recipe.raising:
            options["rows"] = NodeRecounter(tree, source, recipe, class_weights)
    return pruned(tree, recipe.pruning, **options)


def method_named(name: object) -> Method:
    """Return a method by name."""
    if not isinstance(name, str) or name not in METHODS:
        refuse_unknown("method", name, METHODS)
    return METHODS[name]


def pruned(tree: Tree, method: str, **options: Any) -> Pruned:
    """Prune a tree; ``options`` are those of the method's function."""
    chosen = method_named(method)
    target = tree.schema.target
    if target.is_numeric and not chosen.numeric:
        others = [name for name, other in METHODS.items() if other.numeric]
        raise refusal(
            Setting("method", method),
            f"counts errors, and {target.name!r} is a number",
            f"use {', '.join(map(repr, others))}",
        )
    if chosen.by_means and tree.arrays.models is not None:
        others = [m.name for m in METHODS.values() if m.numeric and not m.by_means]
        raise refusal(
            Setting("method", method),
            "judges leaves by their means, and this tree has linear models",
            phrase(
                "grow it with {}, or with {}; or use {}",
                Setting("pruning", "adjusted-error"),
                Setting("leaves", "mean"),
                ", ".join(map(repr, others)),
            ),
        )
    return chosen.function(tree, **options)
