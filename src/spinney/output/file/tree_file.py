"""A tree as a file: saved whole or not at all, checked before it is used.

The file is of the kind ``spinney-tree`` (see :mod:`spinney.output.file.kind`), with the
arrays of :mod:`spinney.output.file.file_arrays`; its JSON has target, classes,
attributes, recipe and fingerprint. Every rule of
:mod:`spinney.output.file.tree_check` holds for what loading returns.
"""

from typing import TYPE_CHECKING, Any

from spinney.growth import Model
from spinney.output.file.file_arrays import DTYPES, Arrays, unflatten, with_defaults
from spinney.output.file.header import (
    ADDED,
    FORMAT,
    FORMAT_VERSION,
    KEYS,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.output.file.kind import (
    CLUSTERS,
    FOREST,
    FileLimits,
    Kind,
    load_kind,
    save_kind,
)
from spinney.output.file.plain_data import members
from spinney.output.file.tree_check import check_arrays, check_model

if TYPE_CHECKING:
    import os


def save_model(
    model: Model, path: "str | os.PathLike[str]", *, force: bool = True
) -> None:
    """Save a model; the same model gives the same bytes.

    Parameters
    ----------
    model : Model
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
    save_kind(_TREE, model, path, force=force)


def load_model(
    path: "str | os.PathLike[str]", *, limits: FileLimits | None = None
) -> Model:
    """Load a model that :func:`save_model` wrote.

    Parameters
    ----------
    path : path
        The file.
    limits : FileLimits, optional
        How much the file may ask for.

    Raises
    ------
    ModelFormatError
        The file is missing, damaged, something else, or of a newer version.
    """
    return load_kind(_TREE, path, limits)


def _parts(model: Model) -> tuple[dict[str, Any], Arrays]:
    header, _, arrays = check_model(model)
    return header, arrays


def _read(data: object, arrays: Arrays, max_nodes: int) -> Model:
    header = {**ADDED, **members(data, "the model", KEYS, defaults=ADDED)}
    schema = read_schema(header)
    recipe = read_recipe(header["recipe"])
    fingerprint = read_fingerprint(header["fingerprint"])
    check_arrays(arrays, schema, max_nodes=max_nodes)
    return Model(unflatten(arrays, schema), recipe, fingerprint)


def _not_a_tree(what: str, commands: str) -> str:
    return (
        f"it holds {what}, and this reads one tree; spinney.load, and spinney "
        f"{commands}, read such files"
    )


_TREE = Kind(
    FORMAT,
    FORMAT_VERSION,
    "this model",
    "grow the tree again",
    "it is a safetensors file, but not a Spinney model",
    {name: (dtype,) for name, dtype in DTYPES.items()},
    _parts,
    _read,
    refusals={
        FOREST: _not_a_tree("a forest", "predict, info and evaluate"),
        CLUSTERS: _not_a_tree("clusters", "show, predict and info"),
    },
    completed=with_defaults,
)
