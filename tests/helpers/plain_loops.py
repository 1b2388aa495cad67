"""The compiled kernels as plain Python, and small arrays to plant in them.

A kernel can be called by other kernels only. Here its module is imported once more with
compiling turned off, and with it all that it calls, so that a test can look at one loop
without a compiler.
"""

import importlib
import os
import sys
from types import ModuleType

import numpy as np

BINNED = "spinney.growth.binned.kernels."
MULTIWAY = "spinney.growth.multiway.kernels."


def _is_of_loops(name: str) -> bool:
    return name.startswith("spinney.") and (
        ".kernels" in name or name.startswith("spinney._support.jit")
    )


def plain(*names: str) -> tuple[ModuleType, ...]:
    """Return modules of kernels that Python runs as they are written."""
    compiled = {
        name: sys.modules.pop(name) for name in list(sys.modules) if _is_of_loops(name)
    }
    before = os.environ.get("NUMBA_DISABLE_JIT")
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    try:
        return tuple(importlib.import_module(name) for name in names)
    finally:
        if before is None:
            del os.environ["NUMBA_DISABLE_JIT"]
        else:
            os.environ["NUMBA_DISABLE_JIT"] = before
        for name in list(sys.modules):
            if _is_of_loops(name):
                del sys.modules[name]
        sys.modules.update(compiled)
        for name, module in compiled.items():
            home, _, own = name.rpartition(".")
            setattr(sys.modules[home], own, module)


(layout, nodes, score, row_words, bags, grow_loops) = plain(
    *(
        BINNED + name
        for name in ("layout", "nodes", "score", "row_words", "bags", "grow")
    )
)


def cells_of(codes, *, n_bins=None, nominal=(), numbers=None, columns=(), tail=None):
    """Return coded cells: of each bin of an attribute its number is its one value.

    The attributes that ``columns`` says may have several values a bin: those of the
    matrix ``numbers``.
    """
    codes = np.ascontiguousarray(codes, np.uint8)
    p = codes.shape[1]
    known = np.where(codes == layout.ABSENT, 0, codes)
    n_bins = known.max(axis=0) + 1 if n_bins is None else n_bins
    column = np.full(p, -1)
    values = np.tile(np.arange(layout.BINS, dtype=float), (p, 1))
    for j, a in enumerate(columns):
        column[a], values[a] = j, np.nan
    is_nominal = np.isin(np.arange(p), nominal)
    eights = np.zeros((0, 0), np.uint64) if tail is None else codes.view(np.uint64)
    return layout.Cells(
        codes=codes,
        by_attribute=np.ascontiguousarray(codes.T),
        singles=np.zeros((0, 0), np.float32),
        doubles=np.zeros((0, 0)) if numbers is None else np.asarray(numbers, float),
        column=column,
        values=values,
        n_bins=np.asarray(n_bins, np.int64),
        nominal=is_nominal,
        listed=is_nominal,
        edges=values + 0.5,
        eights=eights,
        tail=p if tail is None else tail,
    )


def labels_of(labels, *, kind=0, weights=None, halves=False):
    """Return classes, or numbers where sums of squares are wanted."""
    numeric = score.of_numbers(kind)
    return layout.Labels(
        classes=np.asarray([] if numeric else labels, np.int32),
        weights=np.asarray([] if weights is None else weights, float),
        numbers=np.asarray(labels if numeric else [], float),
        halves=halves,
    )


def search_of(cells, labels, *, kind=0, width=2, **rules):
    """Return a search of all rows, the root waiting on the stack."""
    n, p = len(cells.codes), len(cells.n_bins)
    rows = row_words.words_of(labels)
    given = {
        "kind": kind,
        "width": width,
        "max_depth": 9,
        "least_node": 2.0,
        "least_branch": 0.0,
        "min_gain": 0.0,
        "tries": p,
        "small": 0,
        "single": 1.5,
        "tally": score.of_numbers(kind),
        "exact": True,
        "subtract": True,
        "runners_up": n + 1,
        "listing": layout.BINS,
        "own": np.ones(width),
        "branch_share": 0.0,
        "cut_share": 0.0,
        "most_in_side": 25.0,
        "least_deviation": 0.0,
        "by_ratio": False,
        "below_average": 0.0,
        "apart": False,
        **rules,
    }
    n_counts = 1 if score.of_numbers(kind) else width
    drawn = given["tries"] if given["tries"] < p else 0
    search = grow_loops.Search(
        cells=cells,
        labels=labels,
        rules=layout.Rules(**given),
        rows=rows,
        stack=nodes.stack_for(n, 9, p, width, n_counts, 4),
        work=layout.workspace_for(n, p, width, drawn),
        shape=nodes.shape_for(2 * n + 1, width, n_counts),
        listed=nodes.lines_for(layout.BINS * p, width, n_counts),
        runners_up=nodes.shape_for(p * n, width, n_counts),
        bags=bags.no_bags(),
    )
    stack = search.stack
    stack.at[0] = 0, n, 0, -1, 0, -1, -1, -1
    stack.keys[0], stack.weights[0], stack.counts[0] = 1, 0.0, 0
    for word in rows:
        nodes.tally(kind, labels, word, stack.weights, stack.counts, 0)
    stack.state[nodes.WAITING] = 1
    search.work.limits[layout.WEIGHT] = score.size_of(kind, stack.weights, 0)
    search.work.limits[layout.LEAST] = given["least_branch"]
    return search


def phi(kind, side):
    """Return the score of a side by its definition: of class weights or moments."""
    side = np.asarray(side, float)
    total = side[0] if score.of_numbers(kind) else side.sum()
    if total == 0:
        return 0.0
    if score.of_numbers(kind):
        mean, square = (side[1] + side[2]) / total, side[3] / total
        return float(
            total
            * {
                score.SQUARES: lambda: mean**2,
                score.POISSON: lambda: 2 * mean * np.log(mean) if mean > 0 else 0.0,
                score.DEVIATION: lambda: -(max(square - mean**2, 0.0) ** 0.5),
                score.ROOT: lambda: -(max(square - mean**2, 0.0) ** 0.2),
            }[kind]()
        )
    if kind == score.GINI:
        return float((side**2).sum() / total)
    if kind == score.ERRORS:
        return float(side.max())
    known = side[side > 0]
    return float((known * np.log2(known)).sum() - total * np.log2(total))


def vector(search, rows):
    """Return what rows weigh: by class, or as moments."""
    total, kind = np.zeros((1, search.rules.width)), search.rules.kind
    for row in rows:
        row_words.add_row(kind, search.labels, search.rows[row], total, 0)
    return total[0]


def best_cut(search, values, *, kind=0):
    """Return the greatest score of a cut between values, and the value left of it.

    Rows whose value is NaN are tried on both sides.
    """
    values = np.asarray(values, float)
    known, absent = np.flatnonzero(values == values), np.flatnonzero(values != values)
    away, best = vector(search, absent), (-np.inf, np.nan)
    for low in np.unique(values[known])[:-1]:
        left = vector(search, known[values[known] <= low])
        right = vector(search, known[values[known] > low])
        for one, other in ((left + away, right), (left, right + away)):
            reached = phi(kind, one) + phi(kind, other)
            if reached > best[0] + 1e-12:
                best = (reached, low)
    return best
