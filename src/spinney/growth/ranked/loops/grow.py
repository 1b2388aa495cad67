"""Trees of several branches, grown in one loop.

The node on top of the stack is split, and its members give way to those of its
children, the first child's on top, so that a subtree is grown before the next::

    members   … | node            ]          members   … | child 2 | child 1 | child 0 ]
    stack     … , node                       stack     … , child 2 , child 1 , child 0

Only children that may be split again have members. When an array is too short the loop
returns before it has changed anything of the node, and can be called again.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney._support.jit.references import reference
from spinney.growth.ranked.loops.count import runs_of
from spinney.growth.ranked.loops.layout import (
    ABLE,
    ABOVE,
    ATTRIBUTE,
    AWAY,
    BEGIN,
    BELOW,
    BRANCH,
    CANDIDATE,
    CANDIDATES,
    CHILD,
    CHILDREN,
    CHOSEN,
    CODES,
    CUT,
    DEPTH,
    DONE,
    EMPTY,
    END,
    EXHAUSTED,
    FOUND,
    GAIN,
    HIGH,
    INNER,
    KIND,
    LEFT,
    LINE,
    LINES,
    LOST,
    LOW,
    MERIT,
    NODE,
    NODES,
    NOMINAL,
    NUMERIC,
    PARENT,
    PLAIN,
    PURE,
    REASON,
    RIGHT,
    SHORT_OF_LINES,
    SHORT_OF_MEMBERS,
    SHORT_OF_NODES,
    SHORT_OF_STACK,
    TOO_DEEP,
    TOO_FEW,
    VALUES,
    WAITING,
    WRITTEN,
)
from spinney.growth.ranked.loops.search import choose, search, sum_sides

TOLERANCE = 1e-12

# What is asked of the loop: to grow all that waits; to search some attributes of the
# node on top; to split it by what was found.
GROW, SEARCH, EXPAND = range(3)


@entry
def grow(ranked, limits, members, grown, space, mode, first, last):
    """Grow what waits; return what is short of room, if anything is.

    With another ``mode``, do its part for the node on top: search the attributes from
    ``first`` to ``last``, or split it.
    """
    ranked, limits, members = reference(ranked), reference(limits), reference(members)
    grown, space = reference(grown), reference(space)
    state = grown.state
    while state[WAITING] > 0:
        top = state[WAITING] - 1
        begin, end = members.stack[top, BEGIN], members.stack[top, END]
        plain = members.stack[top, PLAIN] > 0
        if mode != EXPAND:
            for a in range(first, last):
                space.found[a, VALUES] = -1 if members.used[top, a] else 0
            search(ranked, limits, members, begin, end, plain, first, last, space)
        if mode == SEARCH:
            return DONE
        short = _finish(ranked, limits, members, grown, space, top)
        if short != DONE or mode == EXPAND:
            return short
    return DONE


@kernel
def _finish(ranked, limits, members, grown, space, top):
    """Split the node on top of the stack, or make it a leaf."""
    state, stack = grown.state, members.stack
    begin, end, node = stack[top, BEGIN], stack[top, END], stack[top, NODE]
    chosen = choose(ranked, limits, space)
    rivals = end - begin >= limits.rivals
    if _lines_needed(ranked, chosen, rivals, space) > len(grown.line_codes) - (
        state[WRITTEN]
    ) or state[FOUND] + len(ranked.facts) > len(grown.candidates):
        return SHORT_OF_LINES
    n_children = 0
    if chosen >= 0:
        n_children = 2
        if ranked.facts[chosen, KIND] == NOMINAL:
            n_children = ranked.facts[chosen, CODES]
        if state[NODES] + n_children > len(grown.nodes):
            return SHORT_OF_NODES
        if top + n_children > len(stack):
            return SHORT_OF_STACK
        if end + (n_children - 1) * space.found[chosen, LOST] > len(members.rows):
            return SHORT_OF_MEMBERS
    _record(ranked, limits, members, grown, space, top, chosen, rivals)
    state[WAITING] = top
    if chosen < 0:
        grown.nodes[node, REASON] = -chosen
        return DONE
    if ranked.facts[chosen, KIND] == NOMINAL:
        members.used[top, chosen] = 1
    plain = _make_children(
        ranked, limits, members, grown, space, top, chosen, n_children
    )
    _send(ranked, members, grown, space, top, plain)
    return DONE


@kernel
def _lines_needed(ranked, chosen, rivals, space):
    needed = 0
    for a in range(len(ranked.facts)):
        if a == chosen or (rivals and space.found[a, ABLE]):
            needed += 1 + max(2, space.found[a, VALUES])
    return needed


@kernel
def _record(ranked, limits, members, grown, space, top, chosen, rivals):
    """Write down the split that won, and its rivals where they are to be kept.

    The runs of the winner are those that are left in the end.
    """
    state, stack = grown.state, members.stack
    begin, end, node = stack[top, BEGIN], stack[top, END], stack[top, NODE]
    plain = stack[top, PLAIN] > 0
    first, number = state[FOUND], 0
    grown.nodes[node, CANDIDATE] = first
    for a in range(len(ranked.facts)):
        able = space.found[a, VALUES] >= 2 and space.found[a, ABLE] > 0
        if not (able and (rivals or a == chosen)):
            continue
        settled = (ranked, members, begin, end, plain, limits.n_classes)
        n_runs = runs_of(*settled, a, space)
        at = first + number
        if a == chosen:
            grown.nodes[node, CHOSEN] = number
        grown.candidates[at, ATTRIBUTE] = a
        grown.candidates[at, LOW] = space.found[a, BELOW]
        grown.candidates[at, CUT] = space.found[a, BELOW]
        grown.candidates[at, HIGH] = space.found[a, ABOVE]
        grown.merits[at, GAIN] = space.merits[a, GAIN]
        grown.merits[at, MERIT] = space.merits[a, MERIT]
        kind = ranked.facts[a, KIND]
        _write_lines(limits.n_classes, grown, space, at, n_runs, plain, kind)
        number += 1
    grown.nodes[node, CANDIDATES] = number
    state[FOUND] = first + number


@kernel
def _write_lines(n_classes, grown, space, at, n_runs, plain, kind):
    """Write the lines of a candidate: the missing rows, then values, or both sides."""
    state, candidates = grown.state, grown.candidates
    width = n_classes if plain else 2 * n_classes
    vectors, line = space.vectors, state[WRITTEN]
    candidates[at, LINE] = line
    _write(grown, line, -1, vectors, AWAY * 2 * n_classes, plain, n_classes)
    if kind == NUMERIC:
        cut = 0
        while space.codes[cut] < candidates[at, LOW]:
            cut += 1
        sum_sides(vectors, space.runs, n_runs, plain, n_classes, cut)
        low, high = candidates[at, LOW], candidates[at, HIGH]
        _write(grown, line + 1, low, vectors, LEFT * 2 * n_classes, plain, n_classes)
        _write(grown, line + 2, high, vectors, RIGHT * 2 * n_classes, plain, n_classes)
        candidates[at, LINES] = 3
    else:
        for j in range(n_runs):
            code = space.codes[j]
            _write(grown, line + 1 + j, code, space.runs, width * j, plain, n_classes)
        candidates[at, LINES] = 1 + n_runs
    state[WRITTEN] = line + candidates[at, LINES]


@kernel
def _write(grown, line, code, array, at, plain, n_classes):
    weights, counts = grown.line_weights, grown.line_counts
    grown.line_codes[line] = code
    for c in range(n_classes):
        weights[line, c] = array[at + c]
        count = array[at + c] if plain else array[at + n_classes + c]
        counts[line, c] = np.int64(count)


@kernel
def _make_children(ranked, limits, members, grown, space, top, chosen, n_children):
    """Make the children with their weights, each a leaf or with room for its members.

    ``worths`` has the share of each branch then. Return whether the children are plain.
    """
    state, nodes = grown.state, grown.nodes
    weights, counts, shares = grown.weights, grown.counts, space.worths
    node, first = members.stack[top, NODE], state[NODES]
    state[NODES] = first + n_children
    nodes[node, CHILD], nodes[node, CHILDREN] = first, n_children
    nodes[node, REASON] = INNER
    for child in range(first, first + n_children):
        for column in range(nodes.shape[1]):
            nodes[child, column] = 0
        nodes[child, PARENT], nodes[child, BRANCH] = node, child - first
        nodes[child, DEPTH], nodes[child, CHOSEN] = nodes[node, DEPTH] + 1, -1
        nodes[child, REASON] = EMPTY
    nominal = ranked.facts[chosen, KIND] == NOMINAL
    divided = share_out(grown, shares, node, nominal)
    fill_children(grown, shares, node, nominal)
    left, used = 0, members.used
    for a in range(len(ranked.facts)):
        left += used[top, a] == 0
    for b in range(n_children):
        if shares[b] > 0.0:
            nodes[first + b, REASON] = _reason_to_stop(
                limits, nodes, weights, counts, first + b, left
            )
    return members.stack[top, PLAIN] > 0 and not divided


@kernel
def share_out(grown, shares, node, nominal):
    """Find the shares of a node's branches; return whether rows are to be divided."""
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    candidate, known = nodes[node, CANDIDATE] + nodes[node, CHOSEN], 0.0
    line, low = grown.candidates[candidate, LINE], grown.candidates[candidate, CUT]
    n_children, n_classes = nodes[node, CHILDREN], line_weights.shape[1]
    for b in range(n_children):
        shares[b] = 0.0
    for i in range(line + 1, line + grown.candidates[candidate, LINES]):
        branch = codes[i] if nominal else np.int32(codes[i] > low)
        for c in range(n_classes):
            shares[branch] += line_weights[i, c]
            known += line_weights[i, c]
    for b in range(n_children):
        shares[b] /= known
    divided = False
    for c in range(n_classes):
        divided |= grown.line_counts[line, c] > 0
    return divided


@kernel
def fill_children(grown, shares, node, nominal):
    """Give the children of a node the weights and counts of its lines."""
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    weights, counts, line_counts = grown.weights, grown.counts, grown.line_counts
    candidate = nodes[node, CANDIDATE] + nodes[node, CHOSEN]
    line, low = grown.candidates[candidate, LINE], grown.candidates[candidate, CUT]
    first, n_classes = np.int64(nodes[node, CHILD]), line_weights.shape[1]
    for b in range(nodes[node, CHILDREN]):
        for c in range(n_classes):
            weights[first + b, c] = 0.0
            counts[first + b, c] = 0
    for i in range(line + 1, line + grown.candidates[candidate, LINES]):
        branch = codes[i] if nominal else np.int32(codes[i] > low)
        for c in range(n_classes):
            weights[first + branch, c] += line_weights[i, c]
            counts[first + branch, c] += line_counts[i, c]
    for b in range(nodes[node, CHILDREN]):
        if shares[b] > 0.0:
            for c in range(n_classes):
                weights[first + b, c] += shares[b] * line_weights[line, c]
                counts[first + b, c] += line_counts[line, c]


@kernel
def _reason_to_stop(limits, nodes, weights, counts, node, n_attributes):
    """Return why a node with rows is a leaf before it is searched."""
    present, weight = 0, 0.0
    for c in range(limits.n_classes):
        present += counts[node, c] > 0
        weight += weights[node, c]
    if present == 1:
        return PURE
    if n_attributes == 0:
        return EXHAUSTED
    if nodes[node, DEPTH] >= limits.max_depth:
        return TOO_DEEP
    if weight < limits.least_node * (1 - TOLERANCE):
        return TOO_FEW
    return INNER


@kernel
def _send(ranked, members, grown, space, top, plain):
    """Send members to the children that may be split, and let those wait."""
    stack = members.stack
    begin, end, node = stack[top, BEGIN], stack[top, END], stack[top, NODE]
    was_plain = stack[top, PLAIN] > 0
    last = _let_wait(members, grown, space.codes, top, begin, node, plain)
    if last > begin:
        size = last - begin
        move(ranked, members, grown, space, node, begin, end, was_plain, begin, size)


@kernel
def move(ranked, members, grown, space, node, begin, end, was_plain, to, size):
    """Move members of a node to those of its branches that have a place.

    Such places, counted from ``to``, stand in ``codes``, the shares in ``worths``. In
    all there are ``size`` of them.
    """
    rows, parts, codes, places = members.rows, members.parts, ranked.codes, space.codes
    spare_rows, spare_parts, shares = (
        members.spare_rows,
        members.spare_parts,
        space.worths,
    )
    candidate = grown.nodes[node, CANDIDATE] + grown.nodes[node, CHOSEN]
    a, low = grown.candidates[candidate, ATTRIBUTE], grown.candidates[candidate, CUT]
    absent, nominal = ranked.facts[a, CODES], ranked.facts[a, KIND] == NOMINAL
    for i in range(begin, end):
        r = rows[i]
        code, part = np.int64(codes[r, a]), 1.0 if was_plain else parts[i]
        if code == absent:
            for b in range(grown.nodes[node, CHILDREN]):
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
def _let_wait(members, grown, places, top, begin, node, plain):
    """Let the children wait that may be split, the first one on top.

    ``places`` say where the members of each branch go, -1 for nowhere. Return where
    the last ones end.
    """
    stack, used, state = members.stack, members.used, grown.state
    nodes, counts = grown.nodes, grown.counts
    first, place = np.int64(nodes[node, CHILD]), begin
    for b in range(nodes[node, CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, REASON] != INNER:
            continue
        size, now = 0, state[WAITING]
        for c in range(counts.shape[1]):
            size += counts[first + b, c]
        stack[now, BEGIN], stack[now, END] = place, place + size
        stack[now, NODE], stack[now, PLAIN] = first + b, plain
        if now > top:
            for a in range(used.shape[1]):
                used[now, a] = used[top, a]
        places[b] = place - begin
        place += size
        state[WAITING] = now + 1
    return place
