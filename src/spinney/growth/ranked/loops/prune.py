"""Error-based pruning in one loop, by the rules of ``growth.prune.error_based``.

The nodes of a tree are the drafts, and those that a raised branch would have are
written after them, to be taken back if the branch is not raised. The members of a node
stay where they are while its children are looked at; theirs follow::

    members   … | node | child 2 | child 1 | child 0 ]
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.jit.references import reference
from spinney.growth.ranked.loops import layout
from spinney.growth.ranked.loops.errors import estimate, wrong
from spinney.growth.ranked.loops.grow import fill_children, move, share_out

TOLERANCE = 1e-12
SLACK = 0.1
EQUAL = 1e-6


@kernel
def _judge(rules, grown, drafts, node):
    """Note the estimate and the risk of a node as a leaf."""
    weights, prior = grown.weights, drafts.prior
    drafts.estimates[node] = estimate(rules, weights, node, prior)
    drafts.risks[node] = wrong(weights, node, prior, rules.scale)


@kernel
def _note(grown, drafts, node, action, before, after, change):
    at, measures = grown.state[layout.STEPS], drafts.measures
    drafts.steps[at, 0], drafts.steps[at, 1] = drafts.origin[node], action
    measures[at, layout.BEFORE], measures[at, layout.AFTER] = before, after
    measures[at, layout.RISK_BEFORE] = drafts.total[0]
    measures[at, layout.RISK_AFTER] = drafts.total[0] + change
    if action != layout.KEPT:
        drafts.total[0] += change
    grown.state[layout.STEPS] = at + 1


@entry
def prune(ranked, rules, members, grown, drafts, space):
    """Look at every node that waits, after all that is below it.

    Return what is short of room, if anything is.
    """
    ranked, rules, members = reference(ranked), reference(rules), reference(members)
    grown, drafts, space = reference(grown), reference(drafts), reference(space)
    state, stack, nodes = grown.state, members.stack, grown.nodes
    while state[layout.WAITING] > 0:
        top = state[layout.WAITING] - 1
        node = stack[top, layout.NODE]
        if nodes[node, layout.CHILDREN] == 0:
            _judge(rules, grown, drafts, node)
            state[layout.WAITING] = top
            continue
        if stack[top, layout.PHASE] == 0:
            short = _send_down(ranked, rules, members, grown, drafts, space, top)
        else:
            short = _change(ranked, rules, members, grown, drafts, space, top)
        if short != layout.DONE:
            return short
    return layout.DONE


@kernel
def _is_nominal(ranked, grown, node):
    candidate = grown.nodes[node, layout.CANDIDATE] + grown.nodes[node, layout.CHOSEN]
    return (
        ranked.facts[grown.candidates[candidate, layout.ATTRIBUTE], layout.KIND]
        == layout.NOMINAL
    )


@kernel
def _send_down(ranked, rules, members, grown, drafts, space, top):
    """Let the children of a node be looked at, those that ask with their members."""
    stack, end, node = (
        members.stack,
        members.stack[top, layout.END],
        members.stack[top, layout.NODE],
    )
    if top + 1 + grown.nodes[node, layout.CHILDREN] > len(stack):
        return layout.SHORT_OF_STACK
    size = _inner_members(grown, node)
    if rules.raising and end + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    divided = share_out(grown, space.worths, node, _is_nominal(ranked, grown, node))
    was_plain = stack[top, layout.PLAIN] > 0
    stack[top, layout.PHASE] = 1
    for child in range(
        np.int64(grown.nodes[node, layout.CHILD]),
        np.int64(grown.nodes[node, layout.CHILD]) + grown.nodes[node, layout.CHILDREN],
    ):
        if grown.nodes[child, layout.CHILDREN] == 0:
            _judge(rules, grown, drafts, child)
    _let_wait(members, grown, space.codes, node, end, was_plain and not divided)
    if rules.raising and size > 0:
        begin = stack[top, layout.BEGIN]
        move(ranked, members, grown, space, node, begin, end, was_plain, end, size)
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
def _let_wait(members, grown, places, node, begin, plain):
    """Let the children wait that ask something, the first one on top."""
    stack, state, nodes, counts = members.stack, grown.state, grown.nodes, grown.counts
    first, place = np.int64(nodes[node, layout.CHILD]), begin
    for b in range(nodes[node, layout.CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.CHILDREN] == 0:
            continue
        size, now = 0, state[layout.WAITING]
        for c in range(counts.shape[1]):
            size += counts[first + b, c]
        stack[now, layout.BEGIN], stack[now, layout.END] = place, place + size
        stack[now, layout.NODE], stack[now, layout.PLAIN] = first + b, plain
        stack[now, layout.PHASE] = 0
        places[b] = place - begin
        place += size
        state[layout.WAITING] = now + 1


@kernel
def _change(ranked, rules, members, grown, drafts, space, top):
    """Make a leaf of a node, or put its largest branch in its place, or keep it."""
    state, nodes, node = grown.state, grown.nodes, members.stack[top, layout.NODE]
    estimates, risks = drafts.estimates, drafts.risks
    if state[layout.STEPS] >= len(drafts.steps):
        return layout.SHORT_OF_STEPS
    was_nodes, was_found, was_written = (
        state[layout.NODES],
        state[layout.FOUND],
        state[layout.WRITTEN],
    )
    as_tree, tree_risk, as_branch, branch_risk = 0.0, 0.0, np.inf, 0.0
    first = np.int64(nodes[node, layout.CHILD])
    for child in range(first, first + nodes[node, layout.CHILDREN]):
        as_tree += estimates[child]
        tree_risk += risks[child]
    if rules.raising:
        short = _try_branch(ranked, rules, members, grown, drafts, space, top)
        state[layout.WAITING] = top + 1
        if short != layout.DONE:
            state[layout.NODES], state[layout.FOUND] = was_nodes, was_found
            state[layout.WRITTEN] = was_written
            return short
        as_branch, branch_risk = drafts.total[1], drafts.total[2]
    as_leaf = estimate(rules, grown.weights, node, drafts.prior)
    leaf_risk = wrong(grown.weights, node, drafts.prior, rules.scale)
    limit = SLACK + EQUAL
    if as_leaf < as_tree + limit and as_leaf < as_branch + limit:
        change = leaf_risk - tree_risk
        _note(grown, drafts, node, layout.REPLACED, as_tree, as_leaf, change)
        nodes[node, layout.CHILDREN] = 0
        estimates[node], risks[node] = as_leaf, leaf_risk
    elif as_branch < as_tree + limit:
        change = branch_risk - tree_risk
        _note(grown, drafts, node, layout.RAISED, as_tree, as_branch, change)
        for column in range(layout.CHILD, layout.CHOSEN + 1):
            nodes[node, column] = nodes[was_nodes, column]
        drafts.origin[node], drafts.moved[node] = drafts.origin[was_nodes], 1
        members.stack[top, layout.PHASE] = 0
        return layout.DONE
    else:
        change = (leaf_risk if as_leaf <= as_branch else branch_risk) - tree_risk
        _note(
            grown, drafts, node, layout.KEPT, as_tree, min(as_leaf, as_branch), change
        )
        estimates[node], risks[node] = as_tree, tree_risk
    state[layout.NODES], state[layout.FOUND], state[layout.WRITTEN] = (
        was_nodes,
        was_found,
        was_written,
    )
    state[layout.WAITING] = top
    return layout.DONE


@kernel
def _largest(grown, node):
    """Return the heaviest child, the last of equals."""
    nodes, weights, best, found = grown.nodes, grown.weights, -1.0, 0
    first = np.int64(nodes[node, layout.CHILD])
    for turn in range(2):
        for child in range(first, first + nodes[node, layout.CHILDREN]):
            size = 0.0
            for c in range(weights.shape[1]):
                size += weights[child, c]
            if turn == 0:
                best = max(best, size)
            elif size >= best - TOLERANCE * max(1.0, best):
                found = child
    return found


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
def _try_branch(ranked, rules, members, grown, drafts, space, top):
    """Send all members of a node down its largest branch.

    The copy of the branch is the first draft that is new; ``total`` has its estimate
    and its risk after that of the tree.
    """
    state, stack, nodes = grown.state, members.stack, grown.nodes
    node, new, n_classes = (
        stack[top, layout.NODE],
        state[layout.NODES],
        grown.weights.shape[1],
    )
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
        _judge(rules, grown, drafts, new)
        drafts.total[1], drafts.total[2] = drafts.estimates[new], drafts.risks[new]
        return layout.DONE
    for column in range(stack.shape[1]):
        stack[top + 1, column] = stack[top, column]
    stack[top + 1, layout.NODE] = new
    state[layout.WAITING] = top + 2
    short = layout.DONE
    while short == layout.DONE and state[layout.WAITING] > top + 1:
        short = _send_copy(ranked, rules, members, grown, drafts, space, new)
    return short


@kernel
def _send_copy(ranked, rules, members, grown, drafts, space, uppermost):
    """Count the copy on top of the stack again, and send its members on."""
    state, stack, nodes = grown.state, members.stack, grown.nodes
    top, first = state[layout.WAITING] - 1, state[layout.NODES]
    begin, end, node = (
        stack[top, layout.BEGIN],
        stack[top, layout.END],
        stack[top, layout.NODE],
    )
    was_plain, n_children = stack[top, layout.PLAIN] > 0, nodes[node, layout.CHILDREN]
    if first + n_children > len(nodes):
        return layout.SHORT_OF_NODES
    if top + n_children > len(stack):
        return layout.SHORT_OF_STACK
    if not _recount(ranked, members, grown, space, node, begin, end, was_plain):
        return layout.SHORT_OF_LINES
    for b in range(n_children):
        _copy(grown, drafts, np.int64(nodes[node, layout.CHILD]) + b, first + b)
    nodes[node, layout.CHILD], state[layout.NODES] = first, first + n_children
    nominal = _is_nominal(ranked, grown, node)
    divided = share_out(grown, space.worths, node, nominal)
    fill_children(grown, space.worths, node, nominal)
    for child in range(first, first + n_children):
        if nodes[child, layout.CHILDREN] == 0:
            _judge(rules, grown, drafts, child)
            drafts.total[1] += drafts.estimates[child]
            drafts.total[2] += drafts.risks[child]
    # The members of the node itself stay where they are.
    to, size = end if node == uppermost else begin, _inner_members(grown, node)
    if to + size > len(members.rows):
        return layout.SHORT_OF_MEMBERS
    state[layout.WAITING] = top
    _let_wait(members, grown, space.codes, node, to, was_plain and not divided)
    if size > 0:
        move(ranked, members, grown, space, node, begin, end, was_plain, to, size)
    return layout.DONE


@kernel
def _recount(ranked, members, grown, space, node, begin, end, plain):
    """Write the lines of a node's question over these members; False without room.

    Of a number there are two lines, at the values next to the threshold.
    """
    state, table, codes = grown.state, space.table, ranked.codes
    old, new = (
        grown.nodes[node, layout.CANDIDATE] + grown.nodes[node, layout.CHOSEN],
        state[layout.FOUND],
    )
    a, n_classes = (
        np.int64(grown.candidates[old, layout.ATTRIBUTE]),
        grown.weights.shape[1],
    )
    low, label = np.int64(grown.candidates[old, layout.CUT]), codes.shape[1] - 1
    absent, numeric = (
        ranked.facts[a, layout.CODES],
        ranked.facts[a, layout.KIND] == layout.NUMERIC,
    )
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
