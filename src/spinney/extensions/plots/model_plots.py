"""Plots of a model alone: tree, variable importance, error by number of leaves."""

from typing import Any

import numpy as np

from spinney.errors import ParameterError
from spinney.extensions.pictures import draw_svg
from spinney.extensions.pictures.style_sheet import LIGHT
from spinney.extensions.plots.plot_axes import (
    IMPORTANCE_AXIS,
    indexed_colour,
    new_axes,
    short,
    titled,
    with_legend,
)
from spinney.growth.prune import leaf_risks, sequence_of

MAX_BARS = 30
ERROR_LABELS = {"folds": "cross-validation", "validation": "validation set"}


def tree(
    model: Any,
    axes: Any = None,
    *,
    style: str = "compact",
    horizontal: bool = False,
    max_depth: int | None = None,
) -> Any:
    """Draw a tree, as :meth:`plot` of a fitted tree does, and return the axes.

    Parameters
    ----------
    model : fitted tree
    axes : Axes, optional
        The axes to draw on; new axes of the picture's size by default.
    style, horizontal, max_depth
        As for ``model.plot``.

    Examples
    --------
    >>> import spinney
    >>> from spinney import plots
    >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    >>> axes = plots.tree(spinney.grow(shop, "sold", recipe="c4.5"))
    >>> [text.get_text() for text in axes.texts][-2:]
    ['yes', '3 rows · 50 %']
    """
    check_kind(model, "tree", "tree")
    picture = model.plot(style=style, horizontal=horizontal, max_depth=max_depth)
    return draw_svg(picture.svg, axes)


def importances(model: Any, axes: Any = None, *, most: int = MAX_BARS) -> Any:
    """Draw the importance of each attribute; for a forest, with the spread over trees.

    Parameters
    ----------
    model : fitted tree or forest
    axes : Axes, optional
    most : int
        The greatest number of attributes; the most important come first.
    """
    check_kind(model, "importances", "tree", "forest")
    ranked = list(model.importances().ranked())
    shown = ranked[:most]
    axes = new_axes(axes, (5.2, 0.9 + 0.24 * len(shown)))
    names, means, spreads = zip(*reversed(shown), strict=True)
    spread = {"xerr": spreads} if model.kind == "forest" else {}
    look = {
        "color": indexed_colour(0),
        "ecolor": LIGHT["frame"],
        "capsize": 2,
        "height": 0.7,
    }
    axes.barh([short(name, 30) for name in names], means, **spread, **look)
    axes.set_xlim(left=0)
    rest = len(ranked) - len(shown)
    more = f", {rest} more not shown" if rest else ""
    spread_over = " ± SD over trees" if model.kind == "forest" else ""
    title = f"variable importance for {short(model.schema.target.name, 30)}{more}"
    return titled(axes, title, x=f"{IMPORTANCE_AXIS}{spread_over}")


def pruning_path(model: Any, axes: Any = None) -> Any:
    """Draw the relative error by number of leaves along the cost-complexity sequence.

    All errors are relative to the root's error on the training rows. The error by
    cross-validation or on a validation set has its standard error. The dotted line is
    one standard error above its minimum (1-SE rule). A model that was not pruned by
    cost complexity has only its training error.
    """
    check_kind(model, "pruning_path", "tree")
    sequence = model.sequence_
    if sequence is None:
        sequence = sequence_of(model.tree, leaf_risks(model.tree))
    rows = sequence.subtrees
    leaves = [row.leaves for row in rows]
    axes = new_axes(axes)
    axes.plot(
        leaves,
        [row.relative_error for row in rows],
        "-o",
        color=indexed_colour(1),
        markersize=3,
        linewidth=1.2,
        label="training set",
    )
    if sequence.judged_by is not None:
        root_error = sequence.root_risk / (sequence.weight or 1.0) or 1.0
        errors, deviations = (rate / root_error for rate in sequence.mean_errors())
        axes.errorbar(
            leaves,
            errors,
            yerr=deviations,
            fmt="-o",
            color=indexed_colour(0),
            markersize=4,
            linewidth=1.4,
            capsize=2,
            label=f"{ERROR_LABELS[sequence.judged_by]} ± standard error",
        )
        best = int(np.argmin(errors))
        limit = errors[best] + deviations[best]
        axes.axhline(limit, color=LIGHT["frame"], linestyle=":", linewidth=1)
    if sequence.chosen is not None:
        chosen = leaves[sequence.chosen]
        axes.axvline(chosen, color=indexed_colour(5), linestyle="--", linewidth=1)
        axes.set_xlabel(f"leaves (selected: {chosen})")
    axes.set_xscale("log", base=2)
    ticks = sorted({*leaves} if len(leaves) <= 8 else {*leaves[:: len(leaves) // 7]})
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    with_legend(axes, loc="upper right")
    title = f"cost-complexity pruning for {short(model.schema.target.name, 30)}"
    label = axes.get_xlabel() or "leaves"
    return titled(axes, title, x=label, y="relative error (root node = 1)")


def check_kind(model: Any, plot: str, *kinds: str) -> None:
    """Refuse anything but a fitted model of one of these kinds."""
    kind = getattr(model, "kind", None)
    if kind not in kinds:
        wanted = " or a ".join(kinds)
        what = f"a model of the kind {kind!r}" if kind else type(model).__name__
        msg = f"plots.{plot} draws a {wanted}, grown, fitted or loaded, not {what}"
        raise ParameterError(msg)
