"""Plots of a model alone: the tree, what its attributes are worth, how far to prune."""

from typing import Any

import numpy as np

from spinney.errors import ParameterError
from spinney.extensions.pictures import draw_svg
from spinney.extensions.pictures.style_sheet import LIGHT
from spinney.extensions.plots.plot_axes import (
    colour_of,
    new_axes,
    short,
    titled,
    with_legend,
)
from spinney.growth.prune import leaf_risks, sequence_of

__all__ = ["importances", "need", "pruning_path", "tree"]

MOST_BARS = 30
JUDGED = {"folds": "cross-validated", "validation": "on the validation rows"}


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
        Where to draw; new ones of the picture's size if not given.
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
    need(model, "tree", "tree")
    picture = model.plot(style=style, horizontal=horizontal, max_depth=max_depth)
    return draw_svg(picture.svg, axes)


def importances(model: Any, axes: Any = None, *, most: int = MOST_BARS) -> Any:
    """Draw how important each attribute is, of a forest with the spread over trees.

    Parameters
    ----------
    model : fitted tree or forest
    axes : Axes, optional
    most : int
        How many attributes at most, the most important first.
    """
    need(model, "importances", "tree", "forest")
    if model.kind == "forest":
        ranked = list(model.importances().ranked())
    else:
        worth, attributes = model.tree.importances, model.schema.attributes
        order = np.argsort(-worth, kind="stable")
        ranked = [(attributes[i].text(), float(worth[i]), 0.0) for i in order]
    shown_ones = ranked[:most]
    axes = new_axes(axes, (5.2, 0.9 + 0.24 * len(shown_ones)))
    names, means, spreads = zip(*reversed(shown_ones), strict=True)
    spread = {"xerr": spreads} if model.kind == "forest" else {}
    look = {
        "color": colour_of(0),
        "ecolor": LIGHT["frame"],
        "capsize": 2,
        "height": 0.7,
    }
    axes.barh([short(name, 30) for name in names], means, **spread, **look)
    axes.set_xlim(left=0)
    rest = len(ranked) - len(shown_ones)
    more = f", {rest} more not shown" if rest else ""
    spread_over = " ± standard deviation over trees" if model.kind == "forest" else ""
    title = f"what decides {short(model.schema.target.name, 30)}{more}"
    return titled(axes, title, x=f"share of gain{spread_over}")


def pruning_path(model: Any, axes: Any = None) -> Any:
    """Draw risk by the number of leaves, along the cost-complexity sequence.

    The risk by folds or by validation rows has its standard error, and the line one
    standard error above its least is where the usual rule chooses. All risks are shares
    of what the root has on the training rows. A model that was not pruned by cost
    complexity has its training risk only.
    """
    need(model, "pruning_path", "tree")
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
        color=colour_of(1),
        markersize=3,
        linewidth=1.2,
        label="on the training rows",
    )
    if sequence.judged_by is not None:
        root_error = sequence.root_risk / (sequence.weight or 1.0) or 1.0
        errors, deviations = (each / root_error for each in sequence.mean_errors())
        axes.errorbar(
            leaves,
            errors,
            yerr=deviations,
            fmt="-o",
            color=colour_of(0),
            markersize=4,
            linewidth=1.4,
            capsize=2,
            label=f"{JUDGED[sequence.judged_by]}, ± its standard error",
        )
        best = int(np.argmin(errors))
        limit = errors[best] + deviations[best]
        axes.axhline(limit, color=LIGHT["frame"], linestyle=":", linewidth=1)
    if sequence.chosen is not None:
        chosen = leaves[sequence.chosen]
        axes.axvline(chosen, color=colour_of(5), linestyle="--", linewidth=1)
        axes.set_xlabel(f"leaves (chosen: {chosen})")
    axes.set_xscale("log", base=2)
    ticks = sorted({*leaves} if len(leaves) <= 8 else {*leaves[:: len(leaves) // 7]})
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    with_legend(axes, loc="upper right")
    title = f"pruning {short(model.schema.target.name, 30)} by cost complexity"
    label = axes.get_xlabel() or "leaves"
    return titled(axes, title, x=label, y="risk, the root's in training is 1")


def need(model: Any, plot: str, *kinds: str) -> None:
    """Refuse what is no fitted model of one of these kinds."""
    kind = getattr(model, "kind", None)
    if kind not in kinds:
        wanted = " or a ".join(kinds)
        what = f"a model of the kind {kind!r}" if kind else type(model).__name__
        msg = f"plots.{plot} draws a {wanted}, grown, fitted or loaded, not {what}"
        raise ParameterError(msg)
