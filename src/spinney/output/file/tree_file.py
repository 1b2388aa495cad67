"""A tree as a file: saved whole or not at all, checked before it is used.

The file is of the kind ``spinney-tree`` (see :mod:`spinney.output.file.kind`), with the
arrays of :mod:`spinney.output.file.file_arrays`; its JSON has target, classes,
attributes, recipe and fingerprint. A model that stores its rows has the parts of
:mod:`spinney.output.file.update_state_file` too. Every rule of
:mod:`spinney.output.file.tree_check` holds for what loading returns.
"""

from dataclasses import replace
from typing import Any

from spinney.growth import Model
from spinney.output.file.file_arrays import DTYPES, Arrays, unflatten, with_defaults
from spinney.output.file.header import (
    ADDED,
    FORMAT,
    FORMAT_VERSION,
    KEYS,
    PACKED_VERSION,
    read_certificate,
    read_fingerprint,
    read_member,
    read_quality,
    read_recipe,
    read_schema,
    read_tried,
)
from spinney.output.file.kind import CLUSTERS, FOREST, Kind
from spinney.output.file.plain_data import members
from spinney.output.file.tree_check import check_arrays, check_model
from spinney.output.file.update_state_file import (
    ROW_ARRAYS,
    no_stored_rows,
    read_stored_rows,
    stored_rows_parts,
)


def _parts(model: Model) -> tuple[dict[str, Any], Arrays]:
    header, schema, arrays = check_model(model)
    entry, rows = stored_rows_parts(model)
    read_stored_rows(entry, rows, schema)
    return {**header, **entry}, {**arrays, **rows}


def _read(data: object, arrays: Arrays, max_nodes: int) -> Model:
    header = {**ADDED, **members(data, "the model", KEYS, defaults=ADDED)}
    schema = read_schema(header)
    recipe = read_recipe(header["recipe"])
    fingerprint = read_fingerprint(header["fingerprint"])
    check_arrays(arrays, schema, max_nodes=max_nodes)
    tried, member = read_tried(header), read_member(header)
    tree = unflatten(arrays, schema)
    tree = replace(tree, certificate=read_certificate(header))
    kept = read_stored_rows(header, arrays, schema)
    return Model(
        tree,
        recipe,
        fingerprint,
        recipe_scores=tried,
        member=member,
        update_state=kept,
        quality=read_quality(header),
    )


def _not_a_tree(what: str, commands: str) -> str:
    return (
        f"it holds {what}, and this reads one tree; spinney.load, and spinney "
        f"{commands}, read such files"
    )


TREE = Kind(
    Model,
    FORMAT,
    FORMAT_VERSION,
    PACKED_VERSION,
    "this model",
    "grow the tree again",
    "it is a safetensors file, but not a Spinney model",
    {name: (dtype,) for name, dtype in {**DTYPES, **ROW_ARRAYS}.items()},
    _parts,
    _read,
    refusals={
        FOREST: _not_a_tree("a forest", "show, predict and info"),
        CLUSTERS: _not_a_tree("clusters", "show, predict and info"),
    },
    completed=lambda arrays: {**no_stored_rows(), **with_defaults(arrays)},
)
