"""Pruning by hand: the user names the nodes that become leaves."""

from collections.abc import Iterable
from typing import Any

from spinney._support.arrays import Floats
from spinney._support.checks import is_whole
from spinney.errors import ParameterError, Setting, refusal
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import Judgement, RunningSum, bottom_up, pruned_by
from spinney.trees import Tree


def manual(tree: Tree, *, nodes: Iterable[int], costs: Floats | None = None) -> Pruned:
    """Return the tree with these nodes as leaves, and what each cut did.

    The deepest are cut first, so that each step says what it did by itself.
    """
    chosen = {_checked(tree, number) for number in _as_list(nodes)}
    errors = RunningSum(tree, leaf_risks(tree, costs))

    def judge(node: int) -> Judgement | None:
        return (errors.total, errors.after(node), True) if node in chosen else None

    return pruned_by(tree, bottom_up(tree, judge, errors), "training risk")


def _as_list(nodes: object) -> list[Any]:
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


def _checked(tree: Tree, number: Any) -> int:
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
