"""Stacks of tables as tables one by one."""

from collections.abc import Iterable

from spinney.trees.counts import CountTable
from spinney.trees.table_batch import TableBatch


def by_node(stacks: Iterable[TableBatch], n_nodes: int) -> list[dict[int, CountTable]]:
    """Return the tables of each node by attribute."""
    answers: list[dict[int, CountTable]] = [{} for _ in range(n_nodes)]
    for stack in stacks:
        for number, (node, index) in enumerate(
            zip(stack.node.tolist(), stack.attribute.tolist(), strict=True)
        ):
            answers[node][index] = stack.table(number)
    return answers
