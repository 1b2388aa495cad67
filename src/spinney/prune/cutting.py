"""Turning inner nodes into leaves."""

from collections.abc import Collection
from dataclasses import replace

from spinney.trees.tree import Node, Reason, Tree

__all__ = ["cut"]


def cut(tree: Tree, numbers: Collection[int]) -> Tree:
    """Return the tree with these nodes as leaves, and nothing below them.

    The counts and candidates of a cut node are kept; its reason is ``pruned``.
    """
    gone = [False] * len(tree)
    kept: list[Node] = []
    new_number: dict[int, int] = {}
    for node in tree:
        if node.parent is not None:
            gone[node.number] = gone[node.parent] or node.parent in numbers
        if not gone[node.number]:
            new_number[node.number] = len(kept)
            kept.append(node)
    nodes = []
    for node in kept:
        parent = None if node.parent is None else new_number[node.parent]
        renumbered = replace(node, number=new_number[node.number], parent=parent)
        if node.number in numbers and not node.is_leaf:
            nodes.append(
                replace(
                    renumbered,
                    chosen=None,
                    children=(),
                    reason=Reason.PRUNED,
                    surrogates=(),
                    otherwise=None,
                )
            )
        else:
            children = tuple(new_number[child] for child in node.children)
            nodes.append(replace(renumbered, children=children))
    return Tree(tree.schema, tuple(nodes))
