"""Trees of several branches, grown in one loop.

The node on top of the stack is split, and its members give way to those of its
children, the first child's on top, so that a subtree is grown before the next::

    members   … | node            ]          members   … | child 2 | child 1 | child 0 ]
    stack     … , node                       stack     … , child 2 , child 1 , child 0

Only children that may be split again have members. When an array is too short the loop
returns before it has changed anything of the node, and can be called again.
"""

from enum import IntEnum

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.count import runs_of
from spinney.growth.multiway.kernels.layout import is_nominal, question_of, stretch
from spinney.growth.multiway.kernels.search import choose, search


class Task(IntEnum):
    """What the entry does: all that waits, or a part of it with the node on top."""

    GROW = 0
    SEARCH = 1
    SPLIT = 2


@entry
def grow(growth, task, first, last):
    """Grow what waits, or until it is to pause; return what is short of room, if any.

    Other tasks than GROW are about the node on top: to search its attributes from
    ``first`` to ``last``, or to split it by the results.
    """
    members, results, state = growth.members, growth.work.results, growth.grown.state
    while state[layout.WAITING] > 0:
        top = state[layout.WAITING] - 1
        if task != Task.SPLIT:
            for a in range(first, last):
                results[a, layout.VALUES] = -1 if members.used[top, a] else 0
            search(growth, top, first, last)
        if task == Task.SEARCH:
            return layout.DONE
        short = _finish(growth, top)
        if short != layout.DONE or task == Task.SPLIT:
            return short
        if state[layout.NODES] >= state[layout.PAUSE]:
            return layout.DONE
    return layout.DONE


@kernel
def _finish(growth, top):
    """Split the node on top of the stack, or make it a leaf."""
    columns, members, grown = growth.columns, growth.members, growth.grown
    state, stack = grown.state, members.stack
    begin, end, _ = stretch(members, top)
    node, chosen = stack[top, layout.NODE], choose(growth)
    keeping = end - begin >= growth.limits.runners_up
    n_lines = state[layout.WRITTEN] + _lines_needed(growth, chosen, keeping)
    n_candidates = state[layout.FOUND] + len(columns.facts)
    if n_candidates > len(grown.candidates):
        return layout.SHORT_OF_CANDIDATES
    if n_lines > len(grown.line_codes):
        return layout.SHORT_OF_LINES
    n_children = 0
    if chosen >= 0:
        n_children = 2
        if columns.facts[chosen, layout.KIND] == layout.NOMINAL:
            n_children = columns.facts[chosen, layout.CODES]
        if state[layout.NODES] + n_children > len(grown.nodes):
            return layout.SHORT_OF_NODES
        if top + n_children > len(stack):
            return layout.SHORT_OF_STACK
        more = (n_children - 1) * growth.work.results[chosen, layout.LOST]
        if end + more > len(members.rows):
            return layout.SHORT_OF_MEMBERS
    _record(growth, top, chosen, keeping)
    state[layout.WAITING] = top
    if chosen < 0:
        grown.nodes[node, layout.REASON] = -chosen
        return layout.DONE
    if columns.facts[chosen, layout.KIND] == layout.NOMINAL or not growth.limits.reuse:
        members.used[top, chosen] = 1
    plain = _make_children(growth, top, n_children)
    _send(growth, top, plain)
    return layout.DONE


@kernel
def _lines_needed(growth, chosen, keeping):
    """Return how many lines at most the splits have that are to be written down."""
    needed, results, facts = 0, growth.work.results, growth.columns.facts
    for a in range(len(results)):
        if a == chosen or (keeping and results[a, layout.ABLE]):
            numeric = facts[a, layout.KIND] == layout.NUMERIC
            needed += 3 if numeric else 1 + max(0, results[a, layout.VALUES])
    return needed


@kernel
def _record(growth, top, chosen, keeping):
    """Write down the split that won, and those that lost where they are kept."""
    grown, merits, results = growth.grown, growth.work.merits, growth.work.results
    node, state = growth.members.stack[top, layout.NODE], grown.state
    first, number = state[layout.FOUND], 0
    grown.nodes[node, layout.CANDIDATE] = first
    for a in range(len(results)):
        able = results[a, layout.VALUES] >= 2 and results[a, layout.ABLE] > 0
        if not (able and (keeping or a == chosen)):
            continue
        at = first + number
        if a == chosen:
            grown.nodes[node, layout.CHOSEN] = number
        grown.candidates[at, layout.ATTRIBUTE] = a
        grown.candidates[at, layout.LOW] = results[a, layout.BELOW]
        grown.candidates[at, layout.CUT] = results[a, layout.BELOW]
        grown.candidates[at, layout.HIGH] = results[a, layout.ABOVE]
        grown.merits[at, layout.GAIN] = merits[a, layout.GAIN]
        grown.merits[at, layout.MERIT] = merits[a, layout.MERIT]
        _write_lines(growth, top, at)
        number += 1
    grown.nodes[node, layout.CANDIDATES] = number
    state[layout.FOUND] = first + number


@kernel
def _write_lines(growth, top, at):
    """Write the lines of a candidate: the missing rows, then values, or both sides."""
    grown, work, n_classes = growth.grown, growth.work, growth.limits.n_classes
    candidates, (_, _, plain) = grown.candidates, stretch(growth.members, top)
    width = n_classes if plain else 2 * n_classes
    vectors, line = work.vectors, grown.state[layout.WRITTEN]
    candidates[at, layout.LINE] = line
    a = candidates[at, layout.ATTRIBUTE]
    if growth.columns.facts[a, layout.KIND] == layout.NUMERIC:
        low, high = candidates[at, layout.LOW], candidates[at, layout.HIGH]
        _write(grown, line, -1, work.sides[a], 0, plain)
        _write(grown, line + 1, low, work.sides[a], 2 * n_classes, plain)
        _write(grown, line + 2, high, work.sides[a], 4 * n_classes, plain)
        candidates[at, layout.LINES] = 3
    else:
        n_runs = runs_of(growth, top, a)
        _write(grown, line, -1, vectors, layout.AWAY * 2 * n_classes, plain)
        for j in range(n_runs):
            _write(grown, line + 1 + j, work.codes[j], work.runs, width * j, plain)
        candidates[at, layout.LINES] = 1 + n_runs
    grown.state[layout.WRITTEN] = line + candidates[at, layout.LINES]


@kernel
def _write(grown, line, code, array, at, plain):
    weights, counts = grown.line_weights, grown.line_counts
    n_classes = weights.shape[1]
    grown.line_codes[line] = code
    for c in range(n_classes):
        weights[line, c] = array[at + c]
        count = array[at + c] if plain else array[at + n_classes + c]
        counts[line, c] = np.int64(count)


@kernel
def _make_children(growth, top, n_children):
    """Make the children with their weights, each a leaf or with room for its members.

    ``scores`` has the share of each branch then. Return whether the children are plain.
    """
    facts, members, grown = growth.columns.facts, growth.members, growth.grown
    state, nodes, shares = grown.state, grown.nodes, growth.work.scores
    node, first = members.stack[top, layout.NODE], state[layout.NODES]
    state[layout.NODES] = first + n_children
    nodes[node, layout.CHILD], nodes[node, layout.CHILDREN] = first, n_children
    nodes[node, layout.REASON] = layout.INNER
    for child in range(first, first + n_children):
        for column in range(nodes.shape[1]):
            nodes[child, column] = 0
        nodes[child, layout.PARENT], nodes[child, layout.BRANCH] = node, child - first
        nodes[child, layout.DEPTH] = nodes[node, layout.DEPTH] + 1
        nodes[child, layout.CHOSEN], nodes[child, layout.REASON] = -1, layout.EMPTY
    divided = share_out(growth, node)
    fill_children(growth, node)
    left, used = 0, members.used
    for a in range(len(facts)):
        left += used[top, a] == 0
    for b in range(n_children):
        if shares[b] > 0.0:
            nodes[first + b, layout.REASON] = _reason_to_stop(growth, first + b, left)
    return members.stack[top, layout.PLAIN] > 0 and not divided


@kernel
def share_out(growth, node):
    """Find the shares of a node's branches; return whether rows are to be divided."""
    grown, shares = growth.grown, growth.work.scores
    nominal = is_nominal(growth, node)
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    candidates, candidate, known = grown.candidates, question_of(grown, node), 0.0
    line, low = candidates[candidate, layout.LINE], candidates[candidate, layout.CUT]
    n_children, n_classes = nodes[node, layout.CHILDREN], line_weights.shape[1]
    end = line + candidates[candidate, layout.LINES]
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
        known += shares[b]
    for b in range(n_children):
        shares[b] /= known
    divided = False
    for c in range(n_classes):
        divided |= grown.line_counts[line, c] > 0
    return divided


@kernel
def fill_children(growth, node):
    """Give the children of a node the weights and counts of its lines."""
    grown, shares = growth.grown, growth.work.scores
    nominal = is_nominal(growth, node)
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    weights, counts, line_counts = grown.weights, grown.counts, grown.line_counts
    candidates, candidate = grown.candidates, question_of(grown, node)
    line, low = candidates[candidate, layout.LINE], candidates[candidate, layout.CUT]
    first, n_classes = np.int64(nodes[node, layout.CHILD]), line_weights.shape[1]
    for b in range(nodes[node, layout.CHILDREN]):
        for c in range(n_classes):
            weights[first + b, c] = 0.0
            counts[first + b, c] = 0
    for i in range(line + 1, line + candidates[candidate, layout.LINES]):
        branch = codes[i] if nominal else np.int32(codes[i] > low)
        for c in range(n_classes):
            weights[first + branch, c] += line_weights[i, c]
            counts[first + branch, c] += line_counts[i, c]
    for b in range(nodes[node, layout.CHILDREN]):
        if shares[b] > 0.0:
            for c in range(n_classes):
                weights[first + b, c] += shares[b] * line_weights[line, c]
                counts[first + b, c] += line_counts[line, c]


@kernel
def _reason_to_stop(growth, node, n_attributes):
    """Return why a node with rows is a leaf before it is searched."""
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
    if weight < limits.least_node * (1 - TOLERANCE):
        return layout.TOO_FEW
    return layout.INNER


@kernel
def _send(growth, top, plain):
    """Send members to the children that may be split, and let those wait."""
    begin, end, was_plain = stretch(growth.members, top)
    node = growth.members.stack[top, layout.NODE]
    last = _let_wait(growth, top, begin, node, plain)
    if last > begin:
        move(growth, node, begin, end, was_plain, begin, last - begin)


@kernel
def move(growth, node, begin, end, was_plain, to, size):
    """Move members of a node to those of its branches that have a place.

    Such places, counted from ``to``, stand in ``codes``, the shares in ``scores``. In
    all there are ``size`` of them.
    """
    members, grown = growth.members, growth.grown
    codes, places, shares = growth.columns.codes, growth.work.codes, growth.work.scores
    rows, parts = members.rows, members.parts
    spare_rows, spare_parts = members.spare_rows, members.spare_parts
    candidates, candidate = grown.candidates, question_of(grown, node)
    a, low = candidates[candidate, layout.ATTRIBUTE], candidates[candidate, layout.CUT]
    absent, nominal = growth.columns.facts[a, layout.CODES], is_nominal(growth, node)
    for i in range(begin, end):
        r = rows[i]
        code, part = np.int64(codes[r, a]), 1.0 if was_plain else parts[i]
        if code == absent:
            for b in range(grown.nodes[node, layout.CHILDREN]):
                if places[b] >= 0 and shares[b] > 0.0:
                    spare_rows[places[b]] = r
                    spare_parts[places[b]] = part * shares[b]
                    places[b] += 1
            continue
        branch = code if nominal else np.int64(code > low)
        place = places[branch]
        if place >= 0:
            spare_rows[place], spare_parts[place] = r, part
            places[branch] = place + 1
    for i in range(size):
        rows[to + i], parts[to + i] = spare_rows[i], spare_parts[i]


@kernel
def _let_wait(growth, top, begin, node, plain):
    """Let the children wait that may be split, the first one on top.

    The workspace's ``codes`` become where the members of each branch go, -1 for
    nowhere. Return where the last ones end.
    """
    nodes, used, places = growth.grown.nodes, growth.members.used, growth.work.codes
    first, end = np.int64(nodes[node, layout.CHILD]), begin
    for b in range(nodes[node, layout.CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.REASON] == layout.INNER:
            now, places[b] = growth.grown.state[layout.WAITING], end - begin
            if now > top:
                for a in range(used.shape[1]):
                    used[now, a] = used[top, a]
            end = let_wait(growth, first + b, end, plain)
    return end


@kernel
def let_wait(growth, node, begin, plain):
    """Let a node wait whose members begin there; return where they end."""
    state, counts, stack = growth.grown.state, growth.grown.counts, growth.members.stack
    now, end = state[layout.WAITING], begin
    for c in range(counts.shape[1]):
        end += counts[node, c]
    stack[now, layout.BEGIN], stack[now, layout.END] = begin, end
    stack[now, layout.NODE], stack[now, layout.PLAIN] = node, plain
    stack[now, layout.PHASE] = 0
    state[layout.WAITING] = now + 1
    return end
