"""All candidate splits on one attribute at a node, with their arithmetic.

Textbooks list them: the thresholds T_a between neighbouring numbers, the subsets of
categories. A model stores the counts of categories by value, which give all splits; of
numbers it stores the counts at the best threshold, and the others need the rows.
"""

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

# The names of the splits of each form.
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
    """A candidate split on an attribute.

    Parameters
    ----------
    lines : CandidateLines
        Its branches and the figures of its merit.
    allowed : bool
        Whether two branches have enough rows.
    best : bool
        Whether it is the best split on this attribute.
    taken : bool
        Whether it is the split of the node.
    """

    lines: CandidateLines
    allowed: bool
    best: bool
    taken: bool


@dataclass(frozen=True, slots=True)
class MergeLine:
    """A step of CHAID's merging: two groups of values, the p of their test, the result.

    ``one`` and ``other`` list values, or are intervals of a number.
    """

    one: str
    other: str
    p_value: float
    what: str


@dataclass(frozen=True, slots=True)
class AttributeExplanation(InNotebooks):
    """The candidate splits on one attribute at a node.

    ``what`` is the name of the splits. ``n_ways`` were counted, and those of highest
    gain are in ``ways``, in the order of the values. Categories have ``n_subsets``
    binary splits; with many values not all are counted: ``exact`` says that no other
    is better, ``searched`` that branch and bound has searched all. ``values`` are the
    counts by category, ``merging`` the steps of CHAID. ``remark`` is the reason if
    there are no splits.
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
        """The best split; None if none is allowed."""
        return next((way for way in self.ways if way.best), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the list and the arithmetic of the best split as text."""
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
    """Return the candidate splits on an attribute at a node.

    They follow from the counts of the model, or from ``counted``, the node on ``given``
    rows.
    """
    tree = model.tree
    node = checked_node(tree, number)
    index = _index(tree.schema, name)
    check_whole("limit", limit, least=1)
    attribute = tree.schema.attributes[index]
    search = search_of(model)
    if counted is None:
        table = _stored_table(model, node, index, search)
        search = _with_root_table(tree, index, search)
    else:
        node, search = counted.node, counted.search
        if index not in counted.tables:
            raise ParameterError(
                Setting("attribute", name),
                ": constructed for another node: explain it there",
            )
        table = counted.tables[index]
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
    """Return whether no split is better than the best one listed."""
    if ways.best is None:
        return all(candidate.exact for candidate in ways.candidates)
    return ways.candidates[ways.best].exact


def _index(schema: Schema, name: object) -> int:
    """Return the index of an attribute by its name."""
    if not isinstance(name, str):
        raise ParameterError(
            Setting("attribute", name), " must be the name of an attribute"
        )
    try:
        return schema.position(name)
    except DataError as error:
        raise ParameterError(Setting("attribute"), f": {error}") from None


def _needs_rows(attribute: Attribute, node: Node, why: str) -> ParameterError:
    """Return the error for splits that need the training rows."""
    return ParameterError(
        Setting("attribute", attribute.name),
        f": at node {node.number} {why}",
        remedy=phrase(
            "pass the training table ({}) to count all splits",
            Setting("data", ...),
        ),
    )


def _stored_table(model: Model, node: Node, index: int, search: Search) -> CountTable:
    """Return the counts by value that a model stores; refuse an attribute without."""
    attribute = model.schema.attributes[index]
    if attribute.kind == "numeric":
        why = "the model stores counts of a number at its best threshold only"
        raise _needs_rows(attribute, node, why)
    stored = next((c for c in node.candidates if c.attribute == index), None)
    if stored is None or model.member is not None:
        raise _needs_rows(attribute, node, "the model stores no counts by value")
    if search.recipe.forest:
        why = "its splits were found on labels smoothed by a forest"
        raise _needs_rows(attribute, node, why)
    return stored.table


def _with_root_table(tree: Tree, index: int, search: Search) -> Search:
    """Return the search with the counts of an attribute at the root, if needed."""
    if not (search.policy.imputes_typical or search.recipe.grouping == "ordered"):
        return search
    stored = next((c for c in tree.root.candidates if c.attribute == index), None)
    if stored is None:
        why = "the model stores no counts over all rows, which decide"
        raise _needs_rows(tree.schema.attributes[index], tree.root, why)
    return search.with_root_tables(TableBatch.of([{index: stored.table}]), tree.schema)


def _values(
    attribute: Attribute, table: CountTable, tree: Tree
) -> tuple[ValueLine, ...]:
    """Return the counts of each category, without branches; none for numbers."""
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
    """Return a group of values or buckets as text.

    Missing values that are merged like a value are NaN, or the code after the last.
    """
    cuts = search.root_summary.cuts[index] if attribute.kind == "numeric" else ()
    n_codes = len(cuts) + 1 if attribute.kind == "numeric" else len(attribute.values)
    codes = [int(value) for value in values if value < n_codes]  # true except for NaN
    missing = ["missing"] if len(codes) < len(values) else []
    if attribute.kind != "numeric" or not codes:
        texts = [shown(attribute.values[code]) for code in codes]
        return f"{{{', '.join(texts + missing)}}}"
    edges = (-inf, *np.asarray(cuts).tolist(), inf)
    low, high = edges[codes[0]], edges[codes[-1] + 1]
    interval = interval_text(attribute.name, low, high, unit=attribute.unit)
    return " or ".join([interval, *missing])


def _remark(attribute: Attribute, ways: AllSplits) -> str:
    """Return why there is no split, or none that is allowed."""
    if ways.form is None:
        return "it has at most one known value at this node: no split"
    if not ways.candidates and attribute.kind == "numeric":
        return "its numbers are too close to each other: no split"
    if not ways.candidates:
        return "its values do not differ: no split"
    if ways.best is None:
        return "every split leaves too few rows in a branch"
    return ""
