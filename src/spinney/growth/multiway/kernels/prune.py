"""Error-based pruning in one loop, by the rules of ``growth.prune.error_based``.

The nodes of a tree are the drafts, and those that a raised branch would have are
written after them, to be taken back if the branch is not raised. The members of a node
stay where they are while its children are looked at; theirs follow::

    members   … | node | child 2 | child 1 | child 0 ]
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.errors import estimate, risk
from spinney.growth.multiway.kernels.grow import (
    fill_children,
    let_wait,
    move,
    share_out,
)
from spinney.growth.multiway.kernels.layout import question_of, stretch

SLACK = 0.1
EQUAL = 1e-6


@kernel
def _judge(pruning, node):
    """Note the estimate and the risk of a node as a leaf."""
    rules, grown, drafts = pruning.rules, pruning.grown, pruning.drafts
    weights, prior = grown.weights, drafts.prior
    drafts.estimates[node] = estimate(rules, weights, node, prior)
    drafts.risks[node] = risk(rules, weights, node, prior)


@kernel
def _note(pruning, node, action, before, after, change):
    grown, drafts = pruning.grown, pruning.drafts
    at, measures = grown.state[layout.STEPS], drafts.measures
    drafts.steps[at, 0], drafts.steps[at, 1] = drafts.origin[node], action
    measures[at, layout.BEFORE], measures[at, layout.AFTER] = before, after
    measures[at, layout.RISK_BEFORE] = drafts.total[0]
    measures[at, layout.RISK_AFTER] = drafts.total[0] + change
    if action != layout.KEPT:
        drafts.total[0] += change
    grown.state[layout.STEPS] = at + 1


# Of a number with more values no plain learner grows the same tree (``engine.py``).
MOST_SUMMED = 20_000


@entry
def prune(pruning):
    """Look at every node that waits, after all that is below it.

    Return what is short of room, if anything is.
    """
    state, nodes = pruning.grown.state, pruning.grown.nodes
    stack = pruning.members.stack
    while state[layout.WAITING] > 0:
        top = state[layout.WAITING] - 1
        node = stack[top, layout.NODE]
        if nodes[node, layout.CHILDREN] == 0:
            _judge(pruning, node)
            state[layout.WAITING] = top
            continue
        if stack[top, layout.PHASE] == 0:
            short = _send_down(pruning, top)
        else:
            short = _change(pruning, top)
        if short != layout.DONE:
            return short
    return layout.DONE


@kernel
def _send_down(pruning, top):
    """Let the children of a node be looked at, those that ask with their members."""
    raising, members, grown = pruning.rules.raising, pruning.members, pruning.grown
    begin, end, was_plain = stretch(members, top)
    stack, node = members.stack, members.stack[top, layout.NODE]
    first = np.int64(grown.nodes[node, layout.CHILD])
    n_children = grown.nodes[node, layout.CHILDREN]
    if top + 1 + n_children > len(stack):
        return layout.SHORT_OF_STACK
    size = _inner_members(grown, node)
    if raising and end + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    divided = share_out(pruning, node)
    stack[top, layout.PHASE] = 1
    for child in range(first, first + n_children):
        if grown.nodes[child, layout.CHILDREN] == 0:
            _judge(pruning, child)
    _let_wait(pruning, node, end, was_plain and not divided)
    if raising and size > 0:
        move(pruning, node, begin, end, was_plain, end, size)
    return layout.DONE


@kernel
def _inner_members(grown, node):
    """Return how many members the children have that ask something."""
    nodes, counts, size = grown.nodes, grown.counts, 0
    first = np.int64(nodes[node, layout.CHILD])
    for child in range(first, first + nodes[node, layout.CHILDREN]):
        if nodes[child, layout.CHILDREN] > 0:
            for c in range(counts.shape[1]):
                size += counts[child, c]
    return size


@kernel
def _let_wait(pruning, node, begin, plain):
    """Let the children wait that ask something, the first one on top.

    The workspace's ``codes`` become where the members of each branch go, -1 for
    nowhere.
    """
    nodes, places = pruning.grown.nodes, pruning.work.codes
    first, end = np.int64(nodes[node, layout.CHILD]), begin
    for b in range(nodes[node, layout.CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.CHILDREN] > 0:
            places[b] = end - begin
            end = let_wait(pruning, first + b, end, plain)


@kernel
def _change(pruning, top):
    """Make a leaf of a node, or put its largest branch in its place, or keep it."""
    rules, members, grown = pruning.rules, pruning.members, pruning.grown
    drafts = pruning.drafts
    estimates, risks = drafts.estimates, drafts.risks
    state, nodes, node = grown.state, grown.nodes, members.stack[top, layout.NODE]
    if state[layout.STEPS] >= len(drafts.steps):
        return layout.SHORT_OF_STEPS
    was_nodes, was_found = state[layout.NODES], state[layout.FOUND]
    was_written = state[layout.WRITTEN]
    as_tree, tree_risk, as_branch, branch_risk = 0.0, 0.0, np.inf, 0.0
    first = np.int64(nodes[node, layout.CHILD])
    for child in range(first, first + nodes[node, layout.CHILDREN]):
        as_tree += estimates[child]
        tree_risk += risks[child]
    if rules.raising:
        short = _try_branch(pruning, top)
        state[layout.WAITING] = top + 1
        if short != layout.DONE:
            state[layout.NODES], state[layout.FOUND] = was_nodes, was_found
            state[layout.WRITTEN] = was_written
            return short
        as_branch, branch_risk = drafts.total[1], drafts.total[2]
    as_leaf = estimate(rules, grown.weights, node, drafts.prior)
    leaf_risk = risk(rules, grown.weights, node, drafts.prior)
    limit = SLACK + EQUAL
    if as_leaf < as_tree + limit and as_leaf < as_branch + limit:
        change = leaf_risk - tree_risk
        _note(pruning, node, layout.REPLACED, as_tree, as_leaf, change)
        nodes[node, layout.CHILDREN] = 0
        estimates[node], risks[node] = as_leaf, leaf_risk
    elif as_branch < as_tree + limit:
        change = branch_risk - tree_risk
        _note(pruning, node, layout.RAISED, as_tree, as_branch, change)
        for column in range(layout.CHILD, layout.CHOSEN + 1):
            nodes[node, column] = nodes[was_nodes, column]
        drafts.origin[node], drafts.moved[node] = drafts.origin[was_nodes], 1
        members.stack[top, layout.PHASE] = 0
        return layout.DONE
    else:
        change = (leaf_risk if as_leaf <= as_branch else branch_risk) - tree_risk
        _note(pruning, node, layout.KEPT, as_tree, min(as_leaf, as_branch), change)
        estimates[node], risks[node] = as_tree, tree_risk
    state[layout.NODES], state[layout.FOUND] = was_nodes, was_found
    state[layout.WRITTEN], state[layout.WAITING] = was_written, top
    return layout.DONE


@kernel
def _largest(grown, node):
    """Return the heaviest child, the last of equals."""
    nodes, weights, best, largest = grown.nodes, grown.weights, -1.0, 0
    first = np.int64(nodes[node, layout.CHILD])
    for turn in range(2):
        for child in range(first, first + nodes[node, layout.CHILDREN]):
            size = 0.0
            for c in range(weights.shape[1]):
                size += weights[child, c]
            if turn == 0:
                best = max(best, size)
            elif size >= best - TOLERANCE * max(1.0, best):
                largest = child
    return largest


@kernel
def _copy(grown, drafts, node, new):
    """Write a draft down once more, to have other rows."""
    nodes = grown.nodes
    for column in range(nodes.shape[1]):
        nodes[new, column] = nodes[node, column]
    if nodes[node, layout.CHILDREN] == 0:
        nodes[new, layout.CANDIDATES] = 0
    drafts.origin[new], drafts.moved[new] = drafts.origin[node], 1


@kernel
def _try_branch(pruning, top):
    """Send all members of a node down its largest branch.

    The copy of the branch is the first draft that is new; ``total`` has its estimate
    and its risk after that of the tree.
    """
    grown, drafts, stack = pruning.grown, pruning.drafts, pruning.members.stack
    state, nodes, n_classes = grown.state, grown.nodes, grown.weights.shape[1]
    node, new = stack[top, layout.NODE], state[layout.NODES]
    if new >= len(nodes):
        return layout.SHORT_OF_NODES
    if top + 2 > len(stack):
        return layout.SHORT_OF_STACK
    _copy(grown, drafts, _largest(grown, node), new)
    for c in range(n_classes):
        grown.weights[new, c] = grown.weights[node, c]
        grown.counts[new, c] = grown.counts[node, c]
    state[layout.NODES] = new + 1
    drafts.total[1] = drafts.total[2] = 0.0
    if nodes[new, layout.CHILDREN] == 0:
        _judge(pruning, new)
        drafts.total[1], drafts.total[2] = drafts.estimates[new], drafts.risks[new]
        return layout.DONE
    for column in range(stack.shape[1]):
        stack[top + 1, column] = stack[top, column]
    stack[top + 1, layout.NODE] = new
    state[layout.WAITING] = top + 2
    short = layout.DONE
    while short == layout.DONE and state[layout.WAITING] > top + 1:
        short = _send_copy(pruning, new)
    return short


@kernel
def _send_copy(pruning, uppermost):
    """Count the copy on top of the stack again, and send its members on."""
    members, grown, drafts = pruning.members, pruning.grown, pruning.drafts
    state, stack, nodes = grown.state, members.stack, grown.nodes
    top, first = state[layout.WAITING] - 1, state[layout.NODES]
    begin, end, was_plain = stretch(members, top)
    node = stack[top, layout.NODE]
    n_children = nodes[node, layout.CHILDREN]
    if first + n_children > len(nodes):
        return layout.SHORT_OF_NODES
    if top + n_children > len(stack):
        return layout.SHORT_OF_STACK
    if not _recount(pruning, node, begin, end, was_plain):
        return layout.SHORT_OF_LINES
    for b in range(n_children):
        _copy(grown, drafts, np.int64(nodes[node, layout.CHILD]) + b, first + b)
    nodes[node, layout.CHILD], state[layout.NODES] = first, first + n_children
    divided = share_out(pruning, node)
    fill_children(pruning, node)
    for child in range(first, first + n_children):
        if nodes[child, layout.CHILDREN] == 0:
            _judge(pruning, child)
            drafts.total[1] += drafts.estimates[child]
            drafts.total[2] += drafts.risks[child]
    # The members of the node itself stay where they are.
    to, size = end if node == uppermost else begin, _inner_members(grown, node)
    if to + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    state[layout.WAITING] = top
    _let_wait(pruning, node, to, was_plain and not divided)
    if size > 0:
        move(pruning, node, begin, end, was_plain, to, size)
    return layout.DONE


@kernel
def _recount(pruning, node, begin, end, plain):
    """Write the lines of a node's question over these members; False without room.

    Of a number there are two lines, at the values next to the threshold.
    """
    members, grown, facts = pruning.members, pruning.grown, pruning.columns.facts
    state, table, codes = grown.state, pruning.work.table, pruning.columns.codes
    old, new = question_of(grown, node), state[layout.FOUND]
    a = np.int64(grown.candidates[old, layout.ATTRIBUTE])
    low, label = np.int64(grown.candidates[old, layout.CUT]), codes.shape[1] - 1
    absent, numeric = facts[a, layout.CODES], facts[a, layout.KIND] == layout.NUMERIC
    n_classes = grown.weights.shape[1]
    n_lines, width = np.int64(2) if numeric else absent, 2 * n_classes
    below, above = np.int64(-1), absent
    line = state[layout.WRITTEN]
    if new >= len(grown.candidates) or line + 1 + n_lines > len(grown.line_codes):
        return False
    for cell in range(width * (n_lines + 1)):
        table[cell] = 0.0
    for i in range(begin, end):
        code, at = np.int64(codes[members.rows[i], a]), n_lines
        if code != absent:
            at = np.int64(code > low) if numeric else code
            if code <= low:
                below = max(below, code)
            else:
                above = min(above, code)
        cell = width * at + np.int64(codes[members.rows[i], label])
        table[cell] += 1.0 if plain else members.parts[i]
        table[cell + n_classes] += 1.0
    if numeric and not plain and absent <= MOST_SUMMED:
        _add_up_by_value(pruning, a, low, begin, end)
    for column in range(grown.candidates.shape[1]):
        grown.candidates[new, column] = grown.candidates[old, column]
    grown.candidates[new, layout.LINE] = line
    number = 0
    for at in range(n_lines, n_lines + n_lines + 1):
        # The line of missing rows, the last one, comes first.
        at %= n_lines + 1
        rows = 0.0
        for c in range(n_classes):
            rows += table[width * at + n_classes + c]
        if at < n_lines and rows == 0.0:
            continue
        code = at
        if at == n_lines:
            code = np.int64(-1)
        elif numeric:
            code = below if at == 0 else above
        grown.line_codes[line + number] = code
        for c in range(n_classes):
            grown.line_weights[line + number, c] = table[width * at + c]
            count = np.int64(table[width * at + n_classes + c])
            grown.line_counts[line + number, c] = count
        number += 1
    grown.candidates[new, layout.LINES] = number
    grown.merits[new, 0] = grown.merits[new, 1] = np.nan
    grown.nodes[node, layout.CANDIDATE], grown.nodes[node, layout.CANDIDATES] = new, 1
    grown.nodes[node, layout.CHOSEN] = 0
    state[layout.FOUND], state[layout.WRITTEN] = new + 1, line + number
    return True


@kernel
def _add_up_by_value(pruning, a, low, begin, end):
    """Add up both sides of a number anew, value by value, as the plain learner does.

    Parts of members round; so the order in which they are added up shows.
    """
    members, codes = pruning.members, pruning.columns.codes
    n_classes, absent = (
        pruning.grown.weights.shape[1],
        pruning.columns.facts[a, layout.CODES],
    )
    runs, table, label = pruning.work.runs, pruning.work.table, codes.shape[1] - 1
    first, last = np.int64(absent), np.int64(-1)
    for i in range(begin, end):
        code = np.int64(codes[members.rows[i], a])
        if code != absent:
            first, last = min(first, code), max(last, code)
    for cell in range(n_classes * first, n_classes * (last + 1)):
        runs[cell] = 0.0
    for i in range(begin, end):
        code = np.int64(codes[members.rows[i], a])
        if code != absent:
            c = np.int64(codes[members.rows[i], label])
            runs[n_classes * code + c] += members.parts[i]
    for side in range(2):
        for c in range(n_classes):
            table[2 * n_classes * side + c] = 0.0
    for code in range(first, last + 1):
        side = np.int64(code > low)
        for c in range(n_classes):
            table[2 * n_classes * side + c] += runs[n_classes * code + c]
