"""The errors of a tree on a table, node by node: as a leaf and as a subtree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import figure, shown, signs_to_ascii, weight_text
from spinney._support.text_table import aligned
from spinney.growth.prune import EncodedRows, Validation, sums_below
from spinney.trees import Tree


@dataclass(frozen=True, slots=True)
class NodeError:
    """The loss of a table's rows at a node.

    Parameters
    ----------
    node : int
        The number of the node.
    weight : float
        The weight of the rows at the node; a row divided by a missing value counts with
        its fraction.
    as_leaf : float
        The loss if the node were a leaf: the misclassified weight, its cost, or the sum
        of squared errors.
    as_subtree : float
        The loss at the leaves below it, or of the node itself if it is a leaf.
    measure : {"accuracy", "cost", "mean squared error"}
        The measure of the loss.
    """

    node: int
    weight: float
    as_leaf: float
    as_subtree: float
    measure: str

    @property
    def error(self) -> float | None:
        """The loss of its leaves per unit of weight; None without rows."""
        return self.as_subtree / self.weight if self.weight else None

    @property
    def error_as_leaf(self) -> float | None:
        """The loss as a leaf per unit of weight; None without rows."""
        return self.as_leaf / self.weight if self.weight else None

    def text(self, *, leaf: bool = False) -> str:
        """Return the loss as a subtree, or as a ``leaf``, as text.

        >>> NodeError(0, 7.0, 4.0, 2.0, "accuracy").text()
        '5 of 7 right'
        >>> NodeError(0, 8.0, 4.0, 2.0, "mean squared error").text(leaf=True)
        'mean squared error 0.5'
        """
        if not self.weight:
            return "no rows"
        loss = self.as_leaf if leaf else self.as_subtree
        if self.measure == "accuracy":
            right = max(self.weight - loss, 0.0)
            return f"{weight_text(right)} of {weight_text(self.weight)} right"
        if self.measure == "cost":
            return f"cost {figure(loss)} of weight {weight_text(self.weight)}"
        return f"{self.measure} {figure(loss / self.weight)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the error as plain data."""
        return {
            "weight": self.weight,
            "loss_as_leaf": self.as_leaf,
            "error_as_leaf": self.error_as_leaf,
            "loss": self.as_subtree,
            "error": self.error,
        }


class NodeErrors(InNotebooks, Sequence[NodeError]):
    """The errors of all nodes of a tree on one table; ``print`` shows one per line.

    Parameters
    ----------
    tree : Tree
        The tree.
    judged : Validation
        The rows at its nodes.
    name : str
        The name of the table.
    rows : EncodedRows, optional
        The rows, for histograms in pictures.
    """

    def __init__(
        self,
        tree: Tree,
        judged: Validation,
        name: str,
        rows: EncodedRows | None = None,
    ) -> None:
        self.tree, self.name, self.rows = tree, name, rows
        self.measure = judged.measure
        self.weight, self.as_leaf = judged.weights, judged.loss
        self.as_subtree = sums_below(tree, judged.loss)

    def __len__(self) -> int:
        return len(self.tree)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        return NodeError(
            range(len(self))[number],
            float(self.weight[number]),
            float(self.as_leaf[number]),
            float(self.as_subtree[number]),
            self.measure,
        )

    def __iter__(self) -> Iterator[NodeError]:
        return map(self.__getitem__, range(len(self)))

    def lines(self, number: int) -> list[str]:
        """Return lines with the loss of a node as a leaf and as a subtree."""
        error = self[number]
        if self.tree.nodes[number].is_leaf or not error.weight:
            return [error.text()]
        own, branches = error.text(leaf=True), error.text().removesuffix(" right")
        return [f"{own} as a leaf", f"{branches} by its branches"]

    def note(self, number: int) -> str:
        """Return the remark on a node in the text of a tree.

        The root's remark names the table.
        """
        name = f"on {shown(self.name)}: " if number == 0 else ""
        return name + ", ".join(self.lines(number))

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the errors as a table, a line for each node."""
        lines = [("node", "as a leaf", "by its branches", "branch")]
        for error, node in zip(self, self.tree, strict=True):
            branches = "" if node.is_leaf else error.text()
            condition = shown(self.tree.condition(node)) or "(root)"
            own = error.text(leaf=True)
            lines.append((str(error.node), own, branches, condition))
        title = f"on {shown(self.name)}: {weight_text(float(self.weight[0]))} rows"
        text = "\n".join([title, *aligned(lines, left=(1, 2, 3))])
        return signs_to_ascii(text) if ascii_only else text

    def __repr__(self) -> str:
        return f"<errors of {len(self)} nodes on {self.name!r}>"

    def facts(self) -> dict[str, Any]:
        """Return the table name, measure and total weight as plain data."""
        return {
            "name": self.name,
            "measure": self.measure,
            "weight": float(self.weight[0]),
        }

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the errors of all nodes as plain data."""
        return [{"node": error.node, **error.as_dict()} for error in self]
