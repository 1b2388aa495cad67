"""The regions of a model over two numbers: rectangles, with the rows on them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.colours import COLOURS
from spinney._support.text import figure, shown, value_text
from spinney.data import Schema, Table, Value
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    refusal,
)
from spinney.extensions.pictures.style_sheet import LIGHT
from spinney.extensions.plots.model_plots import need
from spinney.extensions.plots.plot_axes import (
    colour_of,
    new_axes,
    short,
    titled,
    with_legend,
)
from spinney.trees import Threshold, labels_of

__all__ = ["regions"]

STEPS = 300  # of a grid, where the edges of regions are not known or too many
MOST_ROWS = 5000
MARGIN = 0.05
MARKERS = "os^Dv<>p"
PALE = 0.25  # rows of which the regions say nothing


def regions(
    model: Any,
    data: Any,
    axes: Any = None,
    *,
    x: str | None = None,
    y: str | None = None,
    fixed: Mapping[str, Value] | None = None,
) -> Any:
    """Draw what a model predicts over two numeric attributes, and rows on it.

    A tree asks about one attribute at a time, so its regions are rectangles; they are
    drawn exactly, from its thresholds. Where it asks about further attributes, these
    are held: numbers at their median, names at the commonest, and the title says so.
    A row of which the model says otherwise than of its place, for it differs from what
    is held, is pale.

    Parameters
    ----------
    model : fitted tree or forest
    data : table
        The rows to draw; a target column colours them.
    axes : Axes, optional
    x, y : str, optional
        The attributes; the two most important numbers if not given.
    fixed : mapping, optional
        Values to hold other attributes at.

    Examples
    --------
    >>> import spinney
    >>> from spinney import plots
    >>> fruit = {"width": [5.2, 6.7, 7.2, 6.1, 4.1],
    ...          "height": [8.0, 9.8, 7.5, 5.3, 6.5],
    ...          "type": ["lemon", "lemon", "orange", "orange", "lemon"]}
    >>> model = spinney.grow(fruit, "type", recipe="id3")
    >>> plots.regions(model, fruit).get_xlabel()
    'width'
    """
    need(model, "regions", "tree", "forest")
    table = model.read(data, whole=True)
    x, y = _chosen(model, x, y)
    held = _held(model.schema, table, {x, y}, dict(fixed or {}))
    edges = [_edges(model, table, name) for name in (x, y)]
    cells = _cells(model, edges, (x, y), held)
    axes = new_axes(axes)
    handles = _fill(axes, model, edges, cells)
    handles += _draw_rows(axes, model, table, (x, y), held)
    if handles:
        with_legend(axes, handles, title=short(model.schema.target.name, 24))
    asked = {*model.asked}
    at = [f"{short(n, 20)} = {_text(v)}" for n, v in held.items() if n in asked]
    title = f"regions of {short(model.schema.target.name, 30)}"
    title += f", where {', '.join(at[:4])}" if at else ""
    title += f" and {len(at) - 4} more are held" if len(at) > 4 else ""
    return titled(axes, title, x=x, y=y)


def _text(value: Value | None) -> str:
    if value is None:
        return "missing"
    return figure(value) if isinstance(value, float) else short(value_text(value), 20)


def _chosen(model: Any, x: str | None, y: str | None) -> tuple[str, str]:
    """Return the names of two numeric attributes, the most important by themselves."""
    schema = model.schema
    numeric = [
        attribute.name
        for attribute in schema.attributes
        if attribute.kind == "numeric" and attribute.formula is None
    ]
    for parameter, name in (("x", x), ("y", y)):
        if name is not None and name not in numeric:
            problem = "is no numeric attribute of the model"
            raise refusal(
                Setting(parameter, name), problem, did_you_mean(name, numeric)
            )
    if x is not None and x == y:
        both = (" and ", Setting("y", y), " are one attribute")
        raise ParameterError(Setting("x", x), both, remedy="name two")
    worth = dict(zip((a.name for a in schema.attributes), _worth(model), strict=True))
    rest = sorted((n for n in numeric if n not in (x, y)), key=lambda n: -worth[n])
    chosen = [name for name in (x, y) if name is not None] + rest
    if len(chosen) < 2:
        msg = (
            f"regions are drawn over two numeric attributes, and the model has "
            f"{len(numeric)}: draw the tree instead"
        )
        raise ParameterError(msg)
    if x is None and y is None:  # in the order of columns
        first, second = sorted(chosen[:2], key=numeric.index)
        return first, second
    return (chosen[0], chosen[1]) if x is not None else (chosen[1], chosen[0])


def _worth(model: Any) -> Floats:
    if model.kind == "forest":
        return np.asarray(model.importances().mean)
    return np.asarray(model.tree.importances)


def _held(
    schema: Schema, table: Table, free: set[str], fixed: dict[str, Value]
) -> dict[str, Value | None]:
    """Return a value for each attribute that is on neither axis."""
    held: dict[str, Value | None] = {}
    for attribute in schema.attributes:
        if attribute.formula is not None or attribute.name in free:
            continue
        if attribute.name in fixed:
            held[attribute.name] = fixed.pop(attribute.name)
            continue
        column = table[attribute.name]
        known = column.cells[~column.missing]
        if not len(known):
            held[attribute.name] = None
        elif column.kind == "numeric":
            held[attribute.name] = float(np.median(known))
        else:
            held[attribute.name] = column.levels[int(np.bincount(known).argmax())]
    if fixed:
        name = next(iter(fixed))
        where = "on an axis" if name in free else "no attribute of the model"
        raise ParameterError(
            Setting("fixed", {name: fixed[name]}),
            f": {shown(name)!r} is {where}",
            remedy="leave it out",
        )
    return held


def _edges(model: Any, table: Table, name: str) -> Floats:
    """Return where cells begin and end along an attribute: thresholds, or a grid."""
    column = table[name]
    known = column.cells[np.isfinite(column.cells)]
    if not len(known):
        msg = f"column {name!r} has no numbers: there is nothing to draw"
        raise DataError(msg)
    low, high = float(known.min()), float(known.max())
    room = (high - low) * MARGIN or abs(low) * MARGIN or 1.0
    low, high = low - room, high + room
    cuts = _thresholds(model, name)
    if cuts is None or len(cuts) > STEPS:
        return np.linspace(low, high, STEPS + 1)
    inside = cuts[(cuts > low) & (cuts < high)]
    return np.concatenate([[low], inside, [high]])


def _thresholds(model: Any, name: str) -> Floats | None:
    """Return the rising thresholds of a tree at an attribute; None if others matter."""
    schema = model.schema
    if model.kind != "tree" or any(a.formula for a in schema.attributes):
        return None
    index = [attribute.name for attribute in schema.attributes].index(name)
    splits = (node.split for node in model.tree.nodes)
    asked = [split for split in splits if split is not None]
    cuts = [
        split.threshold
        for split in asked
        if split.attribute == index and isinstance(split, Threshold)
    ]
    others = any(
        split.attribute == index and not isinstance(split, Threshold) for split in asked
    )
    return None if others else np.unique(np.array(cuts, dtype=np.float64))


def _cells(
    model: Any,
    edges: list[Floats],
    names: tuple[str, str],
    held: dict[str, Value | None],
) -> Floats:
    """Return what is predicted in the middle of each cell, y × x × outputs."""
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    across, up = np.meshgrid(*middles)
    columns = dict(zip(names, (across.ravel(), up.ravel()), strict=True))
    outputs = model.outputs(_with_held(model, columns, held, across.size))
    return np.asarray(outputs).reshape(*across.shape, -1)


def _with_held(
    model: Any, columns: dict[str, Any], held: dict[str, Value | None], n_rows: int
) -> dict[str, Any]:
    """Return rows of some columns, the others as they are held."""
    return {
        a.name: columns[a.name] if a.name in columns else [held[a.name]] * n_rows
        for a in model.schema.attributes
        if a.formula is None
    }


def _fill(axes: Any, model: Any, edges: list[Floats], cells: Floats) -> list[Any]:
    """Fill the cells; return what a legend shows of the classes."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    target = model.schema.target
    if target.is_numeric:
        values = cells[:, :, 0]
        drawn = axes.pcolormesh(*edges, values, cmap="cividis", alpha=0.6)
        bar = axes.figure.colorbar(drawn, ax=axes)
        bar.ax.tick_params(labelsize=7)
        return []
    labels = labels_of(cells, target.costs)
    n = len(COLOURS)
    look = {"cmap": ListedColormap(COLOURS), "vmin": 0, "vmax": n, "alpha": 0.3}
    axes.pcolormesh(*edges, labels % n, **look)
    axes.add_collection(
        LineCollection(_borders(edges, labels), colors=LIGHT["frame"], linewidths=0.9)
    )
    there = np.unique(labels)[:n]
    return [
        Patch(color=colour_of(c), alpha=0.6, label=short(target.classes[c], 24))
        for c in there
    ]


def _borders(edges: list[Floats], labels: Integers) -> list[Any]:
    """Return the lines between cells of different classes."""
    across, up = edges
    lines: list[Any] = []
    for row, column in np.argwhere(labels[:, 1:] != labels[:, :-1]):
        at = across[column + 1]
        lines.append([(at, up[row]), (at, up[row + 1])])
    for row, column in np.argwhere(labels[1:] != labels[:-1]):
        at = up[row + 1]
        lines.append([(across[column], at), (across[column + 1], at)])
    return lines


def _draw_rows(
    axes: Any,
    model: Any,
    table: Table,
    names: tuple[str, str],
    held: dict[str, Value | None],
) -> list[Any]:
    """Draw rows, each class with a colour and a sign; some of very many.

    Those of which the model says otherwise than of the region that they lie in, for
    what is held is another value with them, are pale. Return what a legend says of it.
    """
    known = np.isfinite([table[name].cells for name in names]).all(axis=0)
    placed = np.flatnonzero(known)
    some = table.take(placed[:: -(-len(placed) // MOST_ROWS) or 1])
    x, y = (some[name].cells for name in names)
    elsewhere = _elsewhere(model, some, names, held)
    target = model.schema.target
    look = {"s": 22 if len(x) <= 300 else 7, "linewidths": 0.5, "zorder": 3}
    groups: list[tuple[Any, dict[str, Any]]] = []
    if target.is_numeric or target.name not in some.names:
        groups.append((np.ones(len(x), np.bool_), {"color": LIGHT["text"]}))
    else:
        codes = target.encode(some[target.name])
        for code in np.unique(codes[codes >= 0]).tolist():
            marker = MARKERS[code % len(MARKERS)]
            groups.append((codes == code, {"color": colour_of(code), "marker": marker}))
    for mine, hue in groups:
        for chosen, alpha in ((mine & elsewhere, PALE), (mine & ~elsewhere, 1.0)):
            if chosen.any():
                edge = {"ec": "white"} if alpha == 1 else {}
                where = x[chosen], y[chosen]
                axes.scatter(*where, alpha=alpha, **hue, **edge, **look)
    if not elsewhere.any():
        return []
    from matplotlib.lines import Line2D

    label = "pale: other values than held"
    point = Line2D([], [], color=LIGHT["text"], alpha=PALE, marker="o", label=label)
    point.set(linestyle="none", markersize=4)
    return [point]


def _elsewhere(
    model: Any, table: Table, names: tuple[str, str], held: dict[str, Value | None]
) -> NDArray[np.bool_]:
    """Return of which rows the model says otherwise than if they were as is held."""
    target = model.schema.target
    if target.is_numeric and model.kind == "forest":  # a mean that is never the same
        return np.zeros(table.n_rows, np.bool_)
    here = {name: table[name].cells for name in names}
    as_held = _with_held(model, here, held, table.n_rows)
    both = [np.asarray(model.outputs(each)) for each in (table, as_held)]
    if target.is_numeric:
        return np.asarray((both[0] != both[1]).any(axis=1))
    said, seen = (labels_of(each, target.costs) for each in both)
    return np.asarray(said != seen)
