"""The limits of cells, and the worst results."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from benchmarks.everyday.cells import BUNDLED, MADE, MADE_NUMBER, PEER, PLAIN
from benchmarks.everyday.results import Result
from benchmarks.speed.outcome import Bar

__all__ = ["NOT_RUN", "check_targets"]

ByName = Mapping[str, Result]
Figures = Iterator[tuple[str, float]]

NOT_RUN = "not run"
SMALL = ("iris", "breast cancer", "credit_g", "diabetes")  # of less than 50,000 cells


@dataclass(frozen=True)
class Target:
    """A figure of some cells, which is to be at most so much.

    ``figures`` yields it with the name of its cell; of a cell that was not done it is
    infinite, and one that was not run is passed over.
    """

    words: str
    limit: float
    unit: str
    figures: Callable[[ByName], Figures]


def check_targets(results: Iterable[Result]) -> list[Bar]:
    """Return the targets, with the worst cell of each; ``NOT_RUN`` where none was."""
    by_name = {result.name: result for result in results}
    bars = []
    for asked in TARGETS:
        must = f"{asked.words} <= {asked.limit:g}{asked.unit}"
        found = list(asked.figures(by_name))
        if not found:
            bars.append(Bar(must, NOT_RUN, met=False))
            continue
        name, worst = max(found, key=lambda each: each[1])
        met = sum(figure <= asked.limit for _, figure in found)
        text = "not done" if worst == inf else f"{worst:.3g}{asked.unit}"
        reached = f"{text} ({name}), {met} of {len(found)} cells"
        bars.append(Bar(must, reached, worst <= asked.limit))
    return bars


def _seconds(*names: str) -> Callable[[ByName], Figures]:
    """Return how to find the seconds of cells of these names."""

    def figures(results: ByName) -> Figures:
        for name in names:
            if name in results and (seconds := _done(results[name])) is not None:
                yield name, seconds

    return figures


def _done(result: Result) -> float | None:
    """Return the seconds of a cell, infinite if it failed, None if it was left out."""
    if "left out" in result.missed:
        return None
    best = result.best()
    return inf if best is None else best


def _defaults_of_small(results: ByName) -> Figures:
    lines = [f"{table}, default" for table in SMALL]
    grid = [name for name in results if name.split(", auto, ")[0] in SMALL]
    yield from _seconds(*lines, *(name for name in grid if ", auto, " in name))(results)


def _times(peer: str, *names: str) -> Callable[[ByName], Figures]:
    """Return how to find how many times the seconds of a peer cells took."""

    def figures(results: ByName) -> Figures:
        for name, seconds in _seconds(*names)(results):
            if beside := results[name].runs.get(peer):
                yield name, seconds / min(beside)

    return figures


def _settings(recipes: Callable[[str], bool]) -> Callable[[ByName], Figures]:
    """Return how to find how many times a plain tree's seconds settings took."""

    def figures(results: ByName) -> Figures:
        for name, result in results.items():
            like = results.get(result.like)
            plain = None if like is None else like.best()
            own_bar = ", default" in name or ", auto, " in name
            if plain and not own_bar and "forest" not in name and recipes(name):
                for _, seconds in _seconds(name)(results):
                    yield name, seconds / plain

    return figures


def _is_chaid(name: str) -> bool:
    return ", chaid, " in name


CREDITS = ("credit_a", "made like credit_a")
ONE_ROW = "breast cancer, one row"
SINGLE = tuple(
    f"{table}, {way}, branch"
    for table in BUNDLED
    for way in ("cart", "cart, kernels loaded")
)
TARGETS = (
    Target(
        "the default on tables of less than 50,000 cells, with any setting",
        0.5,
        " s",
        _defaults_of_small,
    ),
    Target(
        "the default on 50,000 × 20",
        3,
        " s",
        _seconds(
            f"{MADE}, default",
            f"{MADE}, default, 5% missing",
            f"{MADE_NUMBER}, default",
        ),
    ),
    Target(
        "spinney grow of 690 rows",
        1.5,
        " s",
        _seconds(*(f"{table}, spinney grow, fresh process" for table in CREDITS)),
    ),
    Target(
        "spinney evaluate of 690 rows, three recipes by five folds",
        4,
        " s",
        _seconds(
            *(
                f"{table}, spinney evaluate, 5 folds, 3 recipes, fresh process"
                for table in CREDITS
            )
        ),
    ),
    Target(
        "spinney predict of one row",
        0.3,
        " s",
        _seconds("one row of iris, spinney predict, fresh process"),
    ),
    Target("single trees, relative to scikit-learn", 3, " ×", _times(PEER, *SINGLE)),
    Target(
        "a regression tree, relative to scikit-learn",
        3,
        " ×",
        _times(PEER, "diabetes, cart"),
    ),
    Target(
        "C4.5, relative to YDF",
        1,
        " ×",
        _times(
            "YDF",
            "adult, 800 rows, c4.5",
            "adult, 800 rows, c4.5, kernels loaded",
            f"adult, c4.5, {PLAIN}",
        ),
    ),
    Target(
        "any setting, relative to the plain tree of the same rows",
        10,
        " ×",
        _settings(lambda name: not _is_chaid(name)),
    ),
    Target(
        "any setting of chaid, relative to plain chaid", 30, " ×", _settings(_is_chaid)
    ),
    Target(
        "one row by a tree's predictor()",
        50e-6,
        " s",
        _seconds(f"{ONE_ROW}, tree, predictor"),
    ),
    Target(
        "one row by a forest's predictor()",
        200e-6,
        " s",
        _seconds(f"{ONE_ROW}, forest, predictor"),
    ),
)
