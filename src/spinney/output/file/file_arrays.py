"""A tree as flat arrays, and back.

Words
-----
candidates, branches, groups, values
    of all nodes, one after another in the order of the nodes.
count
    how many of them belong to each node, candidate or group. Where a count is
    stored, what is counted follows without gaps.

The arrays, with n nodes, m candidates and c classes; of a numeric target, weights
have its 3 moments, and distributions and rows 1 column, instead of c::

    node.parent, node.branch, node.depth, node.rows, node.label      (n,)
    node.reason        ``Reason.code``, -1 at an inner node           (n,)
    node.chosen        index among its candidates, -1 at a leaf      (n,)
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

    node.surrogates    a count                                       (n,)
    node.otherwise     the branch of what nothing sends, or -1       (n,)
    surrogate.attribute, surrogate.form, surrogate.reversed (0 or 1)
    surrogate.agreement, surrogate.adjusted
    surrogate_split.thresholds, .groups, .codes     as those of splits
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema
from spinney.trees import (
    NO_REASON,
    Candidate,
    CountTable,
    FlatModels,
    Groups,
    Intervals,
    LazyNodes,
    Node,
    Split,
    Surrogate,
    SurrogateArrays,
    Term,
    Threshold,
    Tree,
    TreeArrays,
    question_arrays,
    winner_arrays,
)

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")

# The order of forms is part of the format.
FORMS: tuple[type[Split], ...] = (Threshold, Groups, Intervals)

# What has one number for each node, candidate, surrogate or term.
_NODE: dict[str, Callable[[Node], float]] = {
    "node.parent": lambda node: _or(node.parent, -1),
    "node.branch": lambda node: node.branch,
    "node.depth": lambda node: node.depth,
    "node.rows": lambda node: node.n_rows,
    "node.label": lambda node: node.label,
    "node.reason": lambda node: NO_REASON if node.reason is None else node.reason.code,
    "node.chosen": lambda node: _or(node.chosen, -1),
    "node.forced": lambda node: node.forced,
    "node.candidates": lambda node: len(node.candidates),
    "node.surrogates": lambda node: len(node.surrogates),
    "node.otherwise": lambda node: _or(node.otherwise, -1),
    "node.terms": lambda node: -1 if node.model is None else len(node.model.terms),
    "node.intercept": lambda node: 0.0 if node.model is None else node.model.intercept,
}
_CANDIDATE: dict[str, Callable[[Candidate], float]] = {
    "candidate.attribute": lambda candidate: candidate.attribute,
    "candidate.exact": lambda candidate: candidate.exact,
    "candidate.form": lambda candidate: FORMS.index(type(candidate.split)),
    "candidate.missing": lambda candidate: _or(candidate.split.missing, -1),
    "candidate.branches": lambda candidate: candidate.split.n_branches,
    "candidate.values": lambda candidate: len(candidate.table.values),
    "candidate.gain": lambda candidate: candidate.gain,
    "candidate.merit": lambda candidate: candidate.merit,
    "candidate.p_value": lambda candidate: _or(candidate.p_value, np.nan),
}
_SURROGATE: dict[str, Callable[[Surrogate], float]] = {
    "surrogate.attribute": lambda surrogate: surrogate.attribute,
    "surrogate.form": lambda surrogate: FORMS.index(type(surrogate.split)),
    "surrogate.reversed": lambda surrogate: surrogate.reversed,
    "surrogate.agreement": lambda surrogate: surrogate.agreement,
    "surrogate.adjusted": lambda surrogate: surrogate.adjusted,
}
_TERM: dict[str, Callable[[Term], float]] = {
    "term.attribute": lambda term: term.attribute,
    "term.missing": lambda term: term.missing,
    "term.codes": lambda term: -1 if term.codes is None else len(term.codes),
}

_FLOATS = (
    *("node.weights", "node.distribution", "node.intercept"),
    *("candidate.gain", "candidate.merit", "candidate.p_value"),
    *("candidate.missing_weights", "split.thresholds", "split.shares"),
    *("table.numbers", "table.weights"),
    *("surrogate.agreement", "surrogate.adjusted", "surrogate_split.thresholds"),
    *("term.coefficient", "term.missing"),
)
_INTEGERS = (
    *(*_NODE, *_CANDIDATE, *_SURROGATE, *_TERM),
    *("candidate.missing_rows", "split.groups", "split.codes"),
    *("table.codes", "table.rows"),
    *("surrogate_split.groups", "surrogate_split.codes", "model.codes"),
)
DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(_INTEGERS, np.int64),
    **dict.fromkeys(_FLOATS, np.float64),
}

# What older files do not have, as it stands at each node; there is nothing else of it.
_LATER = {"node.surrogates": 0, "node.otherwise": -1, "node.terms": -1}
_LATER_ROOMS = ("surrogate.", "surrogate_split.", "term.", "model.")


def with_defaults(arrays: Arrays) -> Arrays:
    """Return arrays with those that version 1 did not have."""
    if "node.parent" in arrays:
        n_nodes = arrays["node.parent"].size
        rooms = [name for name in DTYPES if name.startswith(_LATER_ROOMS)]
        arrays = {
            **{name: np.empty(0, DTYPES[name]) for name in rooms},
            **{name: np.full(n_nodes, value) for name, value in _LATER.items()},
            "node.intercept": np.zeros(n_nodes),
            **arrays,
        }
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
    surrogates = [surrogate for node in nodes for surrogate in node.surrogates]
    models = [node.model for node in nodes if node.model is not None]
    terms = [term for model in models for term in model.terms]
    arrays = {
        **_columns(_NODE, nodes),
        "node.weights": _lines((node.weights for node in nodes), width),
        "node.distribution": _lines((node.distribution for node in nodes), n_outputs),
        **_columns(_CANDIDATE, candidates),
        "candidate.missing_weights": _lines((t.missing for t in tables), width),
        "candidate.missing_rows": _lines((t.missing_rows for t in tables), n_outputs),
        "split.shares": _floats(chain.from_iterable(split.shares for split in splits)),
        **_flatten_splits(splits, "split"),
        **_flatten_values(candidates, tree.schema),
        "table.weights": _lines((table.weights for table in tables), width),
        "table.rows": _lines((table.rows for table in tables), n_outputs),
        **_columns(_SURROGATE, surrogates),
        **_flatten_splits([each.split for each in surrogates], "surrogate_split"),
        **_columns(_TERM, terms),
        "term.coefficient": _floats(c for model in models for c in model.coefficients),
        "model.codes": _integers(code for term in terms for code in term.codes or ()),
    }
    return {
        name: np.ascontiguousarray(arrays[name], dtype=DTYPES[name])
        for name in sorted(DTYPES)
    }


def _columns(
    fields: Mapping[str, Callable[[T], float]], items: Sequence[T]
) -> dict[str, NDArray[Any]]:
    """Return one array for each of the fields, over all items."""
    return {
        name: np.fromiter(map(read, items), dtype=DTYPES[name])
        for name, read in fields.items()
    }


def _or(number: float | None, none: float) -> float:
    return none if number is None else number


def _flatten_splits(splits: Sequence[Split], room: str) -> dict[str, NDArray[Any]]:
    """Return the cuts, groups and codes of splits, as arrays of one room."""
    groups = [
        group for split in splits if isinstance(split, Groups) for group in split.groups
    ]
    return {
        f"{room}.thresholds": _floats(chain.from_iterable(map(_cuts_of, splits))),
        f"{room}.groups": _integers(map(len, groups)),
        f"{room}.codes": _integers(chain.from_iterable(groups)),
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


def unflatten(arrays: Arrays, schema: Schema) -> Tree:
    """Return the tree of arrays that have been checked."""
    return Tree(schema, FileNodes(arrays, schema))


@dataclass(frozen=True, eq=False)
class FileNodes(LazyNodes):
    """The nodes of a file, each made when it is first asked for."""

    file: Arrays
    schema: Schema
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.file["node.parent"])

    def _arrays(self) -> TreeArrays:
        file, chosen = self.file, self.file["node.chosen"]
        lines = np.where(chosen < 0, -1, self._first_candidate + chosen).tolist()
        return TreeArrays(
            **winner_arrays([None if at < 0 else self._candidate(at) for at in lines]),
            parent=file["node.parent"],
            weights=file["node.weights"],
            rows=file["node.rows"],
            reason=file["node.reason"].astype(np.int8),
            outputs=file["node.distribution"],
            forced=file["node.forced"].astype(np.bool_),
            otherwise=file["node.otherwise"],
            surrogates=_surrogates(file),
            models=_models(file),
        )

    def candidates(self, number: int) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the candidates of a node, and which of them won."""
        first, chosen = self._first_candidate[number], self.file["node.chosen"][number]
        lines = range(first, first + self.file["node.candidates"][number])
        own = tuple(map(self._candidate, lines))
        return own, None if chosen < 0 else int(chosen)

    def _candidate(self, at: int) -> Candidate:
        file = self.file
        p_value = float(file["candidate.p_value"][at])
        return Candidate(
            self._splits.split(at),
            self._table(at),
            float(file["candidate.gain"][at]),
            float(file["candidate.merit"][at]),
            bool(file["candidate.exact"][at]),
            None if np.isnan(p_value) else p_value,
        )

    def _table(self, at: int) -> CountTable:
        file, count = self.file, self.file["candidate.values"][at]
        first, first_value = self._first_lines[0][at], self._first_lines[1][at]
        name = "table.numbers" if self._numeric[at] else "table.codes"
        lines = slice(first, first + count)
        return CountTable(
            file[name][first_value : first_value + count],
            file["table.weights"][lines],
            file["table.rows"][lines],
            file["candidate.missing_weights"][at],
            file["candidate.missing_rows"][at],
        )

    @cached_property
    def _first_candidate(self) -> Integers:
        return starts_of(self.file["node.candidates"])

    @cached_property
    def _numeric(self) -> NDArray[np.bool_]:
        return numeric(self.file, self.schema)

    @cached_property
    def _first_lines(self) -> tuple[Integers, Integers]:
        """Where the counts of candidates begin, and where their values do."""
        counts, numeric = self.file["candidate.values"], self._numeric
        of_numbers = starts_of(np.where(numeric, counts, 0))
        of_codes = starts_of(np.where(numeric, 0, counts))
        return starts_of(counts), np.where(numeric, of_numbers, of_codes)

    @cached_property
    def _splits(self) -> "Splits":
        return splits_of(self.file, "candidate", "split")


def _models(arrays: Arrays) -> FlatModels | None:
    """Return the models of all nodes, from arrays that have been checked."""
    counts, sizes = arrays["node.terms"], arrays["term.codes"]
    if (counts < 0).all():
        return None
    owner = np.repeat(np.arange(len(sizes)), sizes.clip(0))
    codes = arrays["model.codes"]
    ends = sizes.clip(-1, 0)
    np.maximum.at(ends, owner, codes + 1)
    first_code = 1 + ends.clip(0).cumsum() - ends.clip(0)
    lookup = np.zeros(1 + ends.clip(0).sum())
    lookup[first_code[owner] + codes] = 1.0
    return FlatModels(
        has=counts >= 0,
        intercept=arrays["node.intercept"],
        first=counts.clip(0).cumsum() - counts.clip(0),
        count=counts.clip(0),
        attribute=arrays["term.attribute"],
        coefficient=arrays["term.coefficient"],
        missing=arrays["term.missing"],
        first_code=first_code,
        codes=ends,
        lookup=lookup,
    )


def _surrogates(arrays: Arrays) -> SurrogateArrays | None:
    """Return the surrogates of all nodes."""
    attribute = arrays["surrogate.attribute"]
    if not len(attribute):
        return None
    splits = splits_of(arrays, "surrogate", "surrogate_split")
    fields = question_arrays([splits.split(line) for line in range(len(attribute))])
    return SurrogateArrays(
        **fields,
        count=arrays["node.surrogates"],
        agreement=arrays["surrogate.agreement"],
        adjusted=arrays["surrogate.adjusted"],
        reversed=arrays["surrogate.reversed"].astype(np.bool_),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Splits:
    """Splits as files have them, one after another.

    ``missing`` is the branch of missing values, or -1; those of surrogates divide no
    row and have no ``shares``. ``groups`` has a count of ``codes`` for each branch of a
    split that groups them.
    """

    attribute: Integers
    form: Integers
    n_branches: Integers
    missing: Integers
    thresholds: Floats
    groups: Integers
    codes: Integers
    shares: Floats | None = None

    @property
    def grouped(self) -> NDArray[np.bool_]:
        """Which splits are groups of codes."""
        return np.asarray(self.form == FORMS.index(Groups))

    @cached_property
    def n_cuts(self) -> Integers:
        """How many thresholds each split has."""
        return np.where(self.grouped, 0, self.n_branches - 1)

    @cached_property
    def n_groups(self) -> Integers:
        """How many groups each split has."""
        return np.where(self.grouped, self.n_branches, 0)

    @cached_property
    def _starts(self) -> tuple[Integers, ...]:
        counts = (self.n_cuts, self.n_groups, self.groups, self.n_branches)
        return tuple(map(starts_of, counts))

    def split(self, line: int) -> Split:
        """Return a split."""
        of_cuts, of_groups, _, of_shares = self._starts
        attribute, size = int(self.attribute[line]), int(self.n_branches[line])
        shares: tuple[float, ...] = ()
        if self.shares is not None:
            first = of_shares[line]
            shares = tuple(self.shares[first : first + size].tolist())
        missing = int(self.missing[line])
        to = None if missing < 0 else missing
        form = FORMS[self.form[line]]
        if form is Groups:
            own = range(of_groups[line], of_groups[line] + size)
            return Groups(attribute, tuple(map(self._group, own)), shares, to)
        first = of_cuts[line]
        cuts = self.thresholds[first : first + size - 1].tolist()
        if form is Intervals:
            return Intervals(attribute, tuple(cuts), shares, to)
        return Threshold(attribute, cuts[0], shares, to)

    def _group(self, at: int) -> tuple[int, ...]:
        first = self._starts[2][at]
        return tuple(self.codes[first : first + self.groups[at]].tolist())


def splits_of(arrays: Arrays, of: str, room: str) -> Splits:
    """Return the splits of candidates, or of surrogates, which have two branches."""
    n = len(arrays[f"{of}.attribute"])
    return Splits(
        attribute=arrays[f"{of}.attribute"],
        form=arrays[f"{of}.form"],
        n_branches=arrays.get(f"{of}.branches", np.full(n, 2)),
        missing=arrays.get(f"{of}.missing", np.full(n, -1)),
        thresholds=arrays[f"{room}.thresholds"],
        groups=arrays[f"{room}.groups"],
        codes=arrays[f"{room}.codes"],
        shares=arrays.get(f"{room}.shares"),
    )


def numeric(arrays: Arrays, schema: Schema) -> NDArray[np.bool_]:
    """Return which candidates ask about a numeric attribute."""
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], dtype=bool)
    return np.asarray(kinds[arrays["candidate.attribute"]])


def starts_of(counts: Integers) -> Integers:
    """Return where what is counted begins, one after another without gaps."""
    return np.asarray(counts.cumsum() - counts)
