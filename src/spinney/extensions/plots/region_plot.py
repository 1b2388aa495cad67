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
from spinney.extensions.plots.model_plots import check_kind
from spinney.extensions.plots.plot_axes import (
    indexed_colour,
    new_axes,
    short,
    titled,
    with_legend,
)
from spinney.trees import Threshold, labels_of

STEPS = 300  # of a grid, if the edges of regions are unknown or too many
MAX_ROWS = 5000
MARGIN = 0.05
MARKERS = "os^Dv<>p"
FADED = 0.25  # opacity of rows that differ in the fixed variables


def regions(
    model: Any,
    data: Any,
    axes: Any = None,
    *,
    x: str | None = None,
    y: str | None = None,
    fixed: Mapping[str, Value] | None = None,
) -> Any:
    """Draw a model's predictions over two numeric attributes, with rows.

    A tree splits on one attribute at a time, so its regions are rectangles, drawn
    exactly from its thresholds. Other attributes are fixed: numbers at the median,
    categories at the most frequent; the title names them. A row is faded if its
    prediction differs from its region's, because its other values differ from the fixed
    ones.

    Parameters
    ----------
    model : fitted tree or forest
    data : table
        The rows to draw; a target column colours them.
    axes : Axes, optional
    x, y : str, optional
        The attributes; by default the two most important numeric ones.
    fixed : mapping, optional
        Fixed values of other attributes.

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
    check_kind(model, "regions", "tree", "forest")
    table = model.read(data, whole=True)
    x, y = _axis_names(model, x, y)
    fixed_values = _fixed_values(model.schema, table, {x, y}, dict(fixed or {}))
    edges = [_cell_edges(model, table, name) for name in (x, y)]
    cells = _cell_predictions(model, edges, (x, y), fixed_values)
    axes = new_axes(axes)
    handles = _fill_cells(axes, model, edges, cells)
    handles += _draw_rows(axes, model, table, (x, y), fixed_values)
    if handles:
        with_legend(axes, handles, title=short(model.schema.target.name, 24))
    used = {*model.asked}
    fixed_texts = [
        f"{short(name, 20)} = {_value_text(value)}"
        for name, value in fixed_values.items()
        if name in used
    ]
    title = f"decision regions of {short(model.schema.target.name, 30)}"
    title += f" at {', '.join(fixed_texts[:4])}" if fixed_texts else ""
    title += f" and {len(fixed_texts) - 4} more" if len(fixed_texts) > 4 else ""
    return titled(axes, title, x=x, y=y)


def _value_text(value: Value | None) -> str:
    if value is None:
        return "missing"
    return figure(value) if isinstance(value, float) else short(value_text(value), 20)


def _axis_names(model: Any, x: str | None, y: str | None) -> tuple[str, str]:
    """Return the names of two numeric attributes; by default the most important."""
    schema = model.schema
    numeric = [
        attribute.name
        for attribute in schema.attributes
        if attribute.kind == "numeric" and attribute.formula is None
    ]
    for parameter, name in (("x", x), ("y", y)):
        if name is not None and name not in numeric:
            problem = "is not a numeric attribute of the model"
            raise refusal(
                Setting(parameter, name), problem, did_you_mean(name, numeric)
            )
    if x is not None and x == y:
        both = (" and ", Setting("y", y), " are the same attribute")
        raise ParameterError(Setting("x", x), both, remedy="name two")
    names = (a.name for a in schema.attributes)
    values = (
        model.importances().mean if model.kind == "forest" else model.tree.importances
    )
    importance = dict(zip(names, values, strict=True))
    rest = sorted((n for n in numeric if n not in (x, y)), key=lambda n: -importance[n])
    chosen = [name for name in (x, y) if name is not None] + rest
    if len(chosen) < 2:
        msg = (
            f"a region plot needs two numeric attributes, and the model has "
            f"{len(numeric)}: plot the tree instead"
        )
        raise ParameterError(msg)
    if x is None and y is None:  # in the order of columns
        first, second = sorted(chosen[:2], key=numeric.index)
        return first, second
    return (chosen[0], chosen[1]) if x is not None else (chosen[1], chosen[0])


def _fixed_values(
    schema: Schema, table: Table, free: set[str], fixed: dict[str, Value]
) -> dict[str, Value | None]:
    """Return a value for each attribute that is on neither axis, by name."""
    values: dict[str, Value | None] = {}
    for attribute in schema.attributes:
        if attribute.formula is not None or attribute.name in free:
            continue
        if attribute.name in fixed:
            values[attribute.name] = fixed.pop(attribute.name)
            continue
        column = table[attribute.name]
        known = column.cells[~column.missing]
        if not len(known):
            values[attribute.name] = None
        elif column.kind == "numeric":
            values[attribute.name] = float(np.median(known))
        else:
            values[attribute.name] = column.levels[int(np.bincount(known).argmax())]
    if fixed:
        name = next(iter(fixed))
        where = "on an axis" if name in free else "not an attribute of the model"
        raise ParameterError(
            Setting("fixed", {name: fixed[name]}),
            f": {shown(name)!r} is {where}",
            remedy="leave it out",
        )
    return values


def _cell_edges(model: Any, table: Table, name: str) -> Floats:
    """Return the edges of cells along an attribute: thresholds, or a grid."""
    column = table[name]
    known = column.cells[np.isfinite(column.cells)]
    if not len(known):
        msg = f"column {name!r} has no numbers: choose another for x or y"
        raise DataError(msg)
    low, high = float(known.min()), float(known.max())
    margin = (high - low) * MARGIN or abs(low) * MARGIN or 1.0
    low, high = low - margin, high + margin
    cuts = _thresholds(model, name)
    if cuts is None or len(cuts) > STEPS:
        return np.linspace(low, high, STEPS + 1)
    inside = cuts[(cuts > low) & (cuts < high)]
    return np.concatenate([[low], inside, [high]])


def _thresholds(model: Any, name: str) -> Floats | None:
    """Return the sorted thresholds of an attribute; None if they are not all edges."""
    schema = model.schema
    if model.kind != "tree" or any(a.formula for a in schema.attributes):
        return None
    index = [attribute.name for attribute in schema.attributes].index(name)
    splits = [
        node.split
        for node in model.tree.nodes
        if node.split is not None and node.split.attribute == index
    ]
    if not all(isinstance(split, Threshold) for split in splits):
        return None
    return np.unique(np.array([split.threshold for split in splits], np.float64))


def _cell_predictions(
    model: Any,
    edges: list[Floats],
    names: tuple[str, str],
    fixed: dict[str, Value | None],
) -> Floats:
    """Return the prediction at the centre of each cell, y × x × outputs."""
    centres = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    x, y = np.meshgrid(*centres)
    columns = dict(zip(names, (x.ravel(), y.ravel()), strict=True))
    outputs = model.outputs(_columns_with_fixed_values(model, columns, fixed, x.size))
    return np.asarray(outputs).reshape(*x.shape, -1)


def _columns_with_fixed_values(
    model: Any, columns: dict[str, Any], fixed: dict[str, Value | None], n_rows: int
) -> dict[str, Any]:
    """Return rows of some columns, with fixed values in the others."""
    return {
        a.name: columns[a.name] if a.name in columns else [fixed[a.name]] * n_rows
        for a in model.schema.attributes
        if a.formula is None
    }


def _fill_cells(axes: Any, model: Any, edges: list[Floats], cells: Floats) -> list[Any]:
    """Fill the cells; return the legend handles of the classes."""
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
        LineCollection(
            _class_borders(edges, labels), colors=LIGHT["frame"], linewidths=0.9
        )
    )
    drawn_classes = np.unique(labels)[:n]
    return [
        Patch(color=indexed_colour(c), alpha=0.6, label=short(target.classes[c], 24))
        for c in drawn_classes
    ]


def _class_borders(edges: list[Floats], labels: Integers) -> list[Any]:
    """Return the lines between cells of different classes."""
    xs, ys = edges
    lines: list[Any] = []
    for row, column in np.argwhere(labels[:, 1:] != labels[:, :-1]):
        x = xs[column + 1]
        lines.append([(x, ys[row]), (x, ys[row + 1])])
    for row, column in np.argwhere(labels[1:] != labels[:-1]):
        y = ys[row + 1]
        lines.append([(xs[column], y), (xs[column + 1], y)])
    return lines


def _draw_rows(
    axes: Any,
    model: Any,
    table: Table,
    names: tuple[str, str],
    fixed: dict[str, Value | None],
) -> list[Any]:
    """Draw a sample of rows with a colour and marker per class; return legend handles.

    Rows whose prediction differs from their region's are faded.
    """
    known = np.isfinite([table[name].cells for name in names]).all(axis=0)
    placed = np.flatnonzero(known)
    sample = table.take(placed[:: -(-len(placed) // MAX_ROWS) or 1])
    x, y = (sample[name].cells for name in names)
    is_faded = _is_faded(model, sample, names, fixed)
    target = model.schema.target
    look = {"s": 22 if len(x) <= 300 else 7, "linewidths": 0.5, "zorder": 3}
    groups: list[tuple[Any, dict[str, Any]]] = []
    if target.is_numeric or target.name not in sample.names:
        groups.append((np.ones(len(x), np.bool_), {"color": LIGHT["text"]}))
    else:
        codes = target.encode(sample[target.name])
        for code in np.unique(codes[codes >= 0]).tolist():
            marker = MARKERS[code % len(MARKERS)]
            groups.append(
                (codes == code, {"color": indexed_colour(code), "marker": marker})
            )
    for in_group, style in groups:
        for mask, alpha in ((in_group & is_faded, FADED), (in_group & ~is_faded, 1.0)):
            if mask.any():
                edge = {"ec": "white"} if alpha == 1 else {}
                axes.scatter(x[mask], y[mask], alpha=alpha, **style, **edge, **look)
    if not is_faded.any():
        return []
    from matplotlib.lines import Line2D

    label = "faded: rows that differ\nin the other variables"
    point = Line2D([], [], color=LIGHT["text"], alpha=FADED, marker="o", label=label)
    point.set(linestyle="none", markersize=4)
    return [point]


def _is_faded(
    model: Any, table: Table, names: tuple[str, str], fixed: dict[str, Value | None]
) -> NDArray[np.bool_]:
    """Return whether each row's prediction changes with the fixed values."""
    target = model.schema.target
    if target.is_numeric and model.kind == "forest":  # a mean, hardly ever equal
        return np.zeros(table.n_rows, np.bool_)
    columns = {name: table[name].cells for name in names}
    fixed_rows = _columns_with_fixed_values(model, columns, fixed, table.n_rows)
    predicted, of_region = (
        np.asarray(model.outputs(rows)) for rows in (table, fixed_rows)
    )
    if target.is_numeric:
        return np.asarray((predicted != of_region).any(axis=1))
    labels = labels_of(predicted, target.costs)
    return np.asarray(labels != labels_of(of_region, target.costs))
