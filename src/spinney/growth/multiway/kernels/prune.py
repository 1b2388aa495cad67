"""Error-based pruning in one loop, by the rules of ``growth.prune.error_based``.

The nodes of a raised branch are written after the nodes of the tree, and discarded if
the branch is not raised. The members of a node stay while its children are visited; the
children's members follow::

members   … | node | child 2 | child 1 | child 0 ]
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.errors import estimated_errors, risk
from spinney.growth.multiway.kernels.grow import (
    fill_children,
    move_members,
    push_node,
    set_shares,
)
from spinney.growth.multiway.kernels.layout import chosen_candidate, member_range

SLACK = 0.1
EQUAL = 1e-6


@kernel
def _set_leaf_estimate(pruning, node):
    """Set the estimate and the risk of a node as a leaf."""
    rules, grown, records = pruning.rules, pruning.grown, pruning.records
    weights, prior = grown.weights, records.prior
    records.estimates[node] = estimated_errors(rules, weights, node, prior)
    records.risks[node] = risk(rules, weights, node, prior)


@kernel
def _record_step(pruning, node, action, before, after, change):
    grown, records = pruning.grown, pruning.records
    step, measures = grown.state[layout.N_STEPS], records.measures
    records.steps[step, 0], records.steps[step, 1] = records.origin[node], action
    measures[step, layout.BEFORE], measures[step, layout.AFTER] = before, after
    measures[step, layout.RISK_BEFORE] = records.total[0]
    measures[step, layout.RISK_AFTER] = records.total[0] + change
    if action != layout.KEPT:
        records.total[0] += change
    grown.state[layout.N_STEPS] = step + 1


# The plain learner never grows the same tree of numbers with more values.
MAX_SUMMED_CODES = 20_000


@entry
def prune(pruning):
    """Visit every node after its descendants; return which array is full."""
    state, nodes = pruning.grown.state, pruning.grown.nodes
    stack = pruning.members.stack
    while state[layout.N_WAITING] > 0:
        top = state[layout.N_WAITING] - 1
        node = stack[top, layout.NODE]
        if nodes[node, layout.N_CHILDREN] == 0:
            _set_leaf_estimate(pruning, node)
            state[layout.N_WAITING] = top
            continue
        if stack[top, layout.VISITED] == 0:
            short = _open_children(pruning, top)
        else:
            short = _prune_node(pruning, top)
        if short != layout.DONE:
            return short
    return layout.DONE


@kernel
def _open_children(pruning, top):
    """Push the inner children of a node with their members."""
    raising, members, grown = pruning.rules.raising, pruning.members, pruning.grown
    begin, end, was_unweighted = member_range(members, top)
    stack, node = members.stack, members.stack[top, layout.NODE]
    first = np.int64(grown.nodes[node, layout.FIRST_CHILD])
    n_children = grown.nodes[node, layout.N_CHILDREN]
    if top + 1 + n_children > len(stack):
        return layout.SHORT_OF_STACK
    size = _inner_members(grown, node)
    if raising and end + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    divided = set_shares(pruning, node)
    stack[top, layout.VISITED] = 1
    for child in range(first, first + n_children):
        if grown.nodes[child, layout.N_CHILDREN] == 0:
            _set_leaf_estimate(pruning, child)
    _push_children(pruning, node, end, was_unweighted and not divided)
    if raising and size > 0:
        move_members(pruning, node, begin, end, was_unweighted, end, size)
    return layout.DONE


@kernel
def _inner_members(grown, node):
    """Return the number of members of inner children."""
    nodes, counts, size = grown.nodes, grown.counts, 0
    first = np.int64(nodes[node, layout.FIRST_CHILD])
    for child in range(first, first + nodes[node, layout.N_CHILDREN]):
        if nodes[child, layout.N_CHILDREN] > 0:
            for c in range(counts.shape[1]):
                size += counts[child, c]
    return size


@kernel
def _push_children(pruning, node, begin, unweighted):
    """Push the inner children of a node, the first one on top.

    ``codes`` of the workspace receive the places of each branch, -1 for none.
    """
    nodes, places = pruning.grown.nodes, pruning.work.codes
    first, end = np.int64(nodes[node, layout.FIRST_CHILD]), begin
    for b in range(nodes[node, layout.N_CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.N_CHILDREN] > 0:
            places[b] = end - begin
            end = push_node(pruning, first + b, end, unweighted)


@kernel
def _prune_node(pruning, top):
    """Make a node a leaf, or replace it by its largest branch, or keep it."""
    rules, members, grown = pruning.rules, pruning.members, pruning.grown
    records = pruning.records
    estimates, risks = records.estimates, records.risks
    state, nodes, node = grown.state, grown.nodes, members.stack[top, layout.NODE]
    if state[layout.N_STEPS] >= len(records.steps):
        return layout.SHORT_OF_STEPS
    was_nodes, was_found = state[layout.N_NODES], state[layout.N_FOUND]
    was_written = state[layout.N_WRITTEN]
    as_tree, tree_risk, as_branch, branch_risk = 0.0, 0.0, np.inf, 0.0
    first = np.int64(nodes[node, layout.FIRST_CHILD])
    for child in range(first, first + nodes[node, layout.N_CHILDREN]):
        as_tree += estimates[child]
        tree_risk += risks[child]
    if rules.raising:
        short = _try_raising(pruning, top)
        state[layout.N_WAITING] = top + 1
        if short != layout.DONE:
            state[layout.N_NODES], state[layout.N_FOUND] = was_nodes, was_found
            state[layout.N_WRITTEN] = was_written
            return short
        as_branch, branch_risk = records.total[1], records.total[2]
    as_leaf = estimated_errors(rules, grown.weights, node, records.prior)
    leaf_risk = risk(rules, grown.weights, node, records.prior)
    limit = SLACK + EQUAL
    if as_leaf < as_tree + limit and as_leaf < as_branch + limit:
        change = leaf_risk - tree_risk
        _record_step(pruning, node, layout.REPLACED, as_tree, as_leaf, change)
        nodes[node, layout.N_CHILDREN] = 0
        estimates[node], risks[node] = as_leaf, leaf_risk
    elif as_branch < as_tree + limit:
        change = branch_risk - tree_risk
        _record_step(pruning, node, layout.RAISED, as_tree, as_branch, change)
        for column in range(layout.FIRST_CHILD, layout.CHOSEN + 1):
            nodes[node, column] = nodes[was_nodes, column]
        records.origin[node], records.is_recounted[node] = records.origin[was_nodes], 1
        members.stack[top, layout.VISITED] = 0
        return layout.DONE
    else:
        change = (leaf_risk if as_leaf <= as_branch else branch_risk) - tree_risk
        _record_step(
            pruning, node, layout.KEPT, as_tree, min(as_leaf, as_branch), change
        )
        estimates[node], risks[node] = as_tree, tree_risk
    state[layout.N_NODES], state[layout.N_FOUND] = was_nodes, was_found
    state[layout.N_WRITTEN], state[layout.N_WAITING] = was_written, top
    return layout.DONE


@kernel
def _largest_child(grown, node):
    """Return the heaviest child; ties go to the last."""
    nodes, weights, best, largest = grown.nodes, grown.weights, -1.0, 0
    first = np.int64(nodes[node, layout.FIRST_CHILD])
    for second_pass in range(2):
        for child in range(first, first + nodes[node, layout.N_CHILDREN]):
            size = 0.0
            for c in range(weights.shape[1]):
                size += weights[child, c]
            if second_pass == 0:
                best = max(best, size)
            elif size >= best - TOLERANCE * max(1.0, best):
                largest = child
    return largest


@kernel
def _copy_node(grown, records, node, new):
    """Append a copy of a node, for other rows."""
    nodes = grown.nodes
    for column in range(nodes.shape[1]):
        nodes[new, column] = nodes[node, column]
    if nodes[node, layout.N_CHILDREN] == 0:
        nodes[new, layout.N_CANDIDATES] = 0
    records.origin[new], records.is_recounted[new] = records.origin[node], 1


@kernel
def _try_raising(pruning, top):
    """Route all members of a node down its largest branch.

    The copy of the branch is the first new node. ``total`` receives its estimate, and
    its risk after the risk of the tree.
    """
    grown, records, stack = pruning.grown, pruning.records, pruning.members.stack
    state, nodes, n_classes = grown.state, grown.nodes, grown.weights.shape[1]
    node, new = stack[top, layout.NODE], state[layout.N_NODES]
    if new >= len(nodes):
        return layout.SHORT_OF_NODES
    if top + 2 > len(stack):
        return layout.SHORT_OF_STACK
    _copy_node(grown, records, _largest_child(grown, node), new)
    for c in range(n_classes):
        grown.weights[new, c] = grown.weights[node, c]
        grown.counts[new, c] = grown.counts[node, c]
    state[layout.N_NODES] = new + 1
    records.total[1] = records.total[2] = 0.0
    if nodes[new, layout.N_CHILDREN] == 0:
        _set_leaf_estimate(pruning, new)
        records.total[1], records.total[2] = records.estimates[new], records.risks[new]
        return layout.DONE
    for column in range(stack.shape[1]):
        stack[top + 1, column] = stack[top, column]
    stack[top + 1, layout.NODE] = new
    state[layout.N_WAITING] = top + 2
    short = layout.DONE
    while short == layout.DONE and state[layout.N_WAITING] > top + 1:
        short = _recount_copy(pruning, new)
    return short


@kernel
def _recount_copy(pruning, uppermost):
    """Recount the copy on top of the stack, and route its members."""
    members, grown, records = pruning.members, pruning.grown, pruning.records
    state, stack, nodes = grown.state, members.stack, grown.nodes
    top, first = state[layout.N_WAITING] - 1, state[layout.N_NODES]
    begin, end, was_unweighted = member_range(members, top)
    node = stack[top, layout.NODE]
    n_children = nodes[node, layout.N_CHILDREN]
    if first + n_children > len(nodes):
        return layout.SHORT_OF_NODES
    if top + n_children > len(stack):
        return layout.SHORT_OF_STACK
    if not _recount_candidate(pruning, node, begin, end, was_unweighted):
        return layout.SHORT_OF_LINES
    for b in range(n_children):
        _copy_node(
            grown, records, np.int64(nodes[node, layout.FIRST_CHILD]) + b, first + b
        )
    nodes[node, layout.FIRST_CHILD], state[layout.N_NODES] = first, first + n_children
    divided = set_shares(pruning, node)
    fill_children(pruning, node)
    for child in range(first, first + n_children):
        if nodes[child, layout.N_CHILDREN] == 0:
            _set_leaf_estimate(pruning, child)
            records.total[1] += records.estimates[child]
            records.total[2] += records.risks[child]
    # The members of the node itself stay where they are.
    to, size = end if node == uppermost else begin, _inner_members(grown, node)
    if to + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    state[layout.N_WAITING] = top
    _push_children(pruning, node, to, was_unweighted and not divided)
    if size > 0:
        move_members(pruning, node, begin, end, was_unweighted, to, size)
    return layout.DONE


@kernel
def _recount_candidate(pruning, node, begin, end, unweighted):
    """Write the lines of a node's split over these members; False without space.

    Numbers have two lines, at the values next to the threshold.
    """
    members, grown, facts = pruning.members, pruning.grown, pruning.columns.facts
    state, table, codes = grown.state, pruning.work.table, pruning.columns.codes
    candidate, new_candidate = chosen_candidate(grown, node), state[layout.N_FOUND]
    a = np.int64(grown.candidates[candidate, layout.ATTRIBUTE])
    low, label = np.int64(grown.candidates[candidate, layout.CUT]), codes.shape[1] - 1
    missing_code = facts[a, layout.N_CODES]
    numeric = facts[a, layout.KIND] == layout.NUMERIC
    n_classes = grown.weights.shape[1]
    n_lines, width = np.int64(2) if numeric else missing_code, 2 * n_classes
    below, above = np.int64(-1), missing_code
    line = state[layout.N_WRITTEN]
    if new_candidate >= len(grown.candidates) or line + 1 + n_lines > len(
        grown.line_codes
    ):
        return False
    for cell in range(width * (n_lines + 1)):
        table[cell] = 0.0
    for i in range(begin, end):
        code, table_line = np.int64(codes[members.rows[i], a]), n_lines
        if code != missing_code:
            table_line = np.int64(code > low) if numeric else code
            if code <= low:
                below = max(below, code)
            else:
                above = min(above, code)
        cell = width * table_line + np.int64(codes[members.rows[i], label])
        table[cell] += 1.0 if unweighted else members.fractions[i]
        table[cell + n_classes] += 1.0
    if numeric and not unweighted and missing_code <= MAX_SUMMED_CODES:
        _add_up_by_value(pruning, a, low, begin, end)
    for column in range(grown.candidates.shape[1]):
        grown.candidates[new_candidate, column] = grown.candidates[candidate, column]
    grown.candidates[new_candidate, layout.FIRST_LINE] = line
    n_written = 0
    for table_line in range(n_lines, n_lines + n_lines + 1):
        # The line of missing rows, the last one, comes first.
        table_line %= n_lines + 1
        rows = 0.0
        for c in range(n_classes):
            rows += table[width * table_line + n_classes + c]
        if table_line < n_lines and rows == 0.0:
            continue
        code = table_line
        if table_line == n_lines:
            code = np.int64(-1)
        elif numeric:
            code = below if table_line == 0 else above
        grown.line_codes[line + n_written] = code
        for c in range(n_classes):
            grown.line_weights[line + n_written, c] = table[width * table_line + c]
            count = np.int64(table[width * table_line + n_classes + c])
            grown.line_counts[line + n_written, c] = count
        n_written += 1
    grown.candidates[new_candidate, layout.N_LINES] = n_written
    grown.merits[new_candidate, 0] = grown.merits[new_candidate, 1] = np.nan
    grown.nodes[node, layout.FIRST_CANDIDATE] = new_candidate
    grown.nodes[node, layout.N_CANDIDATES] = 1
    grown.nodes[node, layout.CHOSEN] = 0
    state[layout.N_FOUND], state[layout.N_WRITTEN] = new_candidate + 1, line + n_written
    return True


@kernel
def _add_up_by_value(pruning, a, low, begin, end):
    """Sum both sides of a numeric split value by value, as the plain learner does.

    Sums of fractions round, so they depend on the order of adding.
    """
    members, codes = pruning.members, pruning.columns.codes
    n_classes = pruning.grown.weights.shape[1]
    missing_code = pruning.columns.facts[a, layout.N_CODES]
    value_weights, table = pruning.work.value_weights, pruning.work.table
    label = codes.shape[1] - 1
    first, last = np.int64(missing_code), np.int64(-1)
    for i in range(begin, end):
        code = np.int64(codes[members.rows[i], a])
        if code != missing_code:
            first, last = min(first, code), max(last, code)
    for cell in range(n_classes * first, n_classes * (last + 1)):
        value_weights[cell] = 0.0
    for i in range(begin, end):
        code = np.int64(codes[members.rows[i], a])
        if code != missing_code:
            c = np.int64(codes[members.rows[i], label])
            value_weights[n_classes * code + c] += members.fractions[i]
    for side in range(2):
        for c in range(n_classes):
            table[2 * n_classes * side + c] = 0.0
    for code in range(first, last + 1):
        side = np.int64(code > low)
        for c in range(n_classes):
            table[2 * n_classes * side + c] += value_weights[n_classes * code + c]
