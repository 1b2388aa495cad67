"""Save and load models of any kind."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney.errors import MissingExtraError
from spinney.output.file.json_file import json_members
from spinney.output.file.kind import FileLimits, Kind, load_kind, save_kind
from spinney.output.file.tree_file import TREE

if TYPE_CHECKING:
    import os

OTHERS = "others"
"""The name that stands for the kinds of other packages."""
KINDS = ("tree", "forest", *registry.ENTRIES["file"], OTHERS)


CONTENT = {"tree": "model_", "forest": "forest_", "clusters": "clusters_"}


def kinds_named(names: Sequence[str] = KINDS) -> Iterator[Kind[Any]]:
    """Yield kinds by name, each imported when it is reached.

    Loading a tree does not import the modules of other kinds.
    """
    return (kind for _, kind in _named(names))


def _named(names: Sequence[str]) -> Iterator[tuple[str, Kind[Any]]]:
    missing = None
    for name in names:
        for each in registry.others("file") if name == OTHERS else (name,):
            try:
                yield each, _kind(each)
            except MissingExtraError as error:
                missing = error
    if missing is not None:  # the wanted kind may be that one
        raise missing


def _kind(name: str) -> Kind[Any]:
    if name == "tree":
        return TREE
    if name == "forest":
        from spinney.output.file.forest_file import FORESTS

        return FORESTS
    kind: Kind[Any] = registry.load("file", name)
    return kind


def save_model(
    content: Any, path: "str | os.PathLike[str]", *, overwrite: bool = True
) -> None:
    """Save a tree, a forest or clusters; the same model gives the same bytes.

    Parameters
    ----------
    content : Model, Forest or Clusters
        What to save.
    path : path
        The path; by custom it ends in ``.spinney``.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ParameterError
        The file cannot be written, or the model could not be loaded again. An existing
        file is left unchanged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from spinney.growth.model import Model
    >>> from spinney.growth.plain.learner import grow_tree
    >>> from spinney.data.schema import Fingerprint
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
    save_kind(_kind_of(content), content, path, overwrite=overwrite)


def _kind_of(content: Any) -> Kind[Any]:
    return next(kind for kind in kinds_named() if isinstance(content, kind.content))


def kind_name(content: Any) -> str:
    """Return the name of the file kind of a model."""
    named = _named(KINDS)
    return next(name for name, kind in named if isinstance(content, kind.content))


def saved_content(model: Any) -> Any:
    """Return the content to save of a fitted model."""
    return getattr(model, CONTENT.get(model.kind, "content"))


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
    kinds : sequence of {"tree", "forest", "clusters", "others"}
        The accepted kinds.
    limits : FileLimits, optional
        The limits on the file's size.

    Raises
    ------
    ModelFormatError
        The file is missing, damaged, not a model, or of a newer version.
    """
    return load_kind(kinds_named(kinds), path, limits)
