"""Multiway trees, grown in one loop.

The node on top of the stack is split, and its members are replaced by those of its
children, the first child's on top, so that a subtree is grown before the next::

members   … | node            ]          members   … | child 2 | child 1 | child 0 ]
stack     … , node                       stack     … , child 2 , child 1 , child 0

Only children that may be split again have members. If an array is too short, the kernel
returns before it has changed anything of the node, and can be called again.
"""

from enum import IntEnum

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import (
    chosen_candidate,
    is_nominal,
    member_range,
)
from spinney.growth.multiway.kernels.search import choose_attribute, search_attributes
from spinney.growth.multiway.kernels.value_counts import collect_values


class Task(IntEnum):
    """The tasks of the entry: grow all nodes, or search or split the top node."""

    GROW = 0
    SEARCH = 1
    SPLIT = 2


@entry
def grow_nodes(growth, task, first, last):
    """Grow the nodes on the stack, until the pause; return which array is full.

    The other tasks concern the top node: search its attributes from ``first`` to
    ``last``, or split it by the results.
    """
    members, results, state = growth.members, growth.work.results, growth.grown.state
    while state[layout.N_WAITING] > 0:
        top = state[layout.N_WAITING] - 1
        if task != Task.SPLIT:
            for a in range(first, last):
                results[a, layout.N_VALUES] = -1 if members.used[top, a] else 0
            search_attributes(growth, top, first, last)
        if task == Task.SEARCH:
            return layout.DONE
        short = _split_node(growth, top)
        if short != layout.DONE or task == Task.SPLIT:
            return short
        if state[layout.N_NODES] >= state[layout.PAUSE_AT]:
            return layout.DONE
    return layout.DONE


@kernel
def _split_node(growth, top):
    """Split the top node of the stack, or make it a leaf."""
    columns, members, grown = growth.columns, growth.members, growth.grown
    state, stack = grown.state, members.stack
    begin, end, _ = member_range(members, top)
    node, chosen = stack[top, layout.NODE], choose_attribute(growth)
    keep_competitors = end - begin >= growth.limits.competitor_rows
    n_lines = state[layout.N_WRITTEN] + _lines_needed(growth, chosen, keep_competitors)
    n_candidates = state[layout.N_FOUND] + len(columns.facts)
    if n_candidates > len(grown.candidates):
        return layout.SHORT_OF_CANDIDATES
    if n_lines > len(grown.line_codes):
        return layout.SHORT_OF_LINES
    n_children = 0
    if chosen >= 0:
        n_children = 2
        if columns.facts[chosen, layout.KIND] == layout.NOMINAL:
            n_children = columns.facts[chosen, layout.N_CODES]
        if state[layout.N_NODES] + n_children > len(grown.nodes):
            return layout.SHORT_OF_NODES
        if top + n_children > len(stack):
            return layout.SHORT_OF_STACK
        n_added = (n_children - 1) * growth.work.results[chosen, layout.N_MISSING]
        if end + n_added > len(members.rows):
            return layout.SHORT_OF_MEMBERS
    _record_candidates(growth, top, chosen, keep_competitors)
    state[layout.N_WAITING] = top
    if chosen < 0:
        grown.nodes[node, layout.REASON] = -chosen
        return layout.DONE
    if columns.facts[chosen, layout.KIND] == layout.NOMINAL or not growth.limits.reuse:
        members.used[top, chosen] = 1
    unweighted = _make_children(growth, top, n_children)
    _move_to_children(growth, top, unweighted)
    return layout.DONE


@kernel
def _lines_needed(growth, chosen, keep_competitors):
    """Return the maximum number of lines for the splits to be recorded."""
    needed, results, facts = 0, growth.work.results, growth.columns.facts
    for a in range(len(results)):
        if a == chosen or (keep_competitors and results[a, layout.CAN_SPLIT]):
            numeric = facts[a, layout.KIND] == layout.NUMERIC
            needed += 3 if numeric else 1 + max(0, results[a, layout.N_VALUES])
    return needed


@kernel
def _record_candidates(growth, top, chosen, keep_competitors):
    """Record the winning split, and competitors if they are kept."""
    grown, merits, results = growth.grown, growth.work.merits, growth.work.results
    node, state = growth.members.stack[top, layout.NODE], grown.state
    first, n_recorded = state[layout.N_FOUND], 0
    grown.nodes[node, layout.FIRST_CANDIDATE] = first
    for a in range(len(results)):
        can_split = (
            results[a, layout.N_VALUES] >= 2 and results[a, layout.CAN_SPLIT] > 0
        )
        if not (can_split and (keep_competitors or a == chosen)):
            continue
        candidate = first + n_recorded
        if a == chosen:
            grown.nodes[node, layout.CHOSEN] = n_recorded
        grown.candidates[candidate, layout.ATTRIBUTE] = a
        grown.candidates[candidate, layout.LOW] = results[a, layout.LOW_CODE]
        grown.candidates[candidate, layout.CUT] = results[a, layout.LOW_CODE]
        grown.candidates[candidate, layout.HIGH] = results[a, layout.HIGH_CODE]
        grown.merits[candidate, layout.GAIN] = merits[a, layout.GAIN]
        grown.merits[candidate, layout.MERIT] = merits[a, layout.MERIT]
        _write_lines(growth, top, candidate)
        n_recorded += 1
    grown.nodes[node, layout.N_CANDIDATES] = n_recorded
    state[layout.N_FOUND] = first + n_recorded


@kernel
def _write_lines(growth, top, candidate):
    """Write the lines of a candidate: missing rows, then the values or both sides."""
    grown, work, n_classes = growth.grown, growth.work, growth.limits.n_classes
    candidates, (_, _, unweighted) = grown.candidates, member_range(growth.members, top)
    width = n_classes if unweighted else 2 * n_classes
    vectors, line = work.vectors, grown.state[layout.N_WRITTEN]
    candidates[candidate, layout.FIRST_LINE] = line
    a = candidates[candidate, layout.ATTRIBUTE]
    if growth.columns.facts[a, layout.KIND] == layout.NUMERIC:
        low = candidates[candidate, layout.LOW]
        high = candidates[candidate, layout.HIGH]
        _write_line(grown, line, -1, work.sides[a], 0, unweighted)
        _write_line(grown, line + 1, low, work.sides[a], 2 * n_classes, unweighted)
        _write_line(grown, line + 2, high, work.sides[a], 4 * n_classes, unweighted)
        candidates[candidate, layout.N_LINES] = 3
    else:
        n_values = collect_values(growth, top, a)
        _write_line(
            grown, line, -1, vectors, layout.MISSING * 2 * n_classes, unweighted
        )
        for j in range(n_values):
            _write_line(
                grown,
                line + 1 + j,
                work.codes[j],
                work.value_weights,
                width * j,
                unweighted,
            )
        candidates[candidate, layout.N_LINES] = 1 + n_values
    grown.state[layout.N_WRITTEN] = line + candidates[candidate, layout.N_LINES]


@kernel
def _write_line(grown, line, code, array, start, unweighted):
    weights, counts = grown.line_weights, grown.line_counts
    n_classes = weights.shape[1]
    grown.line_codes[line] = code
    for c in range(n_classes):
        weights[line, c] = array[start + c]
        count = array[start + c] if unweighted else array[start + n_classes + c]
        counts[line, c] = np.int64(count)


@kernel
def _make_children(growth, top, n_children):
    """Create the children with their weights, as leaves or with space for members.

    ``scores`` then has the proportion of each branch. Return whether the children are
    unweighted.
    """
    facts, members, grown = growth.columns.facts, growth.members, growth.grown
    state, nodes, shares = grown.state, grown.nodes, growth.work.scores
    node, first = members.stack[top, layout.NODE], state[layout.N_NODES]
    state[layout.N_NODES] = first + n_children
    nodes[node, layout.FIRST_CHILD], nodes[node, layout.N_CHILDREN] = first, n_children
    nodes[node, layout.REASON] = layout.INNER
    for child in range(first, first + n_children):
        for column in range(nodes.shape[1]):
            nodes[child, column] = 0
        nodes[child, layout.PARENT], nodes[child, layout.BRANCH] = node, child - first
        nodes[child, layout.DEPTH] = nodes[node, layout.DEPTH] + 1
        nodes[child, layout.CHOSEN], nodes[child, layout.REASON] = -1, layout.EMPTY
    divides_rows = set_shares(growth, node)
    fill_children(growth, node)
    n_unused, used = 0, members.used
    for a in range(len(facts)):
        n_unused += used[top, a] == 0
    for b in range(n_children):
        if shares[b] > 0.0:
            nodes[first + b, layout.REASON] = _reason_to_stop(
                growth, first + b, n_unused
            )
    return members.stack[top, layout.UNWEIGHTED] > 0 and not divides_rows


@kernel
def set_shares(growth, node):
    """Set the proportions of a node's branches; return whether rows are divided."""
    grown, shares = growth.grown, growth.work.scores
    nominal = is_nominal(growth, node)
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    candidates, candidate, total = grown.candidates, chosen_candidate(grown, node), 0.0
    line = candidates[candidate, layout.FIRST_LINE]
    low = candidates[candidate, layout.CUT]
    n_children, n_classes = nodes[node, layout.N_CHILDREN], line_weights.shape[1]
    end = line + candidates[candidate, layout.N_LINES]
    for b in range(n_children):
        shares[b] = 0.0
    # Added up as ``search.level_splits`` does: the lines of a branch by class first.
    for c in range(n_classes):
        if nominal:
            for i in range(line + 1, end):
                shares[codes[i]] += line_weights[i, c]
            continue
        left, right = 0.0, 0.0
        for i in range(line + 1, end):
            if codes[i] > low:
                right += line_weights[i, c]
            else:
                left += line_weights[i, c]
        shares[0] += left
        shares[1] += right
    for b in range(n_children):
        total += shares[b]
    for b in range(n_children):
        shares[b] /= total
    divided = False
    for c in range(n_classes):
        divided |= grown.line_counts[line, c] > 0
    return divided


@kernel
def fill_children(growth, node):
    """Set the weights and counts of the children of a node from its lines."""
    grown, shares = growth.grown, growth.work.scores
    nominal = is_nominal(growth, node)
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    weights, counts, line_counts = grown.weights, grown.counts, grown.line_counts
    candidates, candidate = grown.candidates, chosen_candidate(grown, node)
    line = candidates[candidate, layout.FIRST_LINE]
    low = candidates[candidate, layout.CUT]
    first, n_classes = np.int64(nodes[node, layout.FIRST_CHILD]), line_weights.shape[1]
    for b in range(nodes[node, layout.N_CHILDREN]):
        for c in range(n_classes):
            weights[first + b, c] = 0.0
            counts[first + b, c] = 0
    for i in range(line + 1, line + candidates[candidate, layout.N_LINES]):
        branch = codes[i] if nominal else np.int32(codes[i] > low)
        for c in range(n_classes):
            weights[first + branch, c] += line_weights[i, c]
            counts[first + branch, c] += line_counts[i, c]
    for b in range(nodes[node, layout.N_CHILDREN]):
        if shares[b] > 0.0:
            for c in range(n_classes):
                weights[first + b, c] += shares[b] * line_weights[line, c]
                counts[first + b, c] += line_counts[line, c]


@kernel
def _reason_to_stop(growth, node, n_attributes):
    """Return the reason why a node with rows is a leaf before it is searched."""
    limits, grown = growth.limits, growth.grown
    weights, counts = grown.weights, grown.counts
    present, weight = 0, 0.0
    for c in range(limits.n_classes):
        present += counts[node, c] > 0
        weight += weights[node, c]
    if present == 1:
        return layout.PURE
    if n_attributes == 0:
        return layout.EXHAUSTED
    if grown.nodes[node, layout.DEPTH] >= limits.max_depth:
        return layout.TOO_DEEP
    if weight < limits.min_node_weight * (1 - TOLERANCE):
        return layout.TOO_FEW
    return layout.INNER


@kernel
def _move_to_children(growth, top, unweighted):
    """Move members to the children that may be split, and push these children."""
    begin, end, was_unweighted = member_range(growth.members, top)
    node = growth.members.stack[top, layout.NODE]
    last = _push_children(growth, top, begin, node, unweighted)
    if last > begin:
        move_members(growth, node, begin, end, was_unweighted, begin, last - begin)


@kernel
def move_members(growth, node, begin, end, was_unweighted, to, size):
    """Move members of a node to the branches that have places, ``size`` in all.

    The places are in ``codes``, relative to ``to``, and the proportions in ``scores``.
    """
    members, grown = growth.members, growth.grown
    codes, places, shares = growth.columns.codes, growth.work.codes, growth.work.scores
    rows, fractions = members.rows, members.fractions
    row_buffer, fraction_buffer = members.row_buffer, members.fraction_buffer
    candidates, candidate = grown.candidates, chosen_candidate(grown, node)
    a, low = candidates[candidate, layout.ATTRIBUTE], candidates[candidate, layout.CUT]
    missing_code = growth.columns.facts[a, layout.N_CODES]
    nominal = is_nominal(growth, node)
    for i in range(begin, end):
        r = rows[i]
        code, fraction = np.int64(codes[r, a]), 1.0 if was_unweighted else fractions[i]
        if code == missing_code:
            for b in range(grown.nodes[node, layout.N_CHILDREN]):
                if places[b] >= 0 and shares[b] > 0.0:
                    row_buffer[places[b]] = r
                    fraction_buffer[places[b]] = fraction * shares[b]
                    places[b] += 1
            continue
        branch = code if nominal else np.int64(code > low)
        place = places[branch]
        if place >= 0:
            row_buffer[place], fraction_buffer[place] = r, fraction
            places[branch] = place + 1
    for i in range(size):
        rows[to + i], fractions[to + i] = row_buffer[i], fraction_buffer[i]


@kernel
def _push_children(growth, top, begin, node, unweighted):
    """Push the children that may be split, the first one on top.

    ``codes`` of the workspace receive the places of each branch, -1 for none. Return
    the end of the last place.
    """
    nodes, used, places = growth.grown.nodes, growth.members.used, growth.work.codes
    first, end = np.int64(nodes[node, layout.FIRST_CHILD]), begin
    for b in range(nodes[node, layout.N_CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.REASON] == layout.INNER:
            place_on_stack = growth.grown.state[layout.N_WAITING]
            places[b] = end - begin
            if place_on_stack > top:
                for a in range(used.shape[1]):
                    used[place_on_stack, a] = used[top, a]
            end = push_node(growth, first + b, end, unweighted)
    return end


@kernel
def push_node(growth, node, begin, unweighted):
    """Push a node whose members start at ``begin``; return their end."""
    state, counts, stack = growth.grown.state, growth.grown.counts, growth.members.stack
    top, end = state[layout.N_WAITING], begin
    for c in range(counts.shape[1]):
        end += counts[node, c]
    stack[top, layout.BEGIN], stack[top, layout.END] = begin, end
    stack[top, layout.NODE], stack[top, layout.UNWEIGHTED] = node, unweighted
    stack[top, layout.VISITED] = 0
    state[layout.N_WAITING] = top + 1
    return end
