"""Tables as numbers, for programs that search the best tree: the same for all of them.

Names are their places in the alphabet, and a missing cell is less than any other.
"""

import csv
from pathlib import Path

import numpy as np

TABLES = Path(__file__).parents[1] / "tables"
# table: its target, what is left out
CLASSES = {
    "iris": ("class", ()),
    "penguins": ("species", ()),
    "rpart_kyphosis": ("Kyphosis", ()),
    "rpart_stagec": ("ploidy", ()),
    "vote": ("Class", ()),
    "zoo": ("class_type", ("animal_name",)),
}
NUMBERS = {"cpu_prp": "class"}
MISSING = ("", "?", "NA")
QUANTILES = 6


def as_number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def columns_of(name):
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def coded(cells):
    """Return cells as numbers, or as places of names."""
    known = [cell for cell in cells if cell not in MISSING]
    if all(as_number(cell) is not None for cell in known):
        return [-1e9 if cell in MISSING else float(cell) for cell in cells]
    names = sorted(set(known))
    return [-1.0 if cell in MISSING else float(names.index(cell)) for cell in cells]


def classes_of(name):
    """Return the cells of a table, and its classes as numbers."""
    target, ignored = CLASSES[name]
    columns = columns_of(name)
    labels = columns.pop(target)
    known = sorted(set(labels))
    cells = [coded(c) for n, c in columns.items() if n not in ignored]
    return np.array(cells).T, np.array([known.index(label) for label in labels])


def flags_of(matrix):
    """Return 0 and 1: whether a cell is beyond one of some quantiles of its column."""
    flags = []
    for cells in matrix.T:
        ranked = np.sort(cells)
        cuts = {ranked[len(ranked) * q // QUANTILES - 1] for q in range(1, QUANTILES)}
        flags += [cells > cut for cut in sorted(cuts) if cut < ranked[-1]]
    return np.array(flags).T.astype(np.int64)


def numbers_of(name):
    """Return cells of 0 and 1, and the numbers to predict."""
    columns = columns_of(name)
    target = np.array(coded(columns.pop(NUMBERS[name])))
    return flags_of(np.array([coded(c) for c in columns.values()]).T), target
