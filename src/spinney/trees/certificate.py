"""The proof that comes with an optimal tree: its loss, and a bound on any tree's."""

from dataclasses import dataclass

from spinney._support.text import shown

# The words of each objective before the number, after it, and at the end.
_WORDS = {
    "loss": ("loses ", "", " on these rows"),
    "leaves": ("has ", " leaves", ""),
    "path_length": ("asks these rows ", " questions", ""),
}
_SINGULAR = {"leaves": " leaf", "path_length": " question"}
OBJECTIVES = tuple(_WORDS)


@dataclass(frozen=True, slots=True)
class Certificate:
    """How good a tree is on its rows, and how good any tree of its size can be.

    Parameters
    ----------
    loss : float
        The weight of wrong rows, what they cost, or the sum of squares. With another
        objective, what that counts: leaves, or the questions that all rows are asked.
    bound : float
        No tree of this depth loses less; equal to the loss where that is proven. Where
        leaves have a price, it is said of both together: of a tree of as many leaves.
        It is below 0 where a tree of fewer leaves may be better.
    depth : int
        The longest path that trees were allowed.
    price : float
        What a leaf costs in the comparison; it is no part of the loss.
    leaves : int
        How many leaves the tree has.
    one_by_one : tuple of str
        Attributes of too many values for all their subsets: trees that ask of these
        for one value at a time were searched, and no others.
    max_leaves : int, optional
        The most leaves that trees were allowed.
    objective : {"loss", "leaves", "path_length"}
        What the tree was to have least of; the last two of all trees without an error
        that could be avoided.

    Examples
    --------
    >>> print(Certificate(3.0, 3.0, 2, 0.0, 4))
    proven: no tree of depth 2 loses less than 3 on these rows
    >>> print(Certificate(5.0, 3.0, 4, 0.0, 9))
    not proven: the tree loses 5 on these rows, and no tree of depth 4 less than 3
    >>> print(Certificate(6.0, 6.0, 3, 2.0, 4))
    proven: no tree of depth 3 loses less than 14 on these rows, 2 a leaf included
    >>> print(Certificate(6.0, 6.0, 3, 0.0, 5, max_leaves=5))
    proven: no tree of depth 3 and 5 leaves loses less than 6 on these rows
    >>> print(Certificate(9.0, 9.0, 3, 0.0, 1, max_leaves=1))
    proven: no tree of 1 leaf loses less than 9 on these rows
    >>> print(Certificate(5.0, 5.0, 3, 0.0, 5, objective="leaves"))
    proven: no tree without an avoidable error has less than 5 leaves
    >>> print(Certificate(1.0, 1.0, 3, 0.0, 1, objective="leaves"))
    proven: no tree without an avoidable error has less than 1 leaf
    >>> print(Certificate(31.0, 20.0, 3, 0.0, 5, objective="path_length"))
    not proven: the tree asks these rows 31 questions, and no tree of depth 3 without \
an avoidable error less than 20
    """

    loss: float
    bound: float
    depth: int
    price: float
    leaves: int
    one_by_one: tuple[str, ...] = ()
    max_leaves: int | None = None
    objective: str = "loss"

    @property
    def is_proven(self) -> bool:
        """Whether the tree is proven optimal for its size."""
        return self.bound >= self.loss

    @property
    def gap(self) -> float:
        """An upper bound on how much less the best tree may lose."""
        return max(0.0, self.loss - self.bound)

    def __str__(self) -> str:
        """Return the certificate in one line."""
        paid = self.price * self.leaves
        loss, bound = f"{self.loss + paid:.6g}", f"{self.bound + paid:.6g}"
        before, what, after = _WORDS[self.objective]
        if loss == "1":
            what = _SINGULAR.get(self.objective, what)
        with_price = f", {self.price:.6g} a leaf included" if self.price else ""
        if self.is_proven:
            return (
                f"proven: no tree{self._size()} {before}less than {loss}{what}{after}"
                f"{with_price}"
            )
        return (
            f"not proven: the tree {before}{loss}{what}{after}, and no "
            f"tree{self._size()} less than {bound}{with_price}"
        )

    def _size(self) -> str:
        """Return a description of the searched trees.

        A path has fewer splits than its tree has leaves. So trees of few leaves are
        searched at any depth, if the allowed depth is not smaller.
        """
        limits = []
        if self.max_leaves is None or self.max_leaves > self.depth + 1:
            limits = [f"depth {self.depth}"]
        if self.objective == "leaves" and self.loss <= self.depth + 2:
            limits = []
        if self.max_leaves is not None and self.objective != "leaves":
            leaves = "leaf" if self.max_leaves == 1 else "leaves"
            limits.append(f"{self.max_leaves} {leaves}")
        size = f" of {' and '.join(limits)}" if limits else ""
        if self.objective != "loss":
            size += " without an avoidable error"
        if self.one_by_one:
            names = ", ".join(map(shown, self.one_by_one))
            size += f" that asks for one value of {names} at a time"
        return size
