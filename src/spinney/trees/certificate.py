"""What is proven of a tree that was sought among all trees of its size."""

from dataclasses import dataclass

from spinney._support.text import shown


@dataclass(frozen=True, slots=True)
class Certificate:
    """How much a tree loses on its rows, and how much any tree of its size must.

    Parameters
    ----------
    loss : float
        The weight of wrong rows, what they cost, or the sum of squares.
    bound : float
        No tree of this depth loses less; equal to the loss where that is proven. Where
        leaves have a price, it is said of both together: of a tree of as many leaves.
    depth : int
        The longest path that trees were allowed.
    price : float
        What a leaf costs in the comparison; it is no part of the loss.
    leaves : int
        How many leaves the tree has.
    one_by_one : tuple of str
        Attributes of too many values for all their subsets: trees that ask of these
        for one value at a time were searched, and no others.

    Examples
    --------
    >>> print(Certificate(3.0, 3.0, 2, 0.0, 4))
    proven: no tree of depth 2 loses less than 3 on these rows
    >>> print(Certificate(5.0, 3.0, 4, 0.0, 9))
    not proven: the tree loses 5 on these rows, and no tree of depth 4 less than 3
    >>> print(Certificate(6.0, 6.0, 3, 2.0, 4))
    proven: no tree of depth 3 loses less than 14 on these rows, 2 a leaf included
    """

    loss: float
    bound: float
    depth: int
    price: float
    leaves: int
    one_by_one: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Whether no tree of this size is better."""
        return self.bound >= self.loss

    @property
    def gap(self) -> float:
        """How much less the best tree may lose."""
        return max(0.0, self.loss - self.bound)

    def __str__(self) -> str:
        """Return one line for people."""
        paid = self.price * self.leaves
        loss, bound = f"{self.loss + paid:.6g}", f"{self.bound + paid:.6g}"
        way = ""
        if self.one_by_one:
            names = ", ".join(map(shown, self.one_by_one))
            way = f" that asks for one value of {names} at a time"
        with_price = f", {self.price:.6g} a leaf included" if self.price else ""
        if self.is_proven:
            return (
                f"proven: no tree of depth {self.depth}{way} loses less than {loss} "
                f"on these rows{with_price}"
            )
        return (
            f"not proven: the tree loses {loss} on these rows, and no tree of depth "
            f"{self.depth}{way} less than {bound}{with_price}"
        )
