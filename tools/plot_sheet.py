"""Draw the sheet of docs/plots.md: ``python -m tools.plot_sheet``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import spinney
from spinney import plots
from spinney.extensions.clustering import explain_k_means

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tests" / "tables"


def sheet() -> Figure:
    """Return six plots of bundled tables."""
    iris, melons = TABLES / "iris.csv", TABLES / "watermelon_3.0.csv"
    penguins = TABLES / "penguins.csv"
    tree = spinney.grow(iris, "class", recipe="cart")
    texts = ["id", "color", "root", "sound", "texture", "umbilicus", "surface"]
    sweet = spinney.grow(melons, "ripe", ignore=texts, recipe="id3")
    forest = spinney.grow_forest(penguins, "species", n_estimators=50, random_state=0)
    curve = spinney.learning_curve(iris, "class", ["cart", "c4.5"], folds=10)
    table = spinney.read_table(iris)
    names = table.names[:4]
    rows = np.column_stack([table[name].cells for name in names])
    figure = Figure(figsize=(12, 7), dpi=80, layout="constrained")
    axes = iter(figure.subplots(2, 3).flat)
    plots.regions(tree, iris, next(axes))
    plots.regions(sweet, melons, next(axes))
    plots.pruning_path(tree.prune("cost-complexity", data=iris), next(axes))
    plots.importances(forest, next(axes))
    plots.learning_curve(curve, next(axes))
    trace = explain_k_means(rows, rows[[0, 1, 2]], names=names, rows=len(rows))
    plots.iterations(trace, next(axes))
    return figure


if __name__ == "__main__":
    sheet().savefig(ROOT / "docs" / "plots.png")
    print("drawn to docs/plots.png")
