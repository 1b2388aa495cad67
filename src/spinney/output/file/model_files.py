"""Any model as a file, and back: its kind follows from what it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from spinney import registry
from spinney.output.file.json_file import json_members
from spinney.output.file.kind import FileLimits, Kind, load_kind, save_kind
from spinney.output.file.tree_file import TREE

if TYPE_CHECKING:
    import os

KINDS = ("tree", "forest", *registry.ENTRIES["file"])


class KindsNamed(Sequence[Kind[Any]]):
    """Kinds by name, each loaded when it is come to.

    Who has a tree does not wait for what forests and clusters need.
    """

    def __init__(self, names: Sequence[str] = KINDS) -> None:
        self._names = [name for name in names if name in KINDS]

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, at: int) -> Kind[Any]: ...
    @overload
    def __getitem__(self, at: slice) -> "KindsNamed": ...
    def __getitem__(self, at: int | slice) -> "Kind[Any] | KindsNamed":
        """Return a kind by its place."""
        if isinstance(at, slice):
            return KindsNamed(self._names[at])
        if self._names[at] == "tree":
            return TREE
        if self._names[at] == "forest":
            from spinney.output.file.forest_file import FORESTS

            return FORESTS
        kind: Kind[Any] = registry.load("file", self._names[at])
        return kind


def save_model(
    content: Any, path: "str | os.PathLike[str]", *, force: bool = True
) -> None:
    """Save a tree, a forest or clusters; the same model gives the same bytes.

    Parameters
    ----------
    content : Model, Forest or Clusters
        What to save.
    path : path
        Where; by custom the name ends in ``.spinney``.
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ParameterError
        The file cannot be written, or the model could not be loaded again. An
        old file of that name is as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from spinney.growth.model import Model
    >>> from spinney.growth.plain.learner import grow_tree
    >>> from spinney.data.fingerprint import Fingerprint
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> from spinney.data.schema import Attribute, Schema, Target
    >>> from spinney.sources.rows.memory import MemorySource
    >>> schema = Schema((Attribute("size", "numeric"),), Target("sort", ("a", "b")))
    >>> source = MemorySource(schema, [np.array([1.0, 2.0])], classes=np.arange(2))
    >>> tree = grow_tree(source, RECIPES["id3"])
    >>> model = Model(tree, RECIPES["id3"], Fingerprint(2, 2.0, "", "0.1.0"))
    >>> with TemporaryDirectory() as directory:
    ...     save_model(model, f"{directory}/sort.spinney")
    ...     loaded = load_model(f"{directory}/sort.spinney")
    >>> [loaded.tree.condition(node) for node in loaded.tree.leaves]
    ['size ≤ 1.5', 'size > 1.5']
    """
    save_kind(_kind_of(content), content, path, force=force)


def _kind_of(content: Any) -> Kind[Any]:
    return next(kind for kind in KindsNamed() if isinstance(content, kind.content))


def kind_name(content: Any) -> str:
    """Return the name of the kind of file that holds something."""
    each = zip(KINDS, KindsNamed(), strict=True)
    return next(name for name, kind in each if isinstance(content, kind.content))


def model_members(content: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the header of a model as plain data, and its arrays as lines of JSON."""
    return json_members(_kind_of(content), content)


def load_model(
    path: "str | os.PathLike[str]",
    *,
    kinds: Sequence[str] = ("tree",),
    limits: FileLimits | None = None,
) -> Any:
    """Load what :func:`save_model` wrote.

    Parameters
    ----------
    path : path
        The file.
    kinds : sequence of {"tree", "forest", "clusters"}
        What it may hold; a file of another kind is refused as one of the first.
    limits : FileLimits, optional
        How much the file may ask for.

    Raises
    ------
    ModelFormatError
        The file is missing, damaged, something else, or of a newer version.
    """
    return load_kind(KindsNamed(kinds), path, limits)
