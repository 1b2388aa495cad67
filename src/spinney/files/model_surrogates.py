"""The surrogates of a tree's nodes as flat arrays, and back.

With n nodes and s surrogates of all nodes, in the order of the nodes::

    node.surrogates    how many each node has                        (n,)
    node.otherwise     the branch of rows that none sends, -1 if the
                       split itself says where they go               (n,)

    surrogate.attribute, surrogate.reversed (0 or 1)                 (s,)
    surrogate.form     0 a threshold, 1 groups of codes              (s,)
    surrogate.agreement, surrogate.adjusted                          (s,)

    surrogate_split.thresholds   one for each surrogate of form 0
    surrogate_split.groups       two counts of codes for each of form 1
    surrogate_split.codes        the codes of the groups
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.trees.split import Groups, Split, Surrogate, Threshold
from spinney.trees.tree import Node

__all__ = [
    "SURROGATE_FLOATS",
    "SURROGATE_INTEGERS",
    "flatten_surrogates",
    "read_surrogates",
    "without_surrogates",
]

SURROGATE_FLOATS = (
    "surrogate.agreement",
    "surrogate.adjusted",
    "surrogate_split.thresholds",
)
SURROGATE_INTEGERS = (
    "node.surrogates",
    "node.otherwise",
    "surrogate.attribute",
    "surrogate.form",
    "surrogate.reversed",
    "surrogate_split.groups",
    "surrogate_split.codes",
)


def flatten_surrogates(nodes: Iterable[Node]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the surrogates of all nodes."""
    nodes = list(nodes)
    surrogates = [surrogate for node in nodes for surrogate in node.surrogates]
    splits = [surrogate.split for surrogate in surrogates]
    groups = [
        group for split in splits if isinstance(split, Groups) for group in split.groups
    ]
    numbers: dict[str, Iterable[float]] = {
        "node.surrogates": (len(node.surrogates) for node in nodes),
        "node.otherwise": (
            -1 if node.otherwise is None else node.otherwise for node in nodes
        ),
        "surrogate.attribute": (split.attribute for split in splits),
        "surrogate.form": (isinstance(split, Groups) for split in splits),
        "surrogate.reversed": (surrogate.reversed for surrogate in surrogates),
        "surrogate.agreement": (surrogate.agreement for surrogate in surrogates),
        "surrogate.adjusted": (surrogate.adjusted for surrogate in surrogates),
        "surrogate_split.thresholds": (
            split.threshold for split in splits if isinstance(split, Threshold)
        ),
        "surrogate_split.groups": map(len, groups),
        "surrogate_split.codes": chain.from_iterable(groups),
    }
    return {
        name: np.fromiter(
            found, dtype=np.float64 if name in SURROGATE_FLOATS else np.int64
        )
        for name, found in numbers.items()
    }


def without_surrogates(n_nodes: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that was written before there were surrogates."""
    return {
        **{name: np.empty(0) for name in SURROGATE_FLOATS},
        **{name: np.empty(0, dtype=np.int64) for name in SURROGATE_INTEGERS},
        "node.surrogates": np.zeros(n_nodes, dtype=np.int64),
        "node.otherwise": np.full(n_nodes, -1, dtype=np.int64),
    }


def read_surrogates(arrays: Mapping[str, NDArray[Any]]) -> Iterator[Surrogate]:
    """Walk the surrogates of all nodes."""
    splits = _splits(arrays)
    for agreement, adjusted, swapped in zip(
        arrays["surrogate.agreement"].tolist(),
        arrays["surrogate.adjusted"].tolist(),
        arrays["surrogate.reversed"].tolist(),
        strict=True,
    ):
        yield Surrogate(next(splits), agreement, adjusted, bool(swapped))


def _splits(arrays: Mapping[str, NDArray[Any]]) -> Iterator[Split]:
    thresholds = iter(arrays["surrogate_split.thresholds"].tolist())
    sizes = iter(arrays["surrogate_split.groups"].tolist())
    codes = iter(arrays["surrogate_split.codes"].tolist())
    for attribute, form in zip(
        arrays["surrogate.attribute"].tolist(),
        arrays["surrogate.form"].tolist(),
        strict=True,
    ):
        if form == 0:
            yield Threshold(attribute, next(thresholds), ())
        else:
            groups = [tuple(next(codes) for _ in range(next(sizes))) for _ in range(2)]
            yield Groups(attribute, tuple(groups), ())
