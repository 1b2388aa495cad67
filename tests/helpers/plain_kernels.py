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


def _is_kernel_module(name: str) -> bool:
    return name.startswith("spinney.") and (
        ".kernels" in name or name.startswith("spinney._support.jit")
    )


def plain(*names: str) -> tuple[ModuleType, ...]:
    """Return modules of kernels that Python runs as they are written."""
    compiled = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if _is_kernel_module(name)
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
            if _is_kernel_module(name):
                del sys.modules[name]
        sys.modules.update(compiled)
        for name, module in compiled.items():
            home, _, own = name.rpartition(".")
            setattr(sys.modules[home], own, module)


(layout, nodes, split_scores, packed_rows, grow_kernels) = plain(
    *(
        BINNED + name
        for name in ("layout", "nodes", "split_scores", "packed_rows", "grow")
    )
)


def coded_cells(codes, *, n_bins=None, nominal=(), numbers=None, columns=(), tail=None):
    """Return coded cells: of each bin of an attribute its number is its one value.

    The attributes that ``columns`` says may have several values a bin: those of the
    matrix ``numbers``.
    """
    codes = np.ascontiguousarray(codes, np.uint8)
    p = codes.shape[1]
    known = np.where(codes == layout.MISSING_CODE, 0, codes)
    n_bins = known.max(axis=0) + 1 if n_bins is None else n_bins
    column = np.full(p, -1)
    values = np.tile(np.arange(layout.BINS, dtype=float), (p, 1))
    for j, a in enumerate(columns):
        column[a], values[a] = j, np.nan
    is_nominal = np.isin(np.arange(p), nominal)
    code_words = np.zeros((0, 0), np.uint64) if tail is None else codes.view(np.uint64)
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
        code_words=code_words,
        tail=p if tail is None else tail,
    )


def labels_of(labels, *, kind=0, weights=None, packs_classes=False):
    """Return classes, or numbers where sums of squares are wanted."""
    numeric = split_scores.is_numeric(kind)
    return layout.Labels(
        classes=np.asarray([] if numeric else labels, np.int32),
        weights=np.asarray([] if weights is None else weights, float),
        numbers=np.asarray(labels if numeric else [], float),
        packs_classes=packs_classes,
    )


def search_of(cells, labels, *, kind=0, width=2, **rules):
    """Return a search of all rows, the root waiting on the stack."""
    n, p = len(cells.codes), len(cells.n_bins)
    rows = packed_rows.pack_rows(labels)
    given = {
        "kind": kind,
        "width": width,
        "max_depth": 9,
        "min_node_weight": 2.0,
        "min_branch_weight": 0.0,
        "min_gain": 0.0,
        "n_drawn": p,
        "small_node_rows": 0,
        "single_row_weight": 1.5,
        "count_rows": split_scores.is_numeric(kind),
        "refine_bins": True,
        "subtract": True,
        "competitor_rows": n + 1,
        "max_code_lines": layout.BINS,
        "limit_scale": np.ones(width),
        "min_branch_fraction": 0.0,
        "min_cut_fraction": 0.0,
        "max_side_minimum": 25.0,
        "min_deviation": 0.0,
        "by_ratio": False,
        "average_slack": 0.0,
        "missing_separate": False,
        **rules,
    }
    n_counts = 1 if split_scores.is_numeric(kind) else width
    drawn = given["n_drawn"] if given["n_drawn"] < p else 0
    search = grow_kernels.SearchState(
        cells=cells,
        labels=labels,
        rules=layout.Rules(**given),
        rows=rows,
        stack=nodes.empty_stack(n, 9, p, width, n_counts, 4),
        work=layout.empty_workspace(n, p, width, drawn),
        records=nodes.empty_records(2 * n + 1, width, n_counts),
        code_counts=nodes.empty_code_counts(layout.BINS * p, width, n_counts),
        competitors=nodes.empty_records(p * n, width, n_counts),
        bags=grow_kernels.no_bags(),
    )
    stack = search.stack
    stack.entries[0] = 0, n, 0, -1, 0, -1, -1, -1
    stack.keys[0], stack.weights[0], stack.counts[0] = 1, 0.0, 0
    for word in rows:
        nodes.add_to_node(kind, labels, word, stack.weights, stack.counts, 0)
    stack.state[nodes.N_WAITING] = 1
    search.work.limits[layout.WEIGHT] = split_scores.side_weight(kind, stack.weights, 0)
    search.work.limits[layout.LEAST] = given["min_branch_weight"]
    return search


def phi(kind, side):
    """Return the score of a side by its definition: of class weights or moments."""
    side = np.asarray(side, float)
    total = side[0] if split_scores.is_numeric(kind) else side.sum()
    if total == 0:
        return 0.0
    if split_scores.is_numeric(kind):
        mean, square = (side[1] + side[2]) / total, side[3] / total
        return float(
            total
            * {
                split_scores.SQUARES: lambda: mean**2,
                split_scores.POISSON: lambda: (
                    2 * mean * np.log(mean) if mean > 0 else 0.0
                ),
                split_scores.DEVIATION: lambda: -(max(square - mean**2, 0.0) ** 0.5),
                split_scores.ROOT: lambda: -(max(square - mean**2, 0.0) ** 0.2),
            }[kind]()
        )
    if kind == split_scores.GINI:
        return float((side**2).sum() / total)
    if kind == split_scores.ERRORS:
        return float(side.max())
    known = side[side > 0]
    return float((known * np.log2(known)).sum() - total * np.log2(total))


def vector(search, rows):
    """Return what rows weigh: by class, or as moments."""
    total, kind = np.zeros((1, search.rules.width)), search.rules.kind
    for row in rows:
        packed_rows.add_row(kind, search.labels, search.rows[row], total, 0)
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
            cut_score = phi(kind, one) + phi(kind, other)
            if cut_score > best[0] + 1e-12:
                best = (cut_score, low)
    return best
