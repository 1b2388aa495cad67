"""Every candidate split on one attribute at a node, with its arithmetic.

Textbooks list them: the cuts T_a between neighbouring numbers, the subsets of names.
A model keeps the counts of names by value, so their ways follow from it; of numbers it
keeps the counts at the best cut alone, and the others need the rows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from spinney._support.checks import check_whole
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import interval_text, shown
from spinney.data import Attribute, Schema, Value
from spinney.errors import DataError, ParameterError, Setting, phrase
from spinney.growth import Model
from spinney.growth.plain import CountedNode
from spinney.output.explain.attribute_text import attribute_text
from spinney.output.explain.node_explanation import (
    CandidateLines,
    GivenRows,
    ValueLine,
    candidate_lines,
    checked_node,
    facts_at,
    figures_of,
    search_of,
)
from spinney.search import AllSplits, Form, Search, enumerate_splits, is_same_split
from spinney.trees import CountTable, Node, TableBatch, Tree

LIMIT = 100

# How the ways of each form are called.
NAMES = {
    Form.THRESHOLD: "split points",
    Form.ORDERED: "split points in the order of means",
    Form.PREFIX: "splitting subsets",
    Form.SUBSET: "splitting subsets",
    Form.MULTIWAY: "one branch per value",
    Form.MERGED: "one branch per merged group",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One way to split on an attribute.

    Parameters
    ----------
    lines : CandidateLines
        Its branches and every figure of its merit.
    allowed : bool
        Whether two branches have enough rows.
    best : bool
        Whether it is the one that the search takes of this attribute.
    taken : bool
        Whether the node asks it.
    """

    lines: CandidateLines
    allowed: bool
    best: bool
    taken: bool


@dataclass(frozen=True, slots=True)
class MergeLine:
    """A step of CHAID's merging: two groups of values, p of their test, what was done.

    Each of ``one`` and ``other`` lists values; an interval, of a number.
    """

    one: str
    other: str
    p_value: float
    what: str


@dataclass(frozen=True, slots=True)
class AttributeExplanation(InNotebooks):
    """The ways to split on one attribute at a node.

    ``what`` is how a way is called: a cut, a subset. ``n_ways`` were counted, and those
    that gain most are in ``ways``, in the order of the values; of names that are
    divided in two, ``n_subsets`` exist, and with many values not all are counted:
    ``exact`` says whether none of the others can be better, and ``searched`` whether
    branch and bound has looked for the best among them all. ``values`` are the counts
    by value, of names. ``merging`` is what CHAID did to come to its groups. ``remark``
    says why there is nothing to list, if there is not.
    """

    node: int
    path: tuple[str, ...]
    attribute: str
    kind: str
    target: str
    classes: tuple[Value, ...]
    weights: tuple[float, ...]
    weight: float
    n_rows: int
    criterion: str
    impurity_name: str
    impurity: float | None
    merit_name: str
    altered: tuple[float, ...] | None
    values: tuple[ValueLine, ...]
    what: str
    n_ways: int
    n_subsets: int
    exact: bool
    searched: bool
    ways: tuple[Way, ...]
    merging: tuple[MergeLine, ...] = ()
    remark: str = ""
    given: GivenRows | None = None

    @property
    def best(self) -> Way | None:
        """The way that the search takes; None where none is allowed."""
        return next((way for way in self.ways if way.best), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the list and the arithmetic of its best way, as they read."""
        return attribute_text(self, ascii_only=ascii_only)


def explain_attribute(
    model: Model,
    number: int,
    name: str,
    *,
    limit: int,
    counted: CountedNode | None = None,
    given: GivenRows | None = None,
) -> AttributeExplanation:
    """Return the ways to split on an attribute at a node, and the best of them.

    They follow from the counts that a model keeps, or from ``counted``, the node over
    rows that were ``given``.
    """
    tree = model.tree
    node = checked_node(tree, number)
    index = _index(tree.schema, name)
    check_whole("limit", limit, least=1)
    attribute = tree.schema.attributes[index]
    search = search_of(model)
    if counted is None:
        table = _kept_table(model, node, index, search)
        search = _knowing_root(tree, index, search)
    else:
        node, search = counted.node, counted.search
        table = _counted_table(counted.tables, attribute, index)
    ways = enumerate_splits(search, table, tree.schema, index, max_splits=limit)
    lines = partial(candidate_lines, tree, node, search=search, competes=True)
    return AttributeExplanation(
        **facts_at(tree, node, number, search),
        attribute=attribute.name,
        kind=attribute.kind,
        merit_name=search.criterion.merit_name,
        values=_values(attribute, table.scaled(search.altered), tree),
        what="" if ways.form is None else NAMES[ways.form],
        n_ways=ways.n_splits,
        n_subsets=ways.n_subsets,
        exact=_is_exact(ways),
        searched=ways.searched,
        ways=tuple(
            Way(
                lines(candidate=candidate),
                allowed=ways.allowed[at],
                best=at == ways.best,
                taken=node.split is not None
                and is_same_split(candidate.split, node.split),
            )
            for at, candidate in enumerate(ways.candidates)
        ),
        merging=tuple(
            MergeLine(
                _group_text(attribute, step.one, search, index),
                _group_text(attribute, step.other, search, index),
                step.p,
                step.what,
            )
            for step in ways.steps
        ),
        remark=_remark(attribute, ways),
        given=given,
    )


def _is_exact(ways: AllSplits) -> bool:
    """Return whether no way is better than the best one that is listed."""
    if ways.best is None:
        return all(candidate.exact for candidate in ways.candidates)
    return ways.candidates[ways.best].exact


def _index(schema: Schema, name: object) -> int:
    """Return the index of an attribute, or say that there is none of this name."""
    if not isinstance(name, str):
        raise ParameterError(
            Setting("attribute", name), " must be the name of an attribute"
        )
    try:
        return schema.position(name)
    except DataError as error:
        raise ParameterError(Setting("attribute"), f": {error}") from None


def _needs_rows(attribute: Attribute, node: Node, why: str) -> ParameterError:
    """Return the refusal of a list that only rows can give."""
    return ParameterError(
        Setting("attribute", attribute.name),
        f": at node {node.number} {why}",
        remedy=phrase(
            "pass the training table ({}) to count all splits",
            Setting("data", ...),
        ),
    )


def _kept_table(model: Model, node: Node, index: int, search: Search) -> CountTable:
    """Return the counts by value that a model keeps, or say that it keeps none."""
    attribute = model.schema.attributes[index]
    if attribute.kind == "numeric":
        why = "the model stores counts of a number at its best threshold only"
        raise _needs_rows(attribute, node, why)
    kept = next((c for c in node.candidates if c.attribute == index), None)
    if kept is None or model.member is not None:
        raise _needs_rows(attribute, node, "the model stores no counts by value")
    if search.recipe.forest:
        why = "its splits were found on labels smoothed by a forest"
        raise _needs_rows(attribute, node, why)
    return kept.table


def _counted_table(
    tables: Mapping[int, CountTable], attribute: Attribute, index: int
) -> CountTable:
    """Return the counts of an attribute over rows."""
    if index not in tables:
        raise ParameterError(
            Setting("attribute", attribute.name),
            ": constructed for another node: explain it there",
        )
    return tables[index]


def _knowing_root(tree: Tree, index: int, search: Search) -> Search:
    """Return the search that knows what all rows say of an attribute, if it matters."""
    matters = search.policy.imputes_typical or search.recipe.grouping == "ordered"
    if not matters:
        return search
    kept = next((c for c in tree.root.candidates if c.attribute == index), None)
    if kept is None:
        why = "the model stores no counts over all rows, which decide"
        raise _needs_rows(tree.schema.attributes[index], tree.root, why)
    return search.with_root_tables(TableBatch.of([{index: kept.table}]), tree.schema)


def _values(
    attribute: Attribute, table: CountTable, tree: Tree
) -> tuple[ValueLine, ...]:
    """Return the counts by value, of names; their branch is not decided yet."""
    if attribute.kind == "numeric":
        return ()
    return tuple(
        ValueLine(
            attribute.values[int(code)],
            -1,
            figures_of(weights, target=tree.schema.target),
        )
        for code, weights in zip(table.values, table.weights, strict=True)
    )


def _group_text(
    attribute: Attribute, values: tuple[float, ...], search: Search, index: int
) -> str:
    """Return a group of values, or of buckets, as it reads.

    Missing rows that are merged like a value have NaN, or the code after the last.
    """
    cuts = search.root_summary.cuts[index] if attribute.kind == "numeric" else ()
    n_codes = len(cuts) + 1 if attribute.kind == "numeric" else len(attribute.values)
    known = [int(value) for value in values if value < n_codes]  # NaN is not
    absent = ["missing"] if len(known) < len(values) else []
    if attribute.kind != "numeric" or not known:
        texts = [shown(attribute.values[code]) for code in known]
        return f"{{{', '.join(texts + absent)}}}"
    edges = (-inf, *np.asarray(cuts).tolist(), inf)
    low, high = edges[known[0]], edges[known[-1] + 1]
    text = interval_text(attribute.name, low, high, unit=attribute.unit)
    return " or ".join([text, *absent])


def _remark(attribute: Attribute, ways: AllSplits) -> str:
    """Return why there is nothing to list, or nothing to take."""
    if ways.form is None:
        return "it has at most one known value at this node: no split"
    if not ways.candidates and attribute.kind == "numeric":
        return "its numbers are too close to each other: no split"
    if not ways.candidates:
        return "its values do not differ: no split"
    if ways.best is None:
        return "every split leaves too few rows in a branch"
    return ""
