"""Pruning methods by name: the table of methods, short methods, and recipe pruning."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import is_whole
from spinney._support.ties import TOLERANCE
from spinney.errors import ParameterError, Setting, phrase, refusal, refuse_unknown
from spinney.growth.prune.by_validation import EncodedRows, pre_pruning, reduced_error
from spinney.growth.prune.cost_complexity import cost_complexity
from spinney.growth.prune.error_based import collapse, error_based
from spinney.growth.prune.mdl import mdl
from spinney.growth.prune.mutable_nodes import NodeRecounter
from spinney.growth.prune.pessimistic import pessimistic
from spinney.growth.prune.prune_record import Pruned, Steps
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import RunningSum, Verdict, bottom_up, pruned_by
from spinney.recipes import Recipe
from spinney.sources import Counts
from spinney.trees import Tree


def manual(tree: Tree, *, nodes: Iterable[int], costs: Floats | None = None) -> Pruned:
    """Return the tree with these nodes as leaves, with a record of each cut.

    The deepest are cut first, so that each step shows its own effect.
    """
    chosen = {_checked_node(tree, number) for number in _node_numbers(nodes)}
    risks = RunningSum(tree, leaf_risks(tree, costs))

    def judge(node: int) -> Verdict | None:
        return (risks.total, risks.after(node), True) if node in chosen else None

    return pruned_by(tree, bottom_up(tree, judge, risks), "training risk")


def _node_numbers(nodes: object) -> list[Any]:
    if isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable):
        raise refusal(
            Setting("nodes", nodes),
            "must be a list of numbers of nodes, such as [3, 7]",
        )
    numbers = list(nodes)
    if not numbers:
        raise refusal(
            Setting("nodes", []),
            "names no node",
            "give the numbers of nodes to cut, such as [3, 7]",
        )
    return numbers


def _checked_node(tree: Tree, number: Any) -> int:
    if not is_whole(number) or not 0 <= number < len(tree):
        raise ParameterError(
            Setting("nodes"),
            f": there is no node {number!r}: they are numbered from 0, the root, to "
            f"{len(tree) - 1}, in printing order",
        )
    if tree.nodes[int(number)].is_leaf:
        raise ParameterError(
            Setting("nodes"),
            f": node {number} is a leaf: name a node that has branches",
        )
    return int(number)


def simplify(tree: Tree, *, costs: Floats | None = None) -> Pruned:
    """Return the tree after repeatedly joining sibling leaves of one prediction.

    The label of a row at such a leaf does not change. Its probabilities become those of
    all rows at the parent. (A row that is divided by a missing value has the label of
    several leaves together, which may change.) A step's ``before`` is the number of
    different predictions of the children, and ``after`` is 1.
    """
    numeric, children = tree.schema.target.is_numeric, tree.nodes.children
    predicted = list(tree.arrays.predicted if numeric else tree.nodes.labels)
    cuts: set[int] = set()

    def judge(node: int) -> Verdict | None:
        below = children[node]
        if not all(child in cuts or not children[child] for child in below):
            return None
        labels = [predicted[child] for child in below]
        # The parent must predict the same too, which rounding might prevent.
        pruned = _n_different([*labels, predicted[node]]) == 1
        if pruned:
            cuts.add(node)
        return float(_n_different(labels)), 1.0, pruned

    steps = bottom_up(tree, judge, RunningSum(tree, leaf_risks(tree, costs)))
    return pruned_by(tree, steps, "different labels of the leaves")


def _n_different(predicted: list[float]) -> int:
    """Return the number of labels or numbers that differ by more than rounding."""
    return 1 + sum(
        high - low > TOLERANCE * max(abs(low), abs(high))
        for low, high in pairwise(sorted(predicted))
    )


@dataclass(frozen=True, slots=True)
class Method:
    """A way to prune, as data.

    Parameters
    ----------
    name : str
        The name of the method.
    function : callable
        The function from a tree and its options to a :class:`Pruned`.
    needs : tuple of str
        The required options; names joined by "|" are alternatives.
    takes : tuple of str
        The optional options.
    numeric : bool
        Whether the method supports a numeric target.
    by_means : bool
        Whether the method treats leaves as means, and so refuses linear models.
    """

    name: str
    function: Callable[..., Pruned]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    numeric: bool = True
    by_means: bool = False

    @property
    def options(self) -> frozenset[str]:
        """All options of the method."""
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


# A recipe's methods that need nothing but the tree and its source. Cost complexity
# needs rows (growth.folds), M5's pruning needs linear models (growth.model_trees).
AFTER_GROWING = ("collapse", "error-based", "pessimistic", "mdl", "simplify")


def pruned_after_growing(
    tree: Tree,
    source: Counts,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
    validation: EncodedRows | None = None,
) -> Pruned:
    """Return a tree pruned by its recipe's method, on training or validation rows.

    A regression tree stays unchanged if the method counts errors.
    """
    if validation is not None:
        has_rule = recipe.pruning == "cost-complexity" and "rule" in recipe.given
        rule = {"rule": recipe.rule} if has_rule else {}
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
        refuse_unknown("pruning", name, METHODS)
    return METHODS[name]


def pruned(tree: Tree, method: str, **options: Any) -> Pruned:
    """Return a pruned tree; ``options`` are those of the method's function."""
    chosen = method_named(method)
    target = tree.schema.target
    if target.is_numeric and not chosen.numeric:
        alternatives = [name for name, other in METHODS.items() if other.numeric]
        raise refusal(
            Setting("pruning", method),
            f"counts errors, and {target.name!r} is a number",
            f"use {', '.join(map(repr, alternatives))}",
        )
    if chosen.by_means and tree.arrays.models is not None:
        alternatives = [
            m.name for m in METHODS.values() if m.numeric and not m.by_means
        ]
        raise refusal(
            Setting("pruning", method),
            "judges leaves by their means, and this tree has linear models",
            phrase(
                "grow it with {}, or with {}; or use {}",
                Setting("pruning", "adjusted-error"),
                Setting("leaves", "mean"),
                ", ".join(map(repr, alternatives)),
            ),
        )
    return chosen.function(tree, **options)
