"""Whether flat arrays are a tree: every rule that the rest of Spinney relies on.

The rules are checked in an order in which each may rely on those before it, by
array operations whose cost is that of the arrays; nothing recurs.
"""

from typing import Any

import numpy as np

from spinney.data.schema import Schema, Target
from spinney.files.model_arrays import FORMS, REASONS, Arrays, children_of, flatten
from spinney.files.model_candidates import check_candidates
from spinney.files.model_header import (
    header_of,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.files.model_rules import (
    MOST_ROWS,
    SHARES_TOLERANCE,
    amounts,
    close,
    counted,
    grouped,
    numeric,
    possible,
    require,
    shaped,
    within,
)
from spinney.files.model_stand_ins import check_surrogates
from spinney.files.model_terms import check_models
from spinney.files.strict_json import DamageError, dump
from spinney.growth.model import Model
from spinney.trees.costs import labels_of
from spinney.trees.split import Threshold
from spinney.trees.tree import Tree

__all__ = ["MAX_NODES", "check_arrays", "check_model", "check_tree"]

MAX_NODES = 10_000_000


def check_model(model: Model) -> tuple[dict[str, Any], Schema, Arrays]:
    """Return the header, its schema and the arrays of a model that can be read back."""
    header = header_of(model)
    schema = read_schema(header)
    read_recipe(header["recipe"])
    read_fingerprint(header["fingerprint"])
    dump(header)
    return header, schema, check_tree(model.tree)


def check_tree(tree: Tree, *, max_nodes: int = MAX_NODES) -> Arrays:
    """Return the arrays of a tree, after checking them and the links of its nodes."""
    try:
        arrays = flatten(tree)
    except (ValueError, IndexError, OverflowError) as error:
        msg = f"its nodes do not fit its schema: {error}"
        raise DamageError(msg) from None
    check_arrays(arrays, tree.schema, max_nodes=max_nodes)
    children = children_of(arrays["node.parent"].tolist())
    for number, node in enumerate(tree.nodes):
        if node.number != number:
            msg = f"node {number} is numbered {node.number}"
            raise DamageError(msg)
        if node.children != children[number]:
            msg = f"the children of node {number} are not those that it is parent of"
            raise DamageError(msg)
    return arrays


def check_arrays(arrays: Arrays, schema: Schema, *, max_nodes: int = MAX_NODES) -> None:
    """Raise DamageError unless the arrays are a tree over this schema."""
    n_nodes = len(arrays["node.parent"])
    if n_nodes == 0:
        msg = "it has no nodes"
        raise DamageError(msg)
    if n_nodes > max_nodes:
        msg = f"it has {n_nodes} nodes, more than the limit of {max_nodes}"
        raise DamageError(msg)
    with np.errstate(all="ignore"):
        _check_lengths(arrays, schema)
        _check_links(arrays)
        _check_nodes(arrays, schema.target)
        _check_choices(arrays)
        check_candidates(arrays, schema)
        check_models(arrays, schema)
        check_surrogates(arrays, schema)


def _check_lengths(arrays: Arrays, schema: Schema) -> None:
    widths = {
        "weights": schema.target.width,
        "missing_weights": schema.target.width,
        "distribution": schema.target.n_outputs,
        "missing_rows": schema.target.n_outputs,
    }
    lengths = {
        "node": len(arrays["node.parent"]),
        "candidate": len(arrays["candidate.attribute"]),
    }
    for name in arrays:
        room, _, field = name.partition(".")
        if room in lengths:
            n = lengths[room]
            shaped(arrays, name, (n, widths[field]) if field in widths else (n,))
    for name in ("split.thresholds", "split.shares", "split.groups", "split.codes"):
        shaped(arrays, name, (arrays[name].size,))
    counted(arrays, "node.candidates", total=lengths["candidate"])
    n_shares = arrays["split.shares"].size
    counted(arrays, "candidate.branches", total=n_shares, least=2)
    of_codes = grouped(arrays)
    forms = within(arrays["candidate.form"], 0, len(FORMS))
    require(forms, "candidate {} is neither a threshold, groups nor intervals")
    require(
        (arrays["candidate.form"] != FORMS.index(Threshold))
        | (arrays["candidate.branches"] == 2),
        "candidate {} is a threshold without two branches",
    )
    n_cuts = int((arrays["candidate.branches"][~of_codes] - 1).sum())
    shaped(arrays, "split.thresholds", (n_cuts,))
    n_groups = int(arrays["candidate.branches"][of_codes].sum())
    shaped(arrays, "split.groups", (n_groups,))
    counted(arrays, "split.groups", total=arrays["split.codes"].size)
    _check_table_lengths(arrays, schema)


def _check_table_lengths(arrays: Arrays, schema: Schema) -> None:
    attributes = within(arrays["candidate.attribute"], 0, len(schema.attributes))
    require(attributes, "candidate {} asks about an attribute that is not there")
    n_codes, n_numbers = arrays["table.codes"].size, arrays["table.numbers"].size
    counted(arrays, "candidate.values", total=n_codes + n_numbers, least=1)
    numbered = numeric(arrays, schema)
    n_numeric = int(arrays["candidate.values"][numbered].sum())
    shaped(arrays, "table.numbers", (n_numeric,))
    shaped(arrays, "table.codes", (n_codes + n_numbers - n_numeric,))
    n_lines, target = n_codes + n_numbers, schema.target
    shaped(arrays, "table.weights", (n_lines, target.width))
    shaped(arrays, "table.rows", (n_lines, target.n_outputs))


def _check_links(arrays: Arrays) -> None:
    """Check parents, depths, branches, and the numbering in printing order."""
    parents, numbers = arrays["node.parent"], np.arange(len(arrays["node.parent"]))
    require(parents[:1] == -1, "the root has a parent")
    require(
        np.append(True, within(parents[1:], 0, numbers[1:])),
        "the parent of node {} does not come before it",
    )
    depths, branches = arrays["node.depth"].tolist(), arrays["node.branch"].tolist()
    path: list[int] = []  # the numbers from the root to the node before
    seen = [0] * len(depths)
    for number, parent in enumerate(parents.tolist()):
        depth = 0 if parent < 0 else depths[parent] + 1
        if depths[number] != depth:
            msg = f"node {number} is at depth {depth}, not {depths[number]}"
            raise DamageError(msg)
        if parent >= 0 and (depth > len(path) or path[depth - 1] != parent):
            msg = f"node {number} is not in printing order: parents before children"
            raise DamageError(msg)
        del path[depth:]
        path.append(number)
        branch = 0 if parent < 0 else seen[parent]
        if branches[number] != branch:
            msg = f"node {number} is at branch {branch}, not {branches[number]}"
            raise DamageError(msg)
        if parent >= 0:
            seen[parent] += 1


def _check_nodes(arrays: Arrays, target: Target) -> None:
    """Check what each node says of its rows, and that children add up."""
    weights, shares = arrays["node.weights"], arrays["node.distribution"]
    rows = arrays["node.rows"]
    require(possible(weights, target), "node {} has a weight that is no amount")
    require(within(rows, 0, MOST_ROWS + 1), "node {} has an impossible count of rows")
    require((rows > 0)[:, None] | (weights == 0), "node {} has weight without rows")
    if target.is_numeric:
        require(np.isfinite(shares), "node {} predicts what is no finite number")
    else:
        require(amounts(shares), "node {} has a share of a class that is no amount")
        require(
            np.abs(shares.sum(axis=1) - 1) <= SHARES_TOLERANCE,
            "the distribution of node {} does not add up to 1",
        )
    require(
        arrays["node.label"] == labels_of(shares, target.costs),
        "the label of node {} is not that of its distribution",
    )
    require(within(arrays["node.forced"], 0, 2), "node {} has a bad mark (forced)")
    inner = np.bincount(arrays["node.parent"][1:], minlength=len(rows)) > 0
    together = np.zeros_like(weights)
    np.add.at(together, arrays["node.parent"][1:], weights[1:])
    require(
        ~inner[:, None] | close(together, weights, target),
        "the weights of the children of node {} do not add up to its own",
    )
    n_rows = np.bincount(arrays["node.parent"][1:], rows[1:], minlength=len(rows))
    require(~inner | (n_rows >= rows), "the children of node {} lack some of its rows")


def _check_choices(arrays: Arrays) -> None:
    """Check that a node is a leaf with a reason, or inner with a choice."""
    chosen, counts = arrays["node.chosen"], arrays["node.candidates"]
    parents, reasons = arrays["node.parent"], arrays["node.reason"]
    n_children = np.bincount(parents[1:], minlength=len(parents))
    inner = n_children > 0
    require(within(chosen, -1, counts), "node {} chose a candidate that is not there")
    require(
        inner == (chosen >= 0), "node {} has children but no split, or a split only"
    )
    require(within(reasons, -1, len(REASONS)), "node {} has an unknown reason")
    require(inner == (reasons < 0), "node {} must have a reason if it is a leaf only")
    first = np.cumsum(counts) - counts
    winners = (first + chosen)[inner]
    require(
        arrays["candidate.branches"][winners] == n_children[inner],
        "node {} has more or fewer children than its split has branches",
        np.flatnonzero(inner),
    )
