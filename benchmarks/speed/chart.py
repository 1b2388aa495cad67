"""A chart of the ratios, for the docs."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.speed.outcome import OWN, Outcome

__all__ = ["draw"]

COLOURS = {
    "spinney": "#1b7837",
    "scikit-learn": "#e08214",
    "LightGBM": "#542788",
    "XGBoost": "#2166ac",
    "YDF": "#b2182b",
    "chefboost": "#7f7f7f",
}


def draw(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Draw how many times Spinney's seconds each program took, task by task."""
    try:
        import matplotlib
    except ImportError:
        msg = "a chart needs Matplotlib: pip install -e '.[bench]'"
        raise SystemExit(msg) from None
    matplotlib.use("Agg")
    # Without a salt the ids in the file differ from run to run.
    matplotlib.rcParams.update({"svg.hashsalt": "spinney", "svg.fonttype": "none"})
    from matplotlib import pyplot

    bars = _bars(outcomes)
    if not bars:
        msg = "no task has a peer beside Spinney: there is nothing to draw"
        raise SystemExit(msg)
    figure, axes = pyplot.subplots(figsize=(8, 1.0 + 0.22 * len(bars)))
    for place, (label, program, ratio) in enumerate(bars):
        if program:
            colour = COLOURS.get(program.split(",")[0], "#7f7f7f")
            axes.barh(place, ratio - 1, left=1, height=0.8, color=colour)
            words = f" {label} {ratio:.3g} ×"
            axes.text(max(ratio, 1.0), place, words, va="center", fontsize=7)
        else:
            axes.text(1.0, place, label, va="center", fontsize=8, weight="bold")
    axes.axvline(1, color=COLOURS[OWN], linewidth=1.5)
    axes.set_xscale("log")
    axes.set_ylim(len(bars), -1)
    axes.set_yticks([])
    axes.set_xlim(min(0.5, *(bar[2] for bar in bars)), 12 * max(b[2] for b in bars))
    axes.set_xlabel("seconds ÷ Spinney's seconds (warm, two threads)")
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _bars(outcomes: Iterable[Outcome]) -> list[tuple[str, str, float]]:
    """Return label, program and ratio of each bar; a title has no program."""
    bars: list[tuple[str, str, float]] = []
    for outcome in outcomes:
        others = [
            (line.program, line.program, ratio)
            for line in outcome.lines
            if not line.program.startswith(OWN)
            and (ratio := outcome.ratio(line.program)) is not None
        ]
        if others and outcome.name != "memory":
            size = f"{outcome.rows:,} × {outcome.columns}"
            bars += [(f"{outcome.title}, {size}", "", 1.0), *others]
    return bars
