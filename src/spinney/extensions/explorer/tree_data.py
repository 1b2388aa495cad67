"""A tree as page data: one packed array for each field of its nodes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Target
from spinney.extensions.explorer.packed_numbers import packed, packed_fields
from spinney.extensions.pictures.branch_labels import MAX_DIGITS, separating_digits
from spinney.extensions.pictures.node_histograms import Histogram
from spinney.growth.prune import (
    EncodedRows,
    PruningSequence,
    leaf_risks,
    sequence_of,
    validated,
)
from spinney.trees import (
    CandidateArrays,
    Tree,
    TreeArrays,
    labels_of,
)

SPLIT_FIELDS = ("attribute", "cut", "listed", "branches", "cuts")
NODE_FIELDS = ("parent", "missing", "rows", "absent", "reason", "gain")
SURROGATE_FIELDS = ("count", "agreement", "adjusted", "reversed")
MODEL_FIELDS = (
    *("has", "intercept", "count", "attribute", "coefficient", "missing"),
    *("codes", "lookup", "first_code"),
)
CANDIDATE_FIELDS = (
    *("count", "chosen", "gain", "merit", "exact", "n_values", "values"),
    *("weights", "missing_weights"),
)
CANDIDATE_SPLIT_FIELDS = (
    "attribute",
    "form",
    "n_branches",
    "missing",
    "thresholds",
    "groups",
    "codes",
)


def nodes_data(arrays: TreeArrays, target: Target) -> dict[str, Any]:
    """Return the nodes of a tree that has outputs and shares.

    Outputs are included only if they differ from the class proportions of a node.
    """
    assert arrays.outputs is not None
    assert arrays.shares is not None
    # Children by parent, as shares are; shares matter only where rows are divided.
    divides = np.repeat(arrays.fallback_branch < 0, arrays.links().count)
    data = {
        "size": len(arrays),
        **packed_fields(arrays, *SPLIT_FIELDS, *NODE_FIELDS),
        "shares": packed(np.where(divides, arrays.shares, 0.0)),
        "weights": packed(arrays.weights.astype(np.float64)),
        "outputs": _stored_outputs(arrays, target),
    }
    if target.costs is not None:
        data["labels"] = packed(labels_of(arrays.outputs, target.costs))
    if arrays.default_branch is not None and (arrays.default_branch >= 0).any():
        data["default_branch"] = packed(arrays.default_branch)
    if arrays.surrogates is not None:
        names = (*SPLIT_FIELDS, *SURROGATE_FIELDS)
        data["surrogates"] = packed_fields(arrays.surrogates, *names)
    if arrays.models is not None:
        data["models"] = packed_fields(arrays.models, *MODEL_FIELDS)
    return data


def _stored_outputs(arrays: TreeArrays, target: Target) -> dict[str, str]:
    """Return the nodes whose outputs do not follow from counts, and these outputs."""
    assert arrays.outputs is not None
    outputs, weights = arrays.outputs, arrays.weights.astype(np.float64)
    if target.is_numeric:
        differs = np.ones(len(arrays), np.bool_)
    else:
        # As the page adds up: in the order of the classes.
        total = np.add.accumulate(weights, axis=1)[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            differs = (outputs != weights / total).any(axis=1)
    nodes = np.flatnonzero(differs)
    return {"nodes": packed(nodes), "values": packed(outputs[nodes])}


def candidate_data(candidates: CandidateArrays, nodes: Integers) -> dict[str, Any]:
    """Return the candidates of some nodes, with the counts behind them."""
    is_split = candidates.chosen[nodes] >= 0
    selected = candidates.of_nodes(nodes, is_split)
    tested = () if np.isnan(selected.p_value).all() else ("p_value",)
    return {
        "nodes": packed(nodes),
        **packed_fields(selected, *CANDIDATE_FIELDS, *tested),
        **packed_fields(selected.splits, *CANDIDATE_SPLIT_FIELDS),
    }


def cut_digits(arrays: TreeArrays, candidates: CandidateArrays) -> Integers:
    """Return the number of digits in which the cut of each node separates its rows.

    If the neighbouring values of a cut are unknown, the maximum is returned.
    """
    digits = np.full(len(arrays), MAX_DIGITS, np.int64)
    winner = candidates.count.cumsum() - candidates.count + candidates.chosen
    first = candidates.n_values.cumsum() - candidates.n_values
    finite = np.flatnonzero(arrays.inner & np.isfinite(arrays.cut))
    for node in finite.tolist():
        line, cut = int(winner[node]), float(arrays.cut[node])
        last = first[line] + candidates.n_values[line]
        digits[node] = separating_digits(cut, candidates.values[first[line] : last])
    return digits


def histogram_data(by_node: Mapping[int, Histogram], width: int) -> dict[str, Any]:
    """Return histograms by node, with the bins of all histograms in one array."""
    histograms = list(by_node.values())
    bins = [histogram.weights for histogram in histograms]
    return {
        "nodes": packed(np.array(list(by_node), np.int64)),
        "bins": packed(np.array([len(weights) for weights in bins], np.int64)),
        **{
            name: packed(np.array([getattr(h, name) for h in histograms], float))
            for name in ("low", "step", "least", "greatest")
        },
        "weights": packed(np.concatenate([*bins, np.zeros((0, width))])),
        "missing": packed(np.array([h.missing for h in histograms], float)),
    }


def sequence_data(tree: Tree, rows: EncodedRows | None = None) -> dict[str, Any] | None:
    """Return the subtrees by cost complexity, and the step at which each node is cut.

    None if there is nothing to prune, or if errors do not follow from counts, as for
    linear models. ``step`` is -1 for a node that is never cut. Errors are means over
    rows; ``validation`` has the errors on ``rows``.
    """
    risks = leaf_risks(tree)
    if len(tree) == 1 or not np.isfinite(risks).all():
        return None
    sequence = sequence_of(tree, risks)
    step = np.full(len(tree), -1, np.int64)
    for index, subtree in enumerate(sequence.subtrees):
        step[list(subtree.cut)] = index
    weight = sequence.weight or 1.0
    whole = float(risks[~tree.arrays.inner].sum())
    validation = None
    if rows is not None and rows.weights.sum() > 0:
        validation = _error_data(validated(sequence, tree, rows))
    return {
        "alpha": packed(sequence.alphas),
        "leaves": packed([subtree.leaves for subtree in sequence.subtrees]),
        "errors": packed(
            [whole / weight, *(subtree.risk / weight for subtree in sequence.subtrees)]
        ),
        "root_error": sequence.root_risk / weight,
        "step": packed(step),
        "validation": validation,
    }


def record_data(record: PruningSequence | None) -> dict[str, Any] | None:
    """Return the errors of the sequence that a tree was pruned by, or None."""
    if record is None or record.judged_by is None:
        return None
    return {**_error_data(record), "by": record.judged_by}


def _error_data(sequence: PruningSequence) -> dict[str, Any]:
    """Return the leaves of subtrees with their mean errors and standard errors."""
    errors, deviations = sequence.mean_errors()
    return {
        "leaves": packed([row.leaves for row in sequence.subtrees]),
        "errors": packed(errors),
        "deviations": packed(deviations),
    }
