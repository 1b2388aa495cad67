"""What a model keeps so that rows can come and go: the rows, and how it was grown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet

if TYPE_CHECKING:
    from spinney.extensions.incremental.kept_tree import KeptTree
    from spinney.extensions.streaming import GrowingStream


@dataclass(frozen=True, eq=False)
class KeptRows:
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
    tree : KeptTree, optional
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
    tree: "KeptTree | None" = field(default=None, repr=False)
    stream: "GrowingStream | None" = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.training, self.recipe, dict(self.given), self.weight
        return KeptRows, (*parts, None, self.stream)
