"""Checks that flat arrays are a tree: all rules that other code relies on.

Each rule relies only on rules checked before it. The checks are array operations in
linear time, without recursion.
"""

from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Schema, Target
from spinney.growth import Model
from spinney.output.file.file_arrays import BOUND, Arrays, flatten, numeric, splits_of
from spinney.output.file.header import (
    header_of,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.output.file.requirements import (
    MOST_ROWS,
    SHARES_TOLERANCE,
    amounts,
    close,
    countable,
    counted,
    linked,
    possible,
    require,
    shaped,
    within,
)
from spinney.output.file.split_check import (
    check_forms,
    check_split_lengths,
    check_splits,
    sizes,
)
from spinney.output.file.strict_json import dump, refuse
from spinney.trees import (
    GIVEN,
    ExplicitNodes,
    Reason,
    SplitArrays,
    Tree,
    labels_of,
    links_of,
    ratio_of,
)

MAX_NODES = 10_000_000


def check_model(model: Model) -> tuple[dict[str, Any], Schema, Arrays]:
    """Return header, schema and arrays of a model, after checking them."""
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
        refuse(f"its nodes do not fit its schema: {error}")
    check_arrays(arrays, tree.schema, max_nodes=max_nodes)
    if isinstance(tree.nodes, ExplicitNodes):
        _check_made(tree, arrays)
    return arrays


def _check_made(tree: Tree, arrays: Arrays) -> None:
    """Check the numbers and children of node objects."""
    links = links_of(arrays["node.parent"])
    children = np.split(links.children, links.first[1:])
    for number, node in enumerate(tree.nodes):
        if node.number != number:
            refuse(f"node {number} is numbered {node.number}")
        if list(node.children) != children[number].tolist():
            refuse(f"the children of node {number} are not those that it is parent of")


def check_arrays(arrays: Arrays, schema: Schema, *, max_nodes: int = MAX_NODES) -> None:
    """Raise DamageError unless the arrays are a tree over this schema."""
    n_nodes = len(arrays["node.parent"])
    if n_nodes == 0:
        refuse("it has no nodes")
    if n_nodes > max_nodes:
        refuse(f"it has {n_nodes} nodes, more than the limit of {max_nodes}")
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
    if BOUND in arrays:
        shaped(arrays, BOUND, (lengths["candidate"],))
    shaped(arrays, "split.shares", (arrays["split.shares"].size,))
    counted(arrays, "node.candidates", total=lengths["candidate"])
    n_shares = arrays["split.shares"].size
    counted(arrays, "candidate.branches", total=n_shares, least=2)
    splits = splits_of(arrays, "candidate", "split")
    check_forms(splits, schema, "candidate")
    check_split_lengths(arrays, splits, "split")
    _check_table_lengths(arrays, schema)


def _check_table_lengths(arrays: Arrays, schema: Schema) -> None:
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
    parent = arrays["node.parent"]
    links = linked(parent, np.zeros_like(parent))
    for name, expected in (("depth", links.depth), ("branch", links.branch)):
        given = arrays[f"node.{name}"]
        for number in np.flatnonzero(given != expected)[:1]:
            refuse(
                f"node {number} is at {name} {expected[number]}, not {given[number]}"
            )


def _check_nodes(arrays: Arrays, target: Target) -> None:
    """Check the counts and predictions of nodes, and that children add up."""
    weights, shares = arrays["node.weights"], arrays["node.distribution"]
    rows = arrays["node.rows"]
    require(possible(weights, target), "node {} has a negative or infinite weight")
    require(within(rows, 0, MOST_ROWS + 1), "node {} has an impossible count of rows")
    require((rows > 0)[:, None] | (weights == 0), "node {} has weight without rows")
    sizes = weights[:, 0] if target.is_numeric else weights.sum(axis=1)
    require(np.isfinite(sizes), "node {} has weights whose sum overflows")
    require((rows == 0) | (sizes > 0), "node {} has rows without weight")
    if target.is_numeric:
        require(np.isfinite(shares), "node {} predicts a number that is not finite")
        away = shares[:, 0] - (target.origin or 0.0) - ratio_of(weights[:, 1], sizes)
        far = np.isfinite(away * away) & np.isfinite(sizes * (away * away))
        require(far, "node {} predicts a number whose errors overflow")
    else:
        require(amounts(shares), "node {} has an impossible class probability")
        require(
            np.abs(shares.sum(axis=1) - 1) <= SHARES_TOLERANCE,
            "the distribution of node {} does not add up to 1",
        )
    require(
        arrays["node.label"] == labels_of(shares, target.costs),
        "the label of node {} is not that of its distribution",
    )
    require(within(arrays["node.forced"], 0, 2), "node {} has an invalid flag (forced)")
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
    require(
        within(chosen, -1, counts), "node {} has a chosen candidate that does not exist"
    )
    require(
        inner == (chosen >= 0),
        "node {} must have both a split and children, or neither",
    )
    require(within(reasons, -1, len(Reason)), "node {} has an unknown reason")
    require(inner == (reasons < 0), "node {} must have a reason if it is a leaf only")
    first = np.cumsum(counts) - counts
    winners = (first + chosen)[inner]
    require(
        arrays["candidate.branches"][winners] == n_children[inner],
        "node {} has more or fewer children than its split has branches",
        np.flatnonzero(inner),
    )


def check_candidates(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless each candidate is a split of its node."""
    splits = splits_of(arrays, "candidate", "split")
    check_splits(splits, schema, "candidate")
    _check_merits(arrays)
    of_line = np.repeat(np.arange(len(splits.form)), arrays["candidate.values"])
    _check_values(arrays, schema, splits, of_line)
    _check_counts(arrays, schema.target, of_line)


def _check_merits(arrays: Arrays) -> None:
    for name in ("candidate.gain", "candidate.merit"):
        require(
            np.isfinite(arrays[name]), f"{name!r} is not a number at candidate {{}}"
        )
    p = arrays["candidate.p_value"]
    require(np.isnan(p) | ((p >= 0) & (p <= 1)), "candidate {} has no possible p-value")
    exact = within(arrays["candidate.exact"], 0, GIVEN + 1)
    require(exact, "candidate {} has an invalid flag (exact)")
    bound = arrays.get(BOUND, np.full(0, np.nan))
    require(~np.isinf(bound), "candidate {} has an infinite bound")


def _check_values(
    arrays: Arrays, schema: Schema, splits: SplitArrays, of_line: Integers
) -> None:
    """Check the values of the count tables, and that each has a branch.

    ``of_line`` is the candidate that counts a value.
    """
    numbered = numeric(arrays, schema)[of_line]
    attributes = splits.attribute
    of_number, of_code = of_line[numbered], of_line[~numbered]
    numbers, codes = arrays["table.numbers"], arrays["table.codes"]
    require(
        np.isfinite(numbers),
        "candidate {} counts a value that is not a number",
        of_number,
    )
    require(
        within(codes, 0, sizes(schema)[attributes[of_code]]),
        "candidate {} counts a code that its attribute does not know",
        of_code,
    )
    for values, owners in ((numbers, of_number), (codes, of_code)):
        rising = (values[1:] > values[:-1]) | (owners[1:] != owners[:-1])
        require(rising, "candidate {} counts values that do not increase", owners[1:])
    widest = 1 + int(sizes(schema).max(initial=0))
    candidates = np.arange(len(splits.form))
    owner = np.repeat(np.repeat(candidates, splits.n_groups), splits.groups)
    branched = owner * widest + splits.codes
    counted = of_code * widest + codes
    require(
        ~splits.grouped[of_code] | np.isin(counted, branched),
        "candidate {} counts a code that has no branch",
        of_code,
    )


def _check_counts(arrays: Arrays, target: Target, of_line: Integers) -> None:
    """Check the counts of the tables, and that they are those of their node."""
    branches, counts = arrays["candidate.branches"], arrays["node.candidates"]
    of_share = np.repeat(np.arange(len(branches)), branches)
    absent, absent_rows = (
        arrays["candidate.missing_weights"],
        arrays["candidate.missing_rows"],
    )
    for weights, rows, owners in (
        (arrays["table.weights"], arrays["table.rows"], of_line),
        (absent, absent_rows, None),
    ):
        what = "candidate {} has a negative or infinite weight"
        require(possible(weights, target), what, owners)
        impossible = "candidate {} has an impossible count of rows"
        require(within(rows, 0, MOST_ROWS + 1), impossible, owners)
        # The trees of a forest store the rows of a line, not those of each class.
        lone = "candidate {} has weight without rows"
        require(rows.any(axis=1, keepdims=True) | (weights == 0), lone, owners)
    node = np.repeat(np.arange(len(counts)), counts)
    weights = arrays["node.weights"][node]
    size = weights[:, 0] if target.is_numeric else weights.sum(axis=1)
    for name in ("candidate.gain", "candidate.merit"):
        beyond = f"{name!r} overflows at candidate {{}}"
        require(countable(arrays[name], size), beyond)
    total, total_rows = absent.copy(), absent_rows.astype(np.float64)
    np.add.at(total, of_line, arrays["table.weights"])
    np.add.at(total_rows, of_line, arrays["table.rows"].astype(np.float64))
    other = "the counts of candidate {} are not those of its node"
    require(close(total, weights, target), other)
    require(total_rows.sum(axis=1) == arrays["node.rows"][node], other)
    shares = arrays["split.shares"]
    require(
        amounts(shares), "candidate {} has an impossible branch proportion", of_share
    )
    together = np.bincount(of_share, shares, minlength=len(node))
    require(
        np.abs(together - 1) <= SHARES_TOLERANCE,
        "the shares of candidate {} do not add up to 1",
    )


def check_surrogates(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless each surrogate is a valid binary split."""
    _check_surrogate_lengths(arrays, schema)
    nodes = np.repeat(np.arange(len(arrays["node.rows"])), arrays["node.surrogates"])
    _check_surrogate_nodes(arrays, nodes)
    _check_surrogate_marks(arrays, nodes)
    splits = splits_of(arrays, "surrogate", "surrogate_split")
    check_splits(splits, schema, "surrogate")
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], dtype=bool)
    alien = "surrogate {} has groups that do not suit its attribute"
    require(~splits.grouped | nominal[splits.attribute], alien)


def _check_surrogate_lengths(arrays: Arrays, schema: Schema) -> None:
    n_surrogates = arrays["surrogate.attribute"].size
    for name in arrays:
        if name.startswith("surrogate."):
            shaped(arrays, name, (n_surrogates,))
    counted(arrays, "node.surrogates", total=n_surrogates)
    splits = splits_of(arrays, "surrogate", "surrogate_split")
    require(within(splits.form, 0, 2), "surrogate {} is neither a threshold nor groups")
    check_forms(splits, schema, "surrogate")
    check_split_lengths(arrays, splits, "surrogate_split", least=1)


def _check_surrogate_nodes(arrays: Arrays, nodes: Integers) -> None:
    """Check that only binary splits have surrogates and a default branch."""
    otherwise, chosen = arrays["node.otherwise"], arrays["node.chosen"]
    require(within(otherwise, -1, 2), "node {} has an unknown default branch")
    require(
        (otherwise >= 0) | (arrays["node.surrogates"] == 0),
        "node {} has surrogates but no default branch",
    )
    require(
        (otherwise < 0) | (chosen >= 0),
        "node {} is a leaf but has a branch for missing values",
    )
    counts = arrays["node.candidates"]
    winners = (np.cumsum(counts) - counts + chosen)[otherwise >= 0]
    require(
        arrays["candidate.branches"][winners] == 2,
        "node {} has a default branch but not two branches",
        np.flatnonzero(otherwise >= 0),
    )
    own = np.full(len(counts), -1, dtype=np.int64)
    own[otherwise >= 0] = arrays["candidate.attribute"][winners]
    require(
        arrays["surrogate.attribute"] != own[nodes],
        "surrogate {} uses the attribute that it replaces",
    )


def _check_surrogate_marks(arrays: Arrays, nodes: Integers) -> None:
    swapped, agreement = arrays["surrogate.reversed"], arrays["surrogate.agreement"]
    require(
        within(swapped, 0, 2 - arrays["surrogate.form"]),
        "surrogate {} has an invalid flag (reversed)",
    )
    for name in ("surrogate.agreement", "surrogate.adjusted"):
        require(
            (arrays[name] >= 0) & (arrays[name] <= 1),
            f"{name!r} is not between 0 and 1 at surrogate {{}}",
        )
    falling = (agreement[1:] <= agreement[:-1] + 1e-9) | (nodes[1:] != nodes[:-1])
    require(np.append(True, falling), "surrogate {} is better than the one before it")


def check_models(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless the arrays are linear models over this schema."""
    attributes, codes = arrays["term.attribute"], arrays["model.codes"]
    for name in ("term.attribute", "term.coefficient", "term.missing", "term.codes"):
        shaped(arrays, name, (attributes.size,))
    shaped(arrays, "model.codes", (codes.size,))
    counted(arrays, "node.terms", total=attributes.size, least=-1)
    counted(arrays, "term.codes", total=codes.size, least=-1)
    with_model = arrays["node.terms"] >= 0
    of_numbers = np.full(len(with_model), schema.target.is_numeric)
    alien = "node {} has a linear model, but the target has classes"
    require(of_numbers | ~with_model, alien)
    for name in ("node.intercept", "term.coefficient", "term.missing"):
        require(np.isfinite(arrays[name]), f"{name!r} has a number that is not finite")
    require(
        within(attributes, 0, len(schema.attributes)),
        "term {} of linear models has an unknown attribute",
    )
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], dtype=bool)
    term_sizes = arrays["term.codes"]
    require(
        (term_sizes >= 0) == nominal[attributes],
        "term {} of linear models does not suit its attribute",
    )
    owner = np.repeat(np.arange(len(term_sizes)), term_sizes.clip(0))
    require(
        within(codes, 0, sizes(schema)[attributes[owner]]),
        "term {} of linear models has a code that its attribute does not know",
        owner,
    )
    rising = (codes[1:] > codes[:-1]) | (owner[1:] != owner[:-1])
    require(
        rising, "term {} of linear models has codes that do not increase", owner[1:]
    )
