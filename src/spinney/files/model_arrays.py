"""A tree as flat arrays, and back.

Words
-----
candidates, branches, groups, values
    of all nodes, one after another in the order of the nodes.
count
    how many of them belong to each node, candidate or group. Where a count is
    stored, what is counted follows without gaps.

The arrays, with n nodes, m candidates and c classes; of a numeric target, weights
have its 3 moments, and distributions and rows 1 column, in the place of c::

    node.parent, node.branch, node.depth, node.rows, node.label      (n,)
    node.reason        place in REASONS, -1 at an inner node         (n,)
    node.chosen        place among its candidates, -1 at a leaf      (n,)
    node.forced        0 or 1                                        (n,)
    node.candidates    a count                                       (n,)
    node.weights, node.distribution                                  (n, c)

    candidate.attribute, candidate.exact (0 or 1)                    (m,)
    candidate.form     0 threshold, 1 groups of codes, 2 intervals   (m,)
    candidate.missing  a branch, -1 for fractional rows              (m,)
    candidate.gain, candidate.merit                                  (m,)
    candidate.p_value  NaN where the criterion is no test            (m,)
    candidate.branches, candidate.values      counts                 (m,)
    candidate.missing_weights, candidate.missing_rows                (m, c)

    split.thresholds   one for each candidate of form 0; the cuts of form 2
    split.shares       one for each branch of each candidate
    split.groups       a count of codes for each branch of form 1
    split.codes        the codes of the groups

    node.terms         a count; -1 where there is no linear model   (n,)
    node.intercept     that of the model, 0 where there is none      (n,)
    term.attribute, term.coefficient, term.missing
    term.codes         a count of codes; -1 where the term is a number
    model.codes        the codes of all terms

    table.codes        the values, where the attribute has codes
    table.numbers      the values, where the attribute is numeric
    table.weights, table.rows       a line of c for each of all values

and those of the surrogates, in :mod:`spinney.data.model_surrogates`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.schema import Schema
from spinney.files.model_surrogates import (
    SURROGATE_FLOATS,
    SURROGATE_INTEGERS,
    flatten_surrogates,
    read_surrogates,
    without_surrogates,
)
from spinney.files.model_terms import TERM_ARRAYS, flatten_models, models_of, no_models
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Intervals, Split, Threshold
from spinney.trees.tree import Candidate, Node, Reason, Tree

__all__ = [
    "DTYPES",
    "FORMS",
    "REASONS",
    "Arrays",
    "children_of",
    "flatten",
    "unflatten",
    "with_defaults",
]

Arrays = Mapping[str, NDArray[Any]]

# The place of a reason is part of the format: new ones are added at the end.
REASONS = (
    Reason.PURE,
    Reason.EXHAUSTED,
    Reason.IDENTICAL,
    Reason.DEPTH,
    Reason.LEAVES,
    Reason.ROWS_TO_SPLIT,
    Reason.ROWS_IN_LEAF,
    Reason.MIN_GAIN,
    Reason.EMPTY,
    Reason.PRUNED,
    Reason.SIGNIFICANCE,
    Reason.DEVIATION,
)

# So is the place of a form.
FORMS: tuple[type[Split], ...] = (Threshold, Groups, Intervals)

_NODE: dict[str, Callable[[Node], int]] = {
    "node.parent": lambda node: -1 if node.parent is None else node.parent,
    "node.branch": lambda node: node.branch,
    "node.depth": lambda node: node.depth,
    "node.rows": lambda node: node.n_rows,
    "node.label": lambda node: node.label,
    "node.reason": lambda node: (
        -1 if node.reason is None else REASONS.index(node.reason)
    ),
    "node.chosen": lambda node: -1 if node.chosen is None else node.chosen,
    "node.forced": lambda node: int(node.forced),
    "node.candidates": lambda node: len(node.candidates),
}
_CANDIDATE: dict[str, Callable[[Candidate], int]] = {
    "candidate.attribute": lambda candidate: candidate.attribute,
    "candidate.exact": lambda candidate: int(candidate.exact),
    "candidate.form": lambda candidate: FORMS.index(type(candidate.split)),
    "candidate.missing": lambda candidate: (
        -1 if candidate.split.missing is None else candidate.split.missing
    ),
    "candidate.branches": lambda candidate: candidate.split.n_branches,
    "candidate.values": lambda candidate: len(candidate.table.values),
}

_FLOATS = (
    "node.weights",
    "node.distribution",
    "candidate.gain",
    "candidate.merit",
    "candidate.p_value",
    "candidate.missing_weights",
    "split.thresholds",
    "split.shares",
    "table.numbers",
    "table.weights",
    *SURROGATE_FLOATS,
)
_INTEGERS = (
    *_NODE,
    *_CANDIDATE,
    "candidate.missing_rows",
    "split.groups",
    "split.codes",
    "table.codes",
    "table.rows",
    *SURROGATE_INTEGERS,
)
DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(_FLOATS, np.float64),
    **dict.fromkeys(_INTEGERS, np.int64),
    **TERM_ARRAYS,
}


def with_defaults(arrays: Arrays) -> Arrays:
    """Return arrays with those that version 1 did not have."""
    if "node.parent" in arrays:
        n_nodes = arrays["node.parent"].size
        arrays = {**no_models(n_nodes), **without_surrogates(n_nodes), **arrays}
    if "candidate.p_value" in arrays or "candidate.gain" not in arrays:
        return arrays
    absent = np.full(arrays["candidate.gain"].shape, np.nan)
    return {**arrays, "candidate.p_value": absent}


def flatten(tree: Tree) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree; what they hold is not checked."""
    nodes, target = tree.nodes, tree.schema.target
    width, n_outputs = target.width, target.n_outputs
    candidates = [candidate for node in nodes for candidate in node.candidates]
    tables = [candidate.table for candidate in candidates]
    splits = [candidate.split for candidate in candidates]
    arrays = {
        **{name: _integers(map(field, nodes)) for name, field in _NODE.items()},
        "node.weights": _lines((node.weights for node in nodes), width),
        "node.distribution": _lines((node.distribution for node in nodes), n_outputs),
        **{
            name: _integers(map(field, candidates))
            for name, field in _CANDIDATE.items()
        },
        "candidate.gain": _floats(candidate.gain for candidate in candidates),
        "candidate.merit": _floats(candidate.merit for candidate in candidates),
        "candidate.p_value": _floats(
            np.nan if candidate.p_value is None else candidate.p_value
            for candidate in candidates
        ),
        "candidate.missing_weights": _lines((t.missing for t in tables), width),
        "candidate.missing_rows": _lines((t.missing_rows for t in tables), n_outputs),
        **_flatten_splits(splits),
        **_flatten_values(candidates, tree.schema),
        "table.weights": _lines((table.weights for table in tables), width),
        "table.rows": _lines((table.rows for table in tables), n_outputs),
        **flatten_models(nodes),
        **flatten_surrogates(nodes),
    }
    return {name: _as(arrays[name], DTYPES[name]) for name in sorted(DTYPES)}


def _flatten_splits(splits: list[Split]) -> dict[str, NDArray[Any]]:
    groups = [
        group for split in splits if isinstance(split, Groups) for group in split.groups
    ]
    return {
        "split.thresholds": _floats(chain.from_iterable(map(_cuts_of, splits))),
        "split.shares": _floats(chain.from_iterable(split.shares for split in splits)),
        "split.groups": _integers(map(len, groups)),
        "split.codes": _integers(chain.from_iterable(groups)),
    }


def _cuts_of(split: Split) -> tuple[float, ...]:
    if isinstance(split, Groups):
        return ()
    return split.cuts if isinstance(split, Intervals) else (split.threshold,)


def _flatten_values(
    candidates: list[Candidate], schema: Schema
) -> dict[str, NDArray[Any]]:
    codes: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
    numbers: list[NDArray[Any]] = [np.empty(0)]
    for candidate in candidates:
        numeric = schema.attributes[candidate.attribute].kind == "numeric"
        (numbers if numeric else codes).append(candidate.table.values)
    return {
        "table.codes": np.concatenate(codes),
        "table.numbers": np.concatenate(numbers),
    }


def _integers(numbers: Iterable[int]) -> NDArray[Any]:
    return np.fromiter(numbers, dtype=np.int64)


def _floats(numbers: Iterable[float]) -> NDArray[Any]:
    return np.fromiter(numbers, dtype=np.float64)


def _lines(arrays: Iterable[NDArray[Any]], width: int) -> NDArray[Any]:
    """Return arrays whose last axis is that wide, one below another."""
    lines = [array.reshape(-1, width) for array in arrays]
    return np.concatenate(lines) if lines else np.empty((0, width))


def _as(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=dtype)


def children_of(parents: Iterable[int]) -> list[tuple[int, ...]]:
    """Return the children of each node, given the parent of each.

    >>> children_of([-1, 0, 1, 1, 0])
    [(1, 4), (2, 3), (), (), ()]
    """
    children: list[list[int]] = []
    for number, parent in enumerate(parents):
        children.append([])
        if parent >= 0:
            children[parent].append(number)
    return list(map(tuple, children))


def unflatten(arrays: Arrays, schema: Schema) -> Tree:
    """Return the tree of arrays that have been checked."""
    columns = {name: arrays[name].tolist() for name in _NODE}
    children = children_of(columns["node.parent"])
    candidates, surrogates = _candidates(arrays, schema), read_surrogates(arrays)
    n_surrogates = arrays["node.surrogates"].tolist()
    otherwise = arrays["node.otherwise"].tolist()
    models = models_of(arrays)
    nodes = []
    for number, (weights, distribution) in enumerate(
        zip(arrays["node.weights"], arrays["node.distribution"], strict=True)
    ):
        parent, branch, depth, rows, label, reason, chosen, forced, count = (
            columns[name][number] for name in _NODE
        )
        node = Node(
            number,
            None if parent < 0 else parent,
            branch,
            depth,
            weights,
            rows,
            distribution,
            label,
            tuple(next(candidates) for _ in range(count)),
            None if chosen < 0 else chosen,
            children[number],
            None if reason < 0 else REASONS[reason],
            bool(forced),
            next(models),
            tuple(next(surrogates) for _ in range(n_surrogates[number])),
            None if otherwise[number] < 0 else otherwise[number],
        )
        nodes.append(node)
    return Tree(schema, tuple(nodes))


def _candidates(arrays: Arrays, schema: Schema) -> Iterator[Candidate]:
    """Walk the candidates of all nodes."""
    tables = _tables(arrays, schema)
    splits = _splits(arrays)
    for gain, merit, exact, p_value in zip(
        arrays["candidate.gain"].tolist(),
        arrays["candidate.merit"].tolist(),
        arrays["candidate.exact"].tolist(),
        arrays["candidate.p_value"].tolist(),
        strict=True,
    ):
        p = None if np.isnan(p_value) else p_value
        yield Candidate(next(splits), next(tables), gain, merit, bool(exact), p)


def _splits(arrays: Arrays) -> Iterator[Split]:
    thresholds = iter(arrays["split.thresholds"].tolist())
    shares, codes = arrays["split.shares"].tolist(), arrays["split.codes"].tolist()
    sizes = iter(arrays["split.groups"].tolist())
    n_shares = n_codes = 0
    for attribute, form, missing, n_branches in zip(
        arrays["candidate.attribute"].tolist(),
        arrays["candidate.form"].tolist(),
        arrays["candidate.missing"].tolist(),
        arrays["candidate.branches"].tolist(),
        strict=True,
    ):
        parts = tuple(shares[n_shares : n_shares + n_branches])
        n_shares += n_branches
        to = None if missing < 0 else missing
        if form == 0:
            yield Threshold(attribute, next(thresholds), parts, to)
            continue
        if form == 2:
            cuts = tuple(next(thresholds) for _ in range(n_branches - 1))
            yield Intervals(attribute, cuts, parts, to)
            continue
        groups = []
        for _ in range(n_branches):
            size = next(sizes)
            groups.append(tuple(codes[n_codes : n_codes + size]))
            n_codes += size
        yield Groups(attribute, tuple(groups), parts, to)


def _tables(arrays: Arrays, schema: Schema) -> Iterator[CountTable]:
    weights, rows = arrays["table.weights"], arrays["table.rows"]
    n_lines = 0
    used = {"table.codes": 0, "table.numbers": 0}
    for attribute, count, missing, missing_rows in zip(
        arrays["candidate.attribute"].tolist(),
        arrays["candidate.values"].tolist(),
        arrays["candidate.missing_weights"],
        arrays["candidate.missing_rows"],
        strict=True,
    ):
        numeric = schema.attributes[attribute].kind == "numeric"
        name = "table.numbers" if numeric else "table.codes"
        values = arrays[name][used[name] : used[name] + count]
        used[name] += count
        lines = slice(n_lines, n_lines + count)
        n_lines += count
        yield CountTable(values, weights[lines], rows[lines], missing, missing_rows)
