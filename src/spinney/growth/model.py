"""Models: a grown tree with its recipe, schema, origin and rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spinney._support.arrays import Integers
from spinney.data import Fingerprint, Schema
from spinney.growth.quality import Quality
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.extensions.incremental.tree_state import TreeState
    from spinney.extensions.streaming import GrowingStream, StreamStats
    from spinney.growth.prune import PruningSequence, Steps


@dataclass(frozen=True, slots=True)
class RecipeScore:
    """A candidate recipe and its error on held-out rows; None without held-out rows.

    Parameters
    ----------
    name : str
        The name of the recipe.
    risk, deviation : float, optional
        The mean loss of a held-out row, and its standard error.
    leaves : int, optional
        The number of non-empty leaves in the recipe's tree of all compared rows.
    chosen : bool
        Whether the tree is grown by this recipe.
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


def recipe_scores_text(scores: tuple[RecipeScore, ...]) -> str:
    """Return the recipe that was chosen, and the others, in one line.

    >>> cart = RecipeScore("cart", 0.25, 0.013, 12, chosen=True)
    >>> recipe_scores_text((cart, RecipeScore("c4.5", 0.27, 0.013, 40)))
    'chosen by folds: cart (risk 0.25 ± 0.013, 12 leaves); also tried: c4.5 (risk \
0.27 ± 0.013, 40 leaves)'
    >>> recipe_scores_text((RecipeScore("c4.5", chosen=True),))
    'a small table: grown by c4.5, not pruned by folds'
    """
    if all(score.risk is None for score in scores):
        names = "".join(score.name for score in scores if score.chosen)
        return f"a small table: grown by {names}, not pruned by folds"
    chosen = "".join(str(score) for score in scores if score.chosen)
    others = ", ".join(str(score) for score in scores if not score.chosen)
    risks = [score.risk for score in scores if score.risk is not None]
    least = all(score.risk == min(risks) for score in scores if score.chosen)
    why = "" if least else "; of nearly equal risks the smallest tree wins"
    return f"chosen by folds: {chosen}; also tried: {others}{why}"


@dataclass(frozen=True, eq=False)
class UpdateState:
    """The stored rows of a model, and the settings to grow it again.

    Parameters
    ----------
    training : TrainingSet
        The rows, in the order of their arrival.
    recipe : Recipe
        The requested recipe, which may have chosen another.
    given : mapping
        The other options, as for ``options_of``, and ``ccp_alpha`` and
        ``validation_share``.
    weight : str, optional
        The name of the weight column.
    tree : TreeState, optional
        The tree with its count tables; it is not stored in files or pickles.
    stream : GrowingStream, optional
        The counts of a stream, whose rows are not stored. Then ``training`` has the
        schema but no rows.
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
    """The number of a tree in its forest, and the number of all trees.

    A forest stores the winning splits, without competitors.
    """

    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Model:
    """A grown tree with its recipe and fingerprint, as in a model file.

    Parameters
    ----------
    tree, recipe, fingerprint
        The tree, its recipe, and the fingerprint of its training rows.
    steps : Steps, optional
        The steps of pruning; None if unknown. Files do not store ``steps``,
        ``sequence``, ``validation_rows`` and ``stream_stats``.
    sequence : PruningSequence, optional
        The subtrees of cost-complexity pruning.
    recipe_scores : tuple of RecipeScore
        The error of each candidate, if the recipe chose among several.
    validation_rows : array of int, optional
        The positions of the rows that were reserved for validation.
    member : Member, optional
        The tree's place in a forest, if it is from one.
    update_state : UpdateState, optional
        The stored rows, or the counts of a stream, for updates.
    stream_stats : StreamStats, optional
        The prequential statistics of a stream.
    quality : Quality, optional
        The error on held-out rows and on training rows, if it was measured.
    """

    tree: Tree
    recipe: Recipe
    fingerprint: Fingerprint
    steps: "Steps | None" = field(default=None, compare=False, repr=False)
    sequence: "PruningSequence | None" = field(default=None, compare=False, repr=False)
    recipe_scores: tuple[RecipeScore, ...] = field(
        default=(), compare=False, repr=False
    )
    validation_rows: Integers | None = field(default=None, compare=False, repr=False)
    member: Member | None = field(default=None, compare=False, repr=False)
    update_state: UpdateState | None = field(default=None, compare=False, repr=False)
    stream_stats: "StreamStats | None" = field(default=None, compare=False, repr=False)
    quality: Quality | None = field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        """The schema of the tree."""
        return self.tree.schema
