"""A grown tree with all that a later reader needs: recipe, schema, origin, rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spinney._support.arrays import Integers
from spinney.data import Fingerprint, Schema
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.extensions.incremental.tree_state import TreeState
    from spinney.extensions.streaming import GrowingStream, StreamStats
    from spinney.growth.prune import Sequence, Steps


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


@dataclass(frozen=True, eq=False)
class UpdateState:
    """The rows of a model, and what it takes to grow it again.

    Parameters
    ----------
    training : TrainingSet
        The rows, in the order in which they came.
    recipe : Recipe
        The recipe that was asked for, which may have chosen another.
    given : mapping
        What was given beside it, as for ``options_of``, and ``ccp_alpha`` and
        ``validation_share``.
    weight : str, optional
        The column of weights, in the tables that rows come from.
    tree : TreeState, optional
        The tree with its count tables, in the process that has grown it; neither files
        nor pickles have it.
    stream : GrowingStream, optional
        Where rows are learned and not kept: what has been counted of them. There are no
        rows in ``training`` then, which still says what their codes mean.
    """

    training: TrainingSet
    recipe: Recipe
    given: Mapping[str, Any] = field(default_factory=dict)
    weight: str | None = None
    tree: "TreeState | None" = field(default=None, repr=False)
    stream: "GrowingStream | None" = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.training, self.recipe, dict(self.given), self.weight
        return UpdateState, (*parts, None, self.stream)


@dataclass(frozen=True, slots=True)
class Member:
    """Which tree of a forest a tree is: its number, and how many there are.

    A forest keeps of each split what won, and not what lost.
    """

    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Model:
    """A grown tree with its recipe and fingerprint, as a file stores it.

    ``steps`` say what pruning did while the model was made, and ``sequence`` holds
    the subtrees that it chose among by cost complexity, None of other prunings. A
    file keeps neither: ``steps`` is None where the record is not known. ``tried`` says
    which ways to grow were tried, where the recipe chose among several.
    ``validation_rows`` are the places in the table of rows that were reserved to prune
    by, if any were; a file does not keep them. ``member`` says which tree of a forest
    it is, where it is one. ``kept`` are the rows, where they were to be kept, or what
    was counted of them. ``learned`` says how rows fared that were learned one after
    another; a file does not keep it.
    """

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint
    steps: "Steps | None" = field(default=None, compare=False, repr=False)
    sequence: "Sequence | None" = field(default=None, compare=False, repr=False)
    tried: tuple[Tried, ...] = field(default=(), compare=False, repr=False)
    validation_rows: Integers | None = field(default=None, compare=False, repr=False)
    member: Member | None = field(default=None, compare=False, repr=False)
    kept: UpdateState | None = field(default=None, compare=False, repr=False)
    learned: "StreamStats | None" = field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
