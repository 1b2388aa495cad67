"""A tree as the page reads it: one array for each thing that is known of its nodes."""

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

QUESTIONS = ("attribute", "cut", "listed", "branches", "cuts")
NODES = ("parent", "missing", "rows", "absent", "reason", "gain")
SURROGATES = ("count", "agreement", "adjusted", "reversed")
MODELS = (
    *("has", "intercept", "count", "attribute", "coefficient", "missing"),
    *("codes", "lookup", "first_code"),
)
CANDIDATES = (
    *("count", "chosen", "gain", "merit", "exact", "n_values", "values"),
    *("weights", "missing_weights"),
)
SPLITS = ("attribute", "form", "n_branches", "missing", "thresholds", "groups", "codes")


def nodes_data(arrays: TreeArrays, target: Target) -> dict[str, Any]:
    """Return the nodes of a tree that has outputs and shares.

    Outputs stand there only where they are not the shares of a node's classes.
    """
    assert arrays.outputs is not None
    assert arrays.shares is not None
    # Children by parent, as shares are; where no row is divided they say nothing.
    divides = np.repeat(arrays.fallback_branch < 0, arrays.links().count)
    data = {
        "size": len(arrays),
        **packed_fields(arrays, *QUESTIONS, *NODES),
        "shares": packed(np.where(divides, arrays.shares, 0.0)),
        "weights": packed(arrays.weights.astype(np.float64)),
        "outputs": _odd_outputs(arrays, target),
    }
    if target.costs is not None:
        data["labels"] = packed(labels_of(arrays.outputs, target.costs))
    if arrays.default_branch is not None and (arrays.default_branch >= 0).any():
        data["otherwise"] = packed(arrays.default_branch)
    if arrays.surrogates is not None:
        names = (*QUESTIONS, *SURROGATES)
        data["surrogates"] = packed_fields(arrays.surrogates, *names)
    if arrays.models is not None:
        data["models"] = packed_fields(arrays.models, *MODELS)
    return data


def _odd_outputs(arrays: TreeArrays, target: Target) -> dict[str, str]:
    """Return the nodes whose outputs are not what their counts say, and those."""
    assert arrays.outputs is not None
    outputs, weights = arrays.outputs, arrays.weights.astype(np.float64)
    if target.is_numeric:
        odd = np.ones(len(arrays), np.bool_)
    else:
        # As the page adds up: in the order of the classes.
        total = np.add.accumulate(weights, axis=1)[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            odd = (outputs != weights / total).any(axis=1)
    nodes = np.flatnonzero(odd)
    return {"nodes": packed(nodes), "values": packed(outputs[nodes])}


def candidate_data(candidates: CandidateArrays, nodes: Integers) -> dict[str, Any]:
    """Return the candidates of some nodes, with the counts behind them."""
    asks = candidates.chosen[nodes] >= 0
    some = candidates.of_nodes(nodes, asks)
    tested = () if np.isnan(some.p_value).all() else ("p_value",)
    return {
        "nodes": packed(nodes),
        **packed_fields(some, *CANDIDATES, *tested),
        **packed_fields(some.splits, *SPLITS),
    }


def digits_of(arrays: TreeArrays, candidates: CandidateArrays) -> Integers:
    """Return in how many digits the cut of each node keeps its rows on their sides.

    All there are where the neighbours of a cut are not known.
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


def histogram_data(made: Mapping[int, Histogram], width: int) -> dict[str, Any]:
    """Return histograms by node, and the bins of all of them, one after another."""
    every = list(made.values())
    bins = [each.weights for each in every]
    return {
        "nodes": packed(np.array(list(made), np.int64)),
        "bins": packed(np.array([len(each) for each in bins], np.int64)),
        **{
            name: packed(np.array([getattr(each, name) for each in every], float))
            for name in ("low", "step", "least", "greatest")
        },
        "weights": packed(np.concatenate([*bins, np.zeros((0, width))])),
        "missing": packed(np.array([each.missing for each in every], float)),
    }


def sequence_data(tree: Tree, rows: EncodedRows | None = None) -> dict[str, Any] | None:
    """Return the subtrees by cost complexity, and when each node becomes a leaf.

    None where there is nothing to prune, or where counts do not tell the error, as
    those of linear models. ``step`` is -1 of a node that no step cuts. Errors are means
    over rows; those of ``rows`` are there where they are given.
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
    given = None
    if rows is not None and rows.weights.sum() > 0:
        given = _judged_data(validated(sequence, tree, rows))
    return {
        "alpha": packed(sequence.alphas),
        "leaves": packed([subtree.leaves for subtree in sequence.subtrees]),
        "errors": packed(
            [whole / weight, *(each.risk / weight for each in sequence.subtrees)]
        ),
        "root_error": sequence.root_risk / weight,
        "step": packed(step),
        "given": given,
    }


def record_data(record: PruningSequence | None) -> dict[str, Any] | None:
    """Return the errors by which a tree was just pruned; None where none are known."""
    if record is None or record.judged_by is None:
        return None
    return {**_judged_data(record), "by": record.judged_by}


def _judged_data(sequence: PruningSequence) -> dict[str, Any]:
    """Return the leaves of subtrees with their mean errors and the spread of these."""
    errors, deviations = sequence.mean_errors()
    return {
        "leaves": packed([row.leaves for row in sequence.subtrees]),
        "errors": packed(errors),
        "deviations": packed(deviations),
    }
