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
    node.reason        ``Reason.code``, -1 at an inner node           (n,)
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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.output.file.strict_json import DamageError
from spinney.trees import (
    NO_REASON,
    Candidate,
    CountTable,
    Groups,
    Intervals,
    LinearModel,
    Node,
    Reason,
    Split,
    Surrogate,
    Term,
    Threshold,
    Tree,
)

Arrays = Mapping[str, NDArray[Any]]

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
    splits = _surrogate_splits(arrays)
    for agreement, adjusted, swapped in zip(
        arrays["surrogate.agreement"].tolist(),
        arrays["surrogate.adjusted"].tolist(),
        arrays["surrogate.reversed"].tolist(),
        strict=True,
    ):
        yield Surrogate(next(splits), agreement, adjusted, bool(swapped))


def _surrogate_splits(arrays: Mapping[str, NDArray[Any]]) -> Iterator[Split]:
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


TERM_ARRAYS: dict[str, type[np.generic]] = {
    "node.terms": np.int64,
    "node.intercept": np.float64,
    "term.attribute": np.int64,
    "term.coefficient": np.float64,
    "term.missing": np.float64,
    "term.codes": np.int64,
    "model.codes": np.int64,
}


def flatten_models(nodes: Sequence[Node]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the nodes' models."""
    models = [node.model for node in nodes]
    present = [model for model in models if model is not None]
    terms = [term for model in present for term in model.terms]
    counts = [-1 if model is None else len(model.terms) for model in models]
    intercepts = [0.0 if model is None else model.intercept for model in models]
    cells: dict[str, list[Any]] = {
        "node.terms": counts,
        "node.intercept": intercepts,
        "term.attribute": [term.attribute for term in terms],
        "term.coefficient": [c for model in present for c in model.coefficients],
        "term.missing": [term.missing for term in terms],
        "term.codes": [-1 if term.codes is None else len(term.codes) for term in terms],
        "model.codes": [code for term in terms for code in term.codes or ()],
    }
    return {name: np.array(cells[name], dtype=TERM_ARRAYS[name]) for name in cells}


def no_models(n_nodes: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree without models: what older files stand for."""
    arrays = {name: np.empty(0, dtype=dtype) for name, dtype in TERM_ARRAYS.items()}
    return {
        **arrays,
        "node.terms": np.full(n_nodes, -1, dtype=np.int64),
        "node.intercept": np.zeros(n_nodes),
    }


def models_of(arrays: Arrays) -> Iterator[LinearModel | None]:
    """Walk the models of all nodes, from arrays that have been checked."""
    codes = arrays["model.codes"].tolist()
    terms: list[Term] = []
    used = 0
    for attribute, size, missing in zip(
        arrays["term.attribute"].tolist(),
        arrays["term.codes"].tolist(),
        arrays["term.missing"].tolist(),
        strict=True,
    ):
        of_codes = None if size < 0 else tuple(codes[used : used + size])
        used += max(size, 0)
        terms.append(Term(attribute, of_codes, missing))
    coefficients = arrays["term.coefficient"].tolist()
    first = 0
    for count, intercept in zip(
        arrays["node.terms"].tolist(), arrays["node.intercept"].tolist(), strict=True
    ):
        if count < 0:
            yield None
            continue
        last = first + count
        yield LinearModel(
            intercept, tuple(terms[first:last]), tuple(coefficients[first:last])
        )
        first = last


def check_models(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless the arrays are models over this schema."""
    counts, attributes = arrays["node.terms"], arrays["term.attribute"]
    sizes, codes = arrays["term.codes"], arrays["model.codes"]
    n_terms = attributes.size
    for name in ("term.attribute", "term.coefficient", "term.missing", "term.codes"):
        _need(arrays[name].shape == (n_terms,), f"the array {name!r} has a wrong shape")
    _need(codes.ndim == 1, "the array 'model.codes' has a wrong shape")
    for numbers, total, what in (
        (counts, n_terms, "node.terms"),
        (sizes, codes.size, "term.codes"),
    ):
        fits = bool(np.all((numbers >= -1) & (numbers <= total)))
        together = int(np.maximum(numbers, 0).sum()) if fits else -1
        _need(together == total, f"the counts {what!r} do not add up to {total}")
    _need(
        schema.target.is_numeric or bool(np.all(counts < 0)),
        "a node has a linear model, but the target has classes",
    )
    for name in ("node.intercept", "term.coefficient", "term.missing"):
        finite = bool(np.isfinite(arrays[name]).all())
        _need(finite, f"{name!r} holds what is no finite number")
    _need(
        bool(np.all((attributes >= 0) & (attributes < len(schema.attributes)))),
        "a linear model reads an attribute that is not there",
    )
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], dtype=bool)
    _need(
        bool(np.all((sizes >= 0) == nominal[attributes])),
        "a term of a linear model does not suit its attribute",
    )
    _check_codes(arrays, schema)


def _check_codes(arrays: Arrays, schema: Schema) -> None:
    """Check that the codes of a term rise and that its attribute knows them."""
    codes, sizes = arrays["model.codes"], np.maximum(arrays["term.codes"], 0)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    n_codes = np.array([len(a.values) for a in schema.attributes], dtype=np.int64)
    known = n_codes[arrays["term.attribute"][owner]] if len(codes) else codes
    _need(
        bool(np.all((codes >= 0) & (codes < known))),
        "a term of a linear model has a code that its attribute does not know",
    )
    rising = (codes[1:] > codes[:-1]) | (owner[1:] != owner[:-1])
    _need(bool(np.all(rising)), "a term of a linear model has codes that do not rise")


def _need(holds: bool, what: str) -> None:  # noqa: FBT001
    if not holds:
        raise DamageError(what)


# The place of a form is part of the format.
FORMS: tuple[type[Split], ...] = (Threshold, Groups, Intervals)

_NODE: dict[str, Callable[[Node], int]] = {
    "node.parent": lambda node: -1 if node.parent is None else node.parent,
    "node.branch": lambda node: node.branch,
    "node.depth": lambda node: node.depth,
    "node.rows": lambda node: node.n_rows,
    "node.label": lambda node: node.label,
    "node.reason": lambda node: NO_REASON if node.reason is None else node.reason.code,
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
            Reason.of_code(reason),
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
