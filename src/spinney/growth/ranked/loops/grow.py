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
from spinney.growth.ranked.loops import layout
from spinney.growth.ranked.loops.count import runs_of
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
    while state[layout.WAITING] > 0:
        top = state[layout.WAITING] - 1
        begin, end = members.stack[top, layout.BEGIN], members.stack[top, layout.END]
        plain = members.stack[top, layout.PLAIN] > 0
        if mode != EXPAND:
            for a in range(first, last):
                space.found[a, layout.VALUES] = -1 if members.used[top, a] else 0
            search(ranked, limits, members, begin, end, plain, first, last, space)
        if mode == SEARCH:
            return layout.DONE
        short = _finish(ranked, limits, members, grown, space, top)
        if short != layout.DONE or mode == EXPAND:
            return short
    return layout.DONE


@kernel
def _finish(ranked, limits, members, grown, space, top):
    """Split the node on top of the stack, or make it a leaf."""
    state, stack = grown.state, members.stack
    begin, end, node = (
        stack[top, layout.BEGIN],
        stack[top, layout.END],
        stack[top, layout.NODE],
    )
    chosen = choose(ranked, limits, space)
    rivals = end - begin >= limits.rivals
    if _lines_needed(ranked, chosen, rivals, space) > len(grown.line_codes) - (
        state[layout.WRITTEN]
    ) or state[layout.FOUND] + len(ranked.facts) > len(grown.candidates):
        return layout.SHORT_OF_LINES
    n_children = 0
    if chosen >= 0:
        n_children = 2
        if ranked.facts[chosen, layout.KIND] == layout.NOMINAL:
            n_children = ranked.facts[chosen, layout.CODES]
        if state[layout.NODES] + n_children > len(grown.nodes):
            return layout.SHORT_OF_NODES
        if top + n_children > len(stack):
            return layout.SHORT_OF_STACK
        if end + (n_children - 1) * space.found[chosen, layout.LOST] > len(
            members.rows
        ):
            return layout.SHORT_OF_MEMBERS
    _record(ranked, limits, members, grown, space, top, chosen, rivals)
    state[layout.WAITING] = top
    if chosen < 0:
        grown.nodes[node, layout.REASON] = -chosen
        return layout.DONE
    if ranked.facts[chosen, layout.KIND] == layout.NOMINAL:
        members.used[top, chosen] = 1
    plain = _make_children(
        ranked, limits, members, grown, space, top, chosen, n_children
    )
    _send(ranked, members, grown, space, top, plain)
    return layout.DONE


@kernel
def _lines_needed(ranked, chosen, rivals, space):
    needed = 0
    for a in range(len(ranked.facts)):
        if a == chosen or (rivals and space.found[a, layout.ABLE]):
            needed += 1 + max(2, space.found[a, layout.VALUES])
    return needed


@kernel
def _record(ranked, limits, members, grown, space, top, chosen, rivals):
    """Write down the split that won, and its rivals where they are to be kept.

    The runs of the winner are those that are left in the end.
    """
    state, stack = grown.state, members.stack
    begin, end, node = (
        stack[top, layout.BEGIN],
        stack[top, layout.END],
        stack[top, layout.NODE],
    )
    plain = stack[top, layout.PLAIN] > 0
    first, number = state[layout.FOUND], 0
    grown.nodes[node, layout.CANDIDATE] = first
    for a in range(len(ranked.facts)):
        able = space.found[a, layout.VALUES] >= 2 and space.found[a, layout.ABLE] > 0
        if not (able and (rivals or a == chosen)):
            continue
        settled = (ranked, members, begin, end, plain, limits.n_classes)
        n_runs = runs_of(*settled, a, space)
        at = first + number
        if a == chosen:
            grown.nodes[node, layout.CHOSEN] = number
        grown.candidates[at, layout.ATTRIBUTE] = a
        grown.candidates[at, layout.LOW] = space.found[a, layout.BELOW]
        grown.candidates[at, layout.CUT] = space.found[a, layout.BELOW]
        grown.candidates[at, layout.HIGH] = space.found[a, layout.ABOVE]
        grown.merits[at, layout.GAIN] = space.merits[a, layout.GAIN]
        grown.merits[at, layout.MERIT] = space.merits[a, layout.MERIT]
        kind = ranked.facts[a, layout.KIND]
        _write_lines(limits.n_classes, grown, space, at, n_runs, plain, kind)
        number += 1
    grown.nodes[node, layout.CANDIDATES] = number
    state[layout.FOUND] = first + number


@kernel
def _write_lines(n_classes, grown, space, at, n_runs, plain, kind):
    """Write the lines of a candidate: the missing rows, then values, or both sides."""
    state, candidates = grown.state, grown.candidates
    width = n_classes if plain else 2 * n_classes
    vectors, line = space.vectors, state[layout.WRITTEN]
    candidates[at, layout.LINE] = line
    _write(grown, line, -1, vectors, layout.AWAY * 2 * n_classes, plain, n_classes)
    if kind == layout.NUMERIC:
        cut = 0
        while space.codes[cut] < candidates[at, layout.LOW]:
            cut += 1
        sum_sides(vectors, space.runs, n_runs, plain, n_classes, cut)
        low, high = candidates[at, layout.LOW], candidates[at, layout.HIGH]
        _write(
            grown, line + 1, low, vectors, layout.LEFT * 2 * n_classes, plain, n_classes
        )
        _write(
            grown,
            line + 2,
            high,
            vectors,
            layout.RIGHT * 2 * n_classes,
            plain,
            n_classes,
        )
        candidates[at, layout.LINES] = 3
    else:
        for j in range(n_runs):
            code = space.codes[j]
            _write(grown, line + 1 + j, code, space.runs, width * j, plain, n_classes)
        candidates[at, layout.LINES] = 1 + n_runs
    state[layout.WRITTEN] = line + candidates[at, layout.LINES]


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
    node, first = members.stack[top, layout.NODE], state[layout.NODES]
    state[layout.NODES] = first + n_children
    nodes[node, layout.CHILD], nodes[node, layout.CHILDREN] = first, n_children
    nodes[node, layout.REASON] = layout.INNER
    for child in range(first, first + n_children):
        for column in range(nodes.shape[1]):
            nodes[child, column] = 0
        nodes[child, layout.PARENT], nodes[child, layout.BRANCH] = node, child - first
        nodes[child, layout.DEPTH], nodes[child, layout.CHOSEN] = (
            nodes[node, layout.DEPTH] + 1,
            -1,
        )
        nodes[child, layout.REASON] = layout.EMPTY
    nominal = ranked.facts[chosen, layout.KIND] == layout.NOMINAL
    divided = share_out(grown, shares, node, nominal)
    fill_children(grown, shares, node, nominal)
    left, used = 0, members.used
    for a in range(len(ranked.facts)):
        left += used[top, a] == 0
    for b in range(n_children):
        if shares[b] > 0.0:
            nodes[first + b, layout.REASON] = _reason_to_stop(
                limits, nodes, weights, counts, first + b, left
            )
    return members.stack[top, layout.PLAIN] > 0 and not divided


@kernel
def share_out(grown, shares, node, nominal):
    """Find the shares of a node's branches; return whether rows are to be divided."""
    nodes, codes, line_weights = grown.nodes, grown.line_codes, grown.line_weights
    candidate, known = nodes[node, layout.CANDIDATE] + nodes[node, layout.CHOSEN], 0.0
    line, low = (
        grown.candidates[candidate, layout.LINE],
        grown.candidates[candidate, layout.CUT],
    )
    n_children, n_classes = nodes[node, layout.CHILDREN], line_weights.shape[1]
    for b in range(n_children):
        shares[b] = 0.0
    for i in range(line + 1, line + grown.candidates[candidate, layout.LINES]):
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
    candidate = nodes[node, layout.CANDIDATE] + nodes[node, layout.CHOSEN]
    line, low = (
        grown.candidates[candidate, layout.LINE],
        grown.candidates[candidate, layout.CUT],
    )
    first, n_classes = np.int64(nodes[node, layout.CHILD]), line_weights.shape[1]
    for b in range(nodes[node, layout.CHILDREN]):
        for c in range(n_classes):
            weights[first + b, c] = 0.0
            counts[first + b, c] = 0
    for i in range(line + 1, line + grown.candidates[candidate, layout.LINES]):
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
def _reason_to_stop(limits, nodes, weights, counts, node, n_attributes):
    """Return why a node with rows is a leaf before it is searched."""
    present, weight = 0, 0.0
    for c in range(limits.n_classes):
        present += counts[node, c] > 0
        weight += weights[node, c]
    if present == 1:
        return layout.PURE
    if n_attributes == 0:
        return layout.EXHAUSTED
    if nodes[node, layout.DEPTH] >= limits.max_depth:
        return layout.TOO_DEEP
    if weight < limits.least_node * (1 - TOLERANCE):
        return layout.TOO_FEW
    return layout.INNER


@kernel
def _send(ranked, members, grown, space, top, plain):
    """Send members to the children that may be split, and let those wait."""
    stack = members.stack
    begin, end, node = (
        stack[top, layout.BEGIN],
        stack[top, layout.END],
        stack[top, layout.NODE],
    )
    was_plain = stack[top, layout.PLAIN] > 0
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
    candidate = grown.nodes[node, layout.CANDIDATE] + grown.nodes[node, layout.CHOSEN]
    a, low = (
        grown.candidates[candidate, layout.ATTRIBUTE],
        grown.candidates[candidate, layout.CUT],
    )
    absent, nominal = (
        ranked.facts[a, layout.CODES],
        ranked.facts[a, layout.KIND] == layout.NOMINAL,
    )
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
def _let_wait(members, grown, places, top, begin, node, plain):
    """Let the children wait that may be split, the first one on top.

    ``places`` say where the members of each branch go, -1 for nowhere. Return where
    the last ones end.
    """
    stack, used, state = members.stack, members.used, grown.state
    nodes, counts = grown.nodes, grown.counts
    first, place = np.int64(nodes[node, layout.CHILD]), begin
    for b in range(nodes[node, layout.CHILDREN] - 1, -1, -1):
        places[b] = -1
        if nodes[first + b, layout.REASON] != layout.INNER:
            continue
        size, now = 0, state[layout.WAITING]
        for c in range(counts.shape[1]):
            size += counts[first + b, c]
        stack[now, layout.BEGIN], stack[now, layout.END] = place, place + size
        stack[now, layout.NODE], stack[now, layout.PLAIN] = first + b, plain
        if now > top:
            for a in range(used.shape[1]):
                used[now, a] = used[top, a]
        places[b] = place - begin
        place += size
        state[layout.WAITING] = now + 1
    return place
