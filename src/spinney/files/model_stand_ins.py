"""Whether the surrogates of all nodes can stand in for the nodes' splits."""

import numpy as np

from spinney._support.arrays import Integers
from spinney.data.schema import Schema
from spinney.files.model_arrays import Arrays
from spinney.files.model_rules import counted, require, shaped, sizes, within

__all__ = ["check_surrogates"]


def check_surrogates(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless each surrogate is a question of two branches."""
    _check_lengths(arrays, schema)
    nodes = np.repeat(np.arange(len(arrays["node.rows"])), arrays["node.surrogates"])
    _check_nodes(arrays, nodes)
    _check_marks(arrays, nodes)
    _check_thresholds(arrays, schema)
    _check_groups(arrays, schema)


def _check_lengths(arrays: Arrays, schema: Schema) -> None:
    n_surrogates = arrays["surrogate.attribute"].size
    for name in arrays:
        if name.startswith("surrogate."):
            shaped(arrays, name, (n_surrogates,))
    counted(arrays, "node.surrogates", total=n_surrogates)
    forms, attributes = arrays["surrogate.form"], arrays["surrogate.attribute"]
    require(within(forms, 0, 2), "surrogate {} is neither a threshold nor groups")
    require(
        within(attributes, 0, len(schema.attributes)),
        "surrogate {} asks about an attribute that is not there",
    )
    n_groups = int((forms == 1).sum())
    shaped(arrays, "surrogate_split.thresholds", (n_surrogates - n_groups,))
    shaped(arrays, "surrogate_split.groups", (2 * n_groups,))
    n_codes = arrays["surrogate_split.codes"].size
    shaped(arrays, "surrogate_split.codes", (n_codes,))
    counted(arrays, "surrogate_split.groups", total=n_codes, least=1)


def _check_nodes(arrays: Arrays, nodes: Integers) -> None:
    """Check that only splits of two branches have surrogates, and a last branch."""
    otherwise, chosen = arrays["node.otherwise"], arrays["node.chosen"]
    require(
        within(otherwise, -1, 2), "node {} has an unknown branch for what is missing"
    )
    require(
        (otherwise >= 0) | (arrays["node.surrogates"] == 0),
        "node {} has surrogates but no branch for rows that none of them sends",
    )
    require(
        (otherwise < 0) | (chosen >= 0),
        "node {} is a leaf and yet says where missing values go",
    )
    counts = arrays["node.candidates"]
    winners = (np.cumsum(counts) - counts + chosen)[otherwise >= 0]
    require(
        arrays["candidate.branches"][winners] == 2,
        "node {} has a branch for what is missing but not two branches",
        np.flatnonzero(otherwise >= 0),
    )
    own = np.full(len(counts), -1, dtype=np.int64)
    own[otherwise >= 0] = arrays["candidate.attribute"][winners]
    require(
        arrays["surrogate.attribute"] != own[nodes],
        "surrogate {} asks about the attribute that it stands in for",
    )


def _check_marks(arrays: Arrays, nodes: Integers) -> None:
    swapped, agreement = arrays["surrogate.reversed"], arrays["surrogate.agreement"]
    require(
        within(swapped, 0, 2 - arrays["surrogate.form"]),
        "surrogate {} has a bad mark (reversed)",
    )
    for name in ("surrogate.agreement", "surrogate.adjusted"):
        require(
            (arrays[name] >= 0) & (arrays[name] <= 1),
            f"{name!r} is no share at surrogate {{}}",
        )
    falling = (agreement[1:] <= agreement[:-1] + 1e-9) | (nodes[1:] != nodes[:-1])
    require(np.append(True, falling), "surrogate {} is better than the one before it")


def _check_thresholds(arrays: Arrays, schema: Schema) -> None:
    asking = np.flatnonzero(arrays["surrogate.form"] == 0)
    thresholds = arrays["surrogate_split.thresholds"]
    attributes = arrays["surrogate.attribute"][asking]
    require(np.isfinite(thresholds), "surrogate {} has no finite threshold", asking)
    kinds = np.array([attribute.kind for attribute in schema.attributes], dtype="U7")
    suits = kinds[attributes] == "numeric"
    between = (thresholds >= 0) & (thresholds < sizes(schema)[attributes] - 1)
    suits |= (kinds[attributes] == "ordinal") & between
    require(suits, "surrogate {} has a threshold that does not suit it", asking)


def _check_groups(arrays: Arrays, schema: Schema) -> None:
    asking = np.flatnonzero(arrays["surrogate.form"] == 1)
    owners = np.repeat(np.repeat(asking, 2), arrays["surrogate_split.groups"])
    codes, attributes = arrays["surrogate_split.codes"], arrays["surrogate.attribute"]
    kinds = np.array([attribute.kind for attribute in schema.attributes], dtype="U7")
    require(
        kinds[attributes[asking]] == "nominal",
        "surrogate {} has groups that do not suit its attribute",
        asking,
    )
    require(
        within(codes, 0, sizes(schema)[attributes[owners]]),
        "surrogate {} has a code that its attribute does not know",
        owners,
    )
    order = np.lexsort((codes, owners))
    again = (np.diff(codes[order]) == 0) & (np.diff(owners[order]) == 0)
    require(~again, "surrogate {} has one code twice", owners[order][1:])
