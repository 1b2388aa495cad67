"""The model that JSON describes, before anything relies on it.

Here types and names are checked, so that a tree can be made; whether it is one is
for :mod:`spinney.files.model_check` to say.
"""

import math
from collections.abc import Sized
from typing import Any

import numpy as np

from spinney.counts import CountTable, Floats, Integers
from spinney.files.model_check import MAX_NODES, check_tree
from spinney.files.model_header import (
    ADDED,
    FORMAT,
    FORMAT_VERSION,
    KEYS,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.files.plain import check_format, listed, members, number, text, whole
from spinney.files.strict_json import DamageError
from spinney.linear import LinearModel, Term
from spinney.model import Model
from spinney.schema import Schema
from spinney.split import Groups, Intervals, Split, Surrogate, Threshold
from spinney.table import Value, level_order
from spinney.tree import Candidate, Node, Reason, Tree

__all__ = ["read_model"]

_NODE = (
    "number",
    "parent",
    "branch",
    "condition",
    "depth",
    "rows",
    "weights",
    "distribution",
    "label",
    "split",
    "chosen",
    "children",
    "reason",
    "forced",
    "model",
    "surrogates",
    "otherwise",
    "candidates",
)
_MODEL = ("intercept", "terms")
_TERM = ("attribute", "values", "coefficient", "missing")
# What earlier versions did not have, and what it stood for.
_NODE_ADDED: dict[str, Any] = {"model": None, "surrogates": [], "otherwise": None}
_SPLIT = ("attribute", "asks", "threshold", "groups", "cuts", "shares", "missing")
_CANDIDATE = ("split", "gain", "merit", "exact", "p_value", "table")
_SURROGATE = ("split", "reversed", "agreement", "adjusted")
_TABLE = ("values", "weights", "rows", "missing", "missing_rows")
_REASONS = {reason.name.lower(): reason for reason in Reason}


def read_model(data: Any) -> Model:
    """Return the model, or raise DamageError."""
    check_format(data, FORMAT, FORMAT_VERSION)
    keys = ("format", "version", *KEYS, "nodes")
    data = {**ADDED, **members(data, "the model", keys, defaults=ADDED)}
    schema = read_schema(data)
    recipe = read_recipe(data["recipe"])
    fingerprint = read_fingerprint(data["fingerprint"])
    entries = listed(data["nodes"], "the nodes")
    if len(entries) > MAX_NODES:
        msg = f"it has more than {MAX_NODES} nodes"
        raise DamageError(msg)
    reader = _Reader(schema)
    tree = Tree(schema, tuple(map(reader.node, entries)))
    check_tree(tree)
    return Model(tree, recipe, fingerprint)


def _key(value: object) -> tuple[str, Value] | None:
    """Return what a value is known by; None if it is no value."""
    return level_order(value) if isinstance(value, (str, bool, int, float)) else None


class _Reader:
    """Reads nodes over one schema; checks types, but not what they say."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.classes = {_key(v): code for code, v in enumerate(schema.target.classes)}
        self.places = {a.name: place for place, a in enumerate(schema.attributes)}
        self.codes = [
            {_key(value): code for code, value in enumerate(attribute.values)}
            for attribute in schema.attributes
        ]

    def node(self, data: object) -> Node:
        """Return a node."""
        given = members(data, "a node", _NODE, defaults=_NODE_ADDED)
        entry = {**_NODE_ADDED, **given}
        candidates = listed(entry["candidates"], "the candidates")
        chosen = _optional(entry["chosen"], "what is chosen")
        label = self.label(entry["label"])
        text(entry["condition"], "a condition")
        read = Node(
            whole(entry["number"], "the number of a node"),
            _optional(entry["parent"], "the parent of a node"),
            whole(entry["branch"], "the branch of a node"),
            whole(entry["depth"], "the depth of a node"),
            self.vector(entry["weights"], "the weights of a node"),
            whole(entry["rows"], "the rows of a node"),
            self.outputs(entry["distribution"], "the distribution of a node"),
            label,
            tuple(map(self.candidate, candidates)),
            chosen,
            tuple(
                whole(child, "a child")
                for child in listed(entry["children"], "the children")
            ),
            _reason(entry["reason"]),
            _truth(entry["forced"], "the mark (forced)"),
            self.model(entry["model"]),
            tuple(map(self.surrogate, listed(entry["surrogates"], "the surrogates"))),
            _optional(entry["otherwise"], "the branch of what is missing"),
        )
        shown = None
        if chosen is not None and chosen < len(candidates):
            shown = candidates[chosen]["split"]
        if entry["split"] != shown:
            msg = f"the split of node {read.number} is not the candidate that it chose"
            raise DamageError(msg)
        return read

    def model(self, data: object) -> LinearModel | None:
        """Return a linear model, if there is one."""
        if data is None:
            return None
        entry = members(data, "a linear model", _MODEL)
        terms, coefficients = [], []
        for line in listed(entry["terms"], "the terms of a linear model"):
            term = members(line, "a term", _TERM)
            place = self.place(term["attribute"], "a term")
            codes = None
            if term["values"] is not None:
                codes = self.coded(term["values"], place, "a term")
            terms.append(Term(place, codes, number(term["missing"], "a term")))
            coefficients.append(number(term["coefficient"], "a coefficient"))
        intercept = number(entry["intercept"], "an intercept")
        return LinearModel(intercept, tuple(terms), tuple(coefficients))

    def place(self, data: object, what: str) -> int:
        """Return the place of an attribute that is asked for by name."""
        name = text(data, f"the attribute of {what}")
        if name not in self.places:
            msg = f"{what} asks about {name[:80]!r}, which is no attribute"
            raise DamageError(msg)
        return self.places[name]

    def candidate(self, data: object) -> Candidate:
        """Return a candidate."""
        entry = members(data, "a candidate", _CANDIDATE, defaults=("p_value",))
        p_value = entry.get("p_value")
        split = self.split(entry["split"])
        return Candidate(
            split,
            self.table(entry["table"], split.attribute),
            number(entry["gain"], "a gain"),
            number(entry["merit"], "a merit"),
            _truth(entry["exact"], "the mark (exact)"),
            None if p_value is None else number(p_value, "a p-value"),
        )

    def surrogate(self, data: object) -> Surrogate:
        """Return a surrogate."""
        entry = members(data, "a surrogate", _SURROGATE)
        return Surrogate(
            self.split(entry["split"], n_shares=0),
            number(entry["agreement"], "an agreement"),
            number(entry["adjusted"], "an adjusted agreement"),
            _truth(entry["reversed"], "the mark (reversed)"),
        )

    def split(self, data: object, *, n_shares: int | None = None) -> Split:
        """Return a split; what it asks tells which keys it has.

        It has a share a branch, or ``n_shares``.
        """
        forms = ("threshold", "groups", "cuts")
        entry = members(data, "a split", _SPLIT, defaults=forms)
        place = self.place(entry["attribute"], "a split")
        shares = tuple(
            number(share, "a share") for share in listed(entry["shares"], "the shares")
        )
        missing = _optional(entry["missing"], "the branch of missing values")
        if entry["asks"] == "groups" and "threshold" not in entry:
            groups = tuple(
                self.coded(group, place, "a group")
                for group in listed(entry.get("groups"), "the groups")
            )
            wanted = len(groups) if n_shares is None else n_shares
            _same_length(shares, range(wanted), "the shares of a split")
            return Groups(place, groups, shares, missing)
        if entry["asks"] == "intervals" and not {"threshold", "groups"} & entry.keys():
            cuts = _cuts(entry.get("cuts"))
            _same_length(shares, (0, *cuts), "the shares of a split")
            return Intervals(place, cuts, shares, missing)
        wanted = 2 if n_shares is None else n_shares
        _same_length(shares, range(wanted), "the shares of a threshold")
        if not {"groups", "cuts"} & entry.keys() and "threshold" in entry:
            if entry["asks"] == "known" and entry["threshold"] is None:
                return Threshold(place, math.inf, shares, missing)
            if entry["asks"] == "threshold":
                cut = number(entry["threshold"], "a threshold")
                return Threshold(place, cut, shares, missing)
        msg = "a split must ask for a threshold, groups, intervals or what is known"
        raise DamageError(msg)

    def table(self, data: object, place: int) -> CountTable:
        """Return a count table."""
        entry = members(data, "a count table", _TABLE)
        what = "a count table"
        if self.schema.attributes[place].kind == "numeric":
            numbers = listed(entry["values"], f"the values of {what}")
            values = np.array([number(value, "a value") for value in numbers])
        else:
            codes = self.coded(entry["values"], place, f"the values of {what}")
            values = np.array(codes, dtype=np.int64)
        target, n_lines = self.schema.target, len(values)
        weights = [self.vector(v, what) for v in listed(entry["weights"], what)]
        rows = [self.rows(line, what) for line in listed(entry["rows"], what)]
        _same_length(weights, values, what)
        _same_length(rows, values, what)
        return CountTable(
            values,
            np.array(weights, dtype=np.float64).reshape(n_lines, target.width),
            np.array(rows, dtype=np.int64).reshape(n_lines, target.n_outputs),
            self.vector(entry["missing"], what),
            self.rows(entry["missing_rows"], what),
        )

    def coded(self, data: object, place: int, what: str) -> tuple[int, ...]:
        """Return the codes of values."""
        codes = [self.codes[place].get(_key(value)) for value in listed(data, what)]
        if None in codes:
            msg = f"{what} has a value that its attribute does not know"
            raise DamageError(msg)
        return tuple(code for code in codes if code is not None)

    def vector(self, data: object, what: str) -> Floats:
        """Return the weights of classes, or the moments of a number."""
        return self._cells(data, what, self.schema.target.width)

    def outputs(self, data: object, what: str) -> Floats:
        """Return what a node predicts: one number a class, or the one number."""
        return self._cells(data, what, self.schema.target.n_outputs)

    def _cells(self, data: object, what: str, n: int) -> Floats:
        cells = [number(cell, what) for cell in listed(data, what)]
        _same_length(cells, range(n), what)
        return np.array(cells)

    def label(self, data: object) -> int:
        """Return the code of a class; 0 where the target is a number."""
        if self.schema.target.is_numeric and data is None:
            return 0
        label = self.classes.get(_key(data))
        if label is None:
            msg = "the label of a node is none of the classes"
            raise DamageError(msg)
        return label

    def rows(self, data: object, what: str) -> Integers:
        """Return one count of rows a class, or of all."""
        cells = [whole(cell, what) for cell in listed(data, what)]
        _same_length(cells, range(self.schema.target.n_outputs), what)
        return np.array(cells, dtype=np.int64)


def _cuts(data: object) -> tuple[float, ...]:
    """Return cuts; nothing in the last place stands for ∞."""
    cuts = listed(data, "the cuts")
    known = [number(cut, "a cut") for cut in cuts[:-1]]
    last = [math.inf if cut is None else number(cut, "a cut") for cut in cuts[-1:]]
    return (*known, *last)


def _optional(data: object, what: str) -> int | None:
    return None if data is None else whole(data, what)


def _truth(data: object, what: str) -> bool:
    if not isinstance(data, bool):
        msg = f"{what} must be true or false"
        raise DamageError(msg)
    return data


def _reason(data: object) -> Reason | None:
    if data is None:
        return None
    if not isinstance(data, str) or data not in _REASONS:
        msg = f"a node has an unknown reason {str(data)[:80]!r}"
        raise DamageError(msg)
    return _REASONS[data]


def _same_length(found: Sized, wanted: Sized, what: str) -> None:
    if len(found) != len(wanted):
        msg = f"{what} must have {len(wanted)} entries, not {len(found)}"
        raise DamageError(msg)
