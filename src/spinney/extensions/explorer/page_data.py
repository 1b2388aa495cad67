"""Any fitted model as the data of its page, and what of it the page contains.

Aggregates only: counts, splits, merits, and of a table that is given the errors and
histograms. Rows are there where a table of them is given to be shown.
What would make a page too large is left out from the small nodes up, and said so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np

from spinney import registry
from spinney._support.arrays import Integers
from spinney._support.text import shown
from spinney._version import __version__
from spinney.data import Fingerprint, Schema, Table
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.extensions.explorer.packed_numbers import packed
from spinney.extensions.explorer.row_data import (
    MAX_ROWS,
    RowsGiven,
    cells_data,
    leaf_rows,
    rows_data,
)
from spinney.extensions.explorer.schema_data import schema_data
from spinney.extensions.explorer.tree_data import (
    candidate_data,
    digits_of,
    histogram_data,
    nodes_data,
    record_data,
    sequence_data,
)
from spinney.extensions.pictures.node_histograms import BINS, Histogram, node_histograms
from spinney.growth import Model
from spinney.growth.forest import (
    Forest,
    find_typical_tree,
    forest_leaves,
    impurity_importances,
    trees_by_similarity,
)
from spinney.growth.prune import EncodedRows
from spinney.output.explain import explain_node
from spinney.output.file import saved_content
from spinney.output.leaf_rules import model_lines
from spinney.recipes import Recipe
from spinney.trees import (
    CandidateArrays,
    Reason,
    Tree,
)
from spinney.trees.predict import flatten

KINDS = ("tree", "forest", "clusters")
MOST_MODELS = 500  # linear models of leaves that are written out
VERSION = 1
MOST_NODES = 250_000
# Of a page: numbers in count tables, explained nodes, signs in their texts.
MOST_COUNTS, MOST_EXPLAINED, MOST_SIGNS = 300_000, 64, 300_000
MOST_BINS = 60_000  # numbers in histograms
# Of a forest.
MOST_TREES, MOST_FOREST_NODES = 200, 60_000


def explorer_data(
    models: Sequence[Any], *, rows: Any = None, data: Any = None
) -> dict[str, Any]:
    """Return the data of a page for one fitted model, or for two side by side.

    Parameters
    ----------
    models : sequence of one or two fitted models
        Trees, forests or clusters.
    rows : table, optional
        Whose rows the page shows behind nodes; read as each model reads tables.
    data : table, optional
        In its place: a table of which the page has aggregates and no row.
    """
    if rows is not None and data is not None:
        raise ParameterError(
            Setting("rows"),
            (" and ", Setting("data"), " both give rows"),
            remedy="leave one out: with data the page has aggregates of them only",
        )
    for model in models:
        kind = getattr(model, "kind", type(model).__name__)
        if kind not in KINDS and not registry.is_known("page", kind):
            msg = f"a page shows a model of the kind {', '.join(KINDS)}, not {kind!r}"
            raise ParameterError(msg)
        if kind == "clusters" and data is not None:
            raise refusal(
                Setting("data"),
                "says nothing of clusters",
                phrase("give the rows ({}), to be in the page", Setting("rows", ...)),
            )
    return {
        "format": f"spinney/explorer/{VERSION}",
        "made_by": f"spinney {__version__}",
        "models": [
            _model_data(model, rows if data is None else data, with_rows=data is None)
            for model in models
        ],
    }


def _model_data(model: Any, rows: Any, *, with_rows: bool) -> dict[str, Any]:
    given = None if rows is None else model.read(rows)
    if model.kind == "forest":
        return _forest_data(model.forest_, given, with_rows=with_rows)
    if model.kind == "tree":
        return _tree_model_data(model.model_, given, with_rows=with_rows)
    page = registry.load("page", model.kind)
    other: dict[str, Any] = page(saved_content(model), given)
    return other


def _tree_model_data(
    model: Model, table: Table | None, *, with_rows: bool
) -> dict[str, Any]:
    tree, schema = model.tree, model.schema
    criterion = model.recipe.measure(numeric=schema.target.is_numeric)
    if len(tree) > MOST_NODES:
        msg = (
            f"the tree has {len(tree)} nodes, and a page takes at most {MOST_NODES}: "
            "prune it, or grow it with fewer leaves"
        )
        raise ParameterError(msg)
    arrays, candidates = tree.arrays, tree.nodes.candidate_arrays
    weight = arrays.weight(schema.target)
    order = np.argsort(-weight, kind="stable")
    kept = _nodes_within(candidates, order, schema)
    texts, given = _explanations(model, order), None
    if table is not None:
        given = leaf_rows(table, schema, flatten(tree))
    coded = _coded(given)
    histograms = _histograms(tree, coded, order)
    return {
        "kind": "tree",
        **_about(schema, model.fingerprint, model.recipe),
        "merit": criterion.merit_name,
        "schema": schema_data(schema),
        "tree": {
            **nodes_data(arrays, schema.target),
            "digits": packed(digits_of(arrays, candidates)),
            "candidates": candidate_data(candidates, kept),
            "explained": texts,
            "sequence": sequence_data(tree, coded),
            "histograms": histogram_data(histograms, schema.target.width),
        },
        "record": record_data(model.sequence),
        "names": {str(node): name for node, name in tree.model_names.items()},
        "models": _models(tree, order),
        "rows": rows_data(given) if given is not None and with_rows else None,
        "contains": {
            "nodes": len(tree),
            "histograms": len(histograms),
            "counted": 0 if coded is None else len(coded.targets),
            "candidates": len(kept),
            "explained": len(texts),
            "models": min(len(tree.model_names), MOST_MODELS),
            "of_models": len(tree.model_names),
        },
    }


def _models(tree: Tree, order: Integers) -> dict[str, str]:
    """Return how the linear models of the heaviest leaves read, each in a line."""
    with_models = [node for node in order.tolist() if node in tree.model_names]
    lines = model_lines(tree, {*with_models[:MOST_MODELS]}, room=inf)
    return {str(node): line for node, line in lines.items()}


def _about(schema: Schema, origin: Fingerprint, *recipes: Recipe) -> dict[str, Any]:
    return {
        "title": shown(schema.target.name),
        "reasons": [str(each) for each in sorted(Reason, key=lambda each: each.code)],
        "recipe": ", ".join(recipe.name for recipe in recipes),
        "grown_on": {"rows": origin.n_rows, "weight": origin.weight},
    }


def _nodes_within(
    candidates: CandidateArrays, order: Integers, schema: Schema
) -> Integers:
    """Return the nodes, the heaviest first, whose candidates a page has room for."""
    of_candidate = candidates.n_values * (schema.target.width + 1) + 8
    ends = np.append(0, of_candidate.cumsum())
    last = candidates.count.cumsum()
    size = ends[last] - ends[last - candidates.count]
    some = order[size[order].cumsum() <= MOST_COUNTS]
    return np.sort(some[candidates.count[some] > 0])


def _explanations(model: Model, order: Integers) -> dict[str, str]:
    """Return the arithmetic of the heaviest nodes, as ``explain`` prints it."""
    texts: dict[str, str] = {}
    room = MOST_SIGNS
    for node in order[:MOST_EXPLAINED].tolist():
        text = explain_node(model, node).text()
        room -= len(text)
        if room < 0:
            break
        texts[str(node)] = text
    return texts


def _histograms(
    tree: Tree, rows: EncodedRows | None, order: Integers
) -> Mapping[int, Histogram]:
    """Return histograms of rows at the heaviest nodes that ask for numbers."""
    if rows is None:
        return {}
    most = MOST_BINS // (BINS * tree.schema.target.width)
    arrays = tree.arrays
    cut = arrays.inner & np.isfinite(arrays.cut)
    return node_histograms(tree, rows, order[cut[order]][:most].tolist())


def _coded(given: RowsGiven | None) -> EncodedRows | None:
    """Return the rows given whose target is known; None without their target."""
    if given is None or given.targets is None:
        return None
    known = given.known
    columns: list[Any] = [
        None if cells is None else cells[known] for cells in given.columns
    ]
    targets = given.targets[known]
    return EncodedRows(columns, targets, np.ones(len(targets)))


def _forest_data(
    forest: Forest, table: Table | None, *, with_rows: bool
) -> dict[str, Any]:
    schema, importances = forest.schema, impurity_importances(forest)
    typical, leaves = forest.typical, None
    if table is not None:
        columns = schema.encode(table, forest.needed)
        leaves = forest_leaves(forest, columns, table.n_rows)
        if typical is None and table.n_rows:
            typical = find_typical_tree(forest, columns, table.n_rows)
    order = trees_by_similarity(importances)
    if typical is not None:
        order = np.append(typical.number, order[order != typical.number])
    sizes = np.array([len(member) for member in forest.members])
    within = sizes[order].cumsum() <= max(MOST_FOREST_NODES, int(sizes[order[0]]))
    chosen = order[within][:MOST_TREES]
    trees = []
    for number in chosen.tolist():
        arrays = forest.flat_tree(number).arrays
        data: dict[str, Any] = {"tree": nodes_data(arrays, schema.target)}
        if leaves is not None and with_rows:
            data["leaf"] = packed(leaves[:MAX_ROWS, number])
        trees.append({"number": number, **data})
    return {
        "kind": "forest",
        **_about(schema, forest.fingerprint, *forest.recipes),
        "schema": schema_data(schema),
        "trees": trees,
        "typical": None if typical is None else asdict(typical),
        "votes_by_probability": forest.votes_by_probability,
        "importances": {
            "mean": importances.mean.tolist(),
            "spread": importances.spread.tolist(),
            "by_tree": packed(importances.by_tree[chosen]),
        },
        "rows": cells_data(table) if table is not None and with_rows else None,
        "sizes": {
            "trees": len(forest),
            "nodes": packed(sizes[chosen]),
            "leaves": packed([forest.members[n].n_leaves for n in chosen]),
        },
        "contains": {
            "trees": len(chosen),
            "of_trees": len(forest),
            "nodes": int(sizes[chosen].sum()),
        },
    }
