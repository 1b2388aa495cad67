"""The record of a choice among recipes: what was tried, and how it did."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate, and how it did on rows held out; None where none were.

    Parameters
    ----------
    name : str
        What it is called.
    risk, deviation : float, optional
        What a row held out costs on average, and the standard error of that.
    leaves : int, optional
        Of its tree of all rows that candidates were compared on; those without rows
        do not count.
    chosen : bool
        Whether the tree is grown by it.
    """

    name: str
    risk: float | None = None
    deviation: float | None = None
    leaves: int | None = None
    chosen: bool = False

    def __str__(self) -> str:
        if self.risk is None:
            return f"{self.name} (no rows held out)"
        leaves = "1 leaf" if self.leaves == 1 else f"{self.leaves} leaves"
        return f"{self.name} (risk {self.risk:.3g} ± {self.deviation:.2g}, {leaves})"


def tried_text(tried: tuple[Tried, ...]) -> str:
    """Return what was chosen and what was not, in one line.

    >>> cart = Tried("cart", 0.25, 0.013, 12, chosen=True)
    >>> tried_text((cart, Tried("c4.5", 0.27, 0.013, 40)))
    'chosen by folds: cart (risk 0.25 ± 0.013, 12 leaves); also tried: c4.5 (risk \
0.27 ± 0.013, 40 leaves)'
    >>> tried_text((Tried("c4.5", chosen=True),))
    'a small table: grown by c4.5, not pruned by folds'
    """
    if all(each.risk is None for each in tried):
        names = "".join(each.name for each in tried if each.chosen)
        return f"a small table: grown by {names}, not pruned by folds"
    chosen = "".join(str(each) for each in tried if each.chosen)
    others = ", ".join(str(each) for each in tried if not each.chosen)
    risks = [each.risk for each in tried if each.risk is not None]
    least = all(each.risk == min(risks) for each in tried if each.chosen)
    why = "" if least else "; of nearly equal risks the fewest leaves win"
    return f"chosen by folds: {chosen}; also tried: {others}{why}"
