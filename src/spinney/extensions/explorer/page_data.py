"""The page data of any fitted model.

The page has aggregates only: counts, splits, merits, and the errors and histograms of a
table, if given. It has rows only if ``rows`` is given. Data that would make the page
too large is left out, smallest nodes first, and the page says so.
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
from spinney.extensions.explorer.quality_data import quality_data, tested_data
from spinney.extensions.explorer.row_data import (
    MAX_ROWS,
    TableRows,
    cells_data,
    leaf_rows,
    read_with_key,
    rows_data,
    with_key,
)
from spinney.extensions.explorer.schema_data import schema_data
from spinney.extensions.explorer.tree_data import (
    candidate_data,
    cut_digits,
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
    importances_of,
)
from spinney.trees.predict import flatten

KINDS = ("tree", "forest", "clusters")
MAX_MODELS = 500  # linear models of leaves that are written out
VERSION = 1
MAX_NODES = 250_000
# Per page: numbers in count tables, explained nodes, characters in their texts.
MAX_COUNTS, MAX_EXPLAINED, MAX_TEXT_LENGTH = 300_000, 64, 300_000
MAX_BINS = 60_000  # numbers in histograms
# Per forest.
MAX_TREES, MAX_FOREST_NODES = 200, 60_000


def explorer_data(
    models: Sequence[Any],
    *,
    rows: Any = None,
    data: Any = None,
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the data of a page for one fitted model, or for two side by side.

    Parameters
    ----------
    models : sequence of one or two fitted models
        Trees, forests or clusters.
    rows : table, optional
        The table whose rows the page shows at nodes, by the schema of each model.
    data : table, optional
        A table for aggregates only, instead of ``rows``.
    names : sequence of str
        The names of the models, such as those of their files.
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
                "has no effect on clusters",
                phrase("give the rows ({}), to be in the page", Setting("rows", ...)),
            )
    table, with_rows = rows if data is None else data, data is None
    described = [_model_data(model, table, with_rows=with_rows) for model in models]
    for model, name in zip(described, names, strict=False):
        model["name"] = name
    return {
        "format": f"spinney/explorer/{VERSION}",
        "made_by": f"spinney {__version__}",
        "models": described,
    }


def _model_data(model: Any, rows: Any, *, with_rows: bool) -> dict[str, Any]:
    table, key = None, None
    if rows is not None:
        table, key = (
            read_with_key(model, rows) if with_rows else (model.read(rows), None)
        )
    if model.kind == "forest":
        return with_key(_forest_data(model.forest_, table, with_rows=with_rows), key)
    if model.kind == "tree":
        tree = _tree_model_data(model.model_, table, with_rows=with_rows)
        return with_key(tree, key)
    page = registry.load("page", model.kind)
    data: dict[str, Any] = page(saved_content(model), table)
    return data


def _tree_model_data(
    model: Model, table: Table | None, *, with_rows: bool
) -> dict[str, Any]:
    tree, schema = model.tree, model.schema
    criterion = model.recipe.measure(numeric=schema.target.is_numeric)
    if len(tree) > MAX_NODES:
        msg = (
            f"the tree has {len(tree)} nodes, and a page takes at most {MAX_NODES}: "
            "prune it, or grow it with fewer leaves"
        )
        raise ParameterError(msg)
    arrays, candidates = tree.arrays, tree.nodes.candidate_arrays
    weight = arrays.weight(schema.target)
    order = np.argsort(-weight, kind="stable")
    with_candidates = _nodes_with_candidates(candidates, order, schema)
    texts, rows = _explanations(model, order), None
    if table is not None:
        rows = leaf_rows(table, schema, flatten(tree))
    encoded = _encoded_rows(rows)
    histograms = _histograms(tree, encoded, order)
    return {
        "kind": "tree",
        **_model_summary(schema, model.fingerprint, model.recipe),
        "merit": criterion.merit_name,
        "schema": schema_data(schema),
        "importances": {"mean": importances_of(tree).values.tolist()},
        "quality": quality_data(model.quality),
        "tested": None if encoded is None else tested_data(tree, encoded),
        "tree": {
            **nodes_data(arrays, schema.target),
            "digits": packed(cut_digits(arrays, candidates)),
            "candidates": candidate_data(candidates, with_candidates),
            "explained": texts,
            "sequence": sequence_data(tree, encoded),
            "histograms": histogram_data(histograms, schema.target.width),
        },
        "record": record_data(model.sequence),
        "names": {str(node): name for node, name in tree.model_names.items()},
        "models": _model_lines(tree, order),
        "rows": rows_data(rows) if rows is not None and with_rows else None,
        "contains": {
            "nodes": len(tree),
            "histograms": len(histograms),
            "counted": 0 if encoded is None else len(encoded.targets),
            "candidates": len(with_candidates),
            "explained": len(texts),
            "models": min(len(tree.model_names), MAX_MODELS),
            "of_models": len(tree.model_names),
        },
    }


def _model_lines(tree: Tree, order: Integers) -> dict[str, str]:
    """Return the linear models of the heaviest leaves, each in a line."""
    with_models = [node for node in order.tolist() if node in tree.model_names]
    lines = model_lines(tree, {*with_models[:MAX_MODELS]}, room=inf)
    return {str(node): line for node, line in lines.items()}


def _model_summary(
    schema: Schema, origin: Fingerprint, *recipes: Recipe
) -> dict[str, Any]:
    return {
        "title": shown(schema.target.name),
        "reasons": [str(reason) for reason in sorted(Reason, key=lambda r: r.code)],
        "recipe": ", ".join(recipe.name for recipe in recipes),
        "grown_on": {"rows": origin.n_rows, "weight": origin.weight},
    }


def _nodes_with_candidates(
    candidates: CandidateArrays, order: Integers, schema: Schema
) -> Integers:
    """Return the heaviest nodes whose candidates fit on a page."""
    sizes = candidates.n_values * (schema.target.width + 1) + 8
    ends = np.append(0, sizes.cumsum())
    last = candidates.count.cumsum()
    size = ends[last] - ends[last - candidates.count]
    heaviest = order[size[order].cumsum() <= MAX_COUNTS]
    return np.sort(heaviest[candidates.count[heaviest] > 0])


def _explanations(model: Model, order: Integers) -> dict[str, str]:
    """Return the arithmetic of the heaviest nodes, as ``explain`` prints it."""
    texts: dict[str, str] = {}
    remaining = MAX_TEXT_LENGTH
    for node in order[:MAX_EXPLAINED].tolist():
        text = explain_node(model, node).text()
        remaining -= len(text)
        if remaining < 0:
            break
        texts[str(node)] = text
    return texts


def _histograms(
    tree: Tree, rows: EncodedRows | None, order: Integers
) -> Mapping[int, Histogram]:
    """Return histograms of rows at the heaviest nodes with numeric splits."""
    if rows is None:
        return {}
    n_nodes = MAX_BINS // (BINS * tree.schema.target.width)
    arrays = tree.arrays
    cut = arrays.inner & np.isfinite(arrays.cut)
    return node_histograms(tree, rows, order[cut[order]][:n_nodes].tolist())


def _encoded_rows(rows: TableRows | None) -> EncodedRows | None:
    """Return the encoded rows with a target; None without a target column."""
    if rows is None or rows.targets is None:
        return None
    mask = rows.has_target
    columns: list[Any] = [
        None if cells is None else cells[mask] for cells in rows.columns
    ]
    targets = rows.targets[mask]
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
    within = sizes[order].cumsum() <= max(MAX_FOREST_NODES, int(sizes[order[0]]))
    chosen = order[within][:MAX_TREES]
    trees = []
    for number in chosen.tolist():
        arrays = forest.flat_tree(number).arrays
        data: dict[str, Any] = {"tree": nodes_data(arrays, schema.target)}
        if leaves is not None and with_rows:
            data["leaf"] = packed(leaves[:MAX_ROWS, number])
        trees.append({"number": number, **data})
    return {
        "kind": "forest",
        **_model_summary(schema, forest.fingerprint, *forest.recipes),
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
