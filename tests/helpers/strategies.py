"""Tables to test with: random ones, those of the textbooks, and random recipes."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from tests.twins.naive_splits import Cell, Row

from spinney.data.schema import Attribute, Schema, Target
from spinney.recipes import RECIPES, Recipe
from spinney.search.missing_values import POLICIES
from spinney.sources.rows.memory import MemorySource
from spinney.trees.criteria import CRITERIA

TABLES = Path(__file__).parents[1] / "tables"
ROW_NUMBERS = ("id", "day", "example", "entity")

# Few numbers, so that there are ties; not all of them are sums of powers of two.
NUMBERS = (-2.5, -0.1, 0.0, 0.1, 0.3, 1.0, 7.25, 1e6)

# The recipes that suit a target of classes and grow one split after the other; a search
# over all trees has a twin of its own.
CLASS_RECIPES = sorted(
    name
    for name, recipe in RECIPES.items()
    if recipe.leaves == "mean" and recipe.search == "greedy"
)
OF_CLASSES = sorted(name for name in CRITERIA if not CRITERIA[name].numeric)


@dataclass(frozen=True)
class Rows:
    """A table as the naive twin reads it."""

    schema: Schema
    rows: list[Row]

    @property
    def source(self) -> MemorySource:
        """A fresh source over these rows: a source can be grown on once."""
        return source_of(self.schema, self.rows)


def columns_of(schema: Schema, table: Sequence[Sequence[Cell]]) -> list[np.ndarray]:
    """Return the columns of rows of cells as the package codes them."""
    columns = []
    for place, attribute in enumerate(schema.attributes):
        cells = [row[place] for row in table]
        if attribute.kind == "numeric":
            columns.append(np.array([np.nan if c is None else c for c in cells]))
        else:
            columns.append(np.array([-1 if c is None else c for c in cells], np.int32))
    return columns


def source_of(schema: Schema, rows: list[Row]) -> MemorySource:
    """Return a source over plain rows; None is a missing cell."""
    columns = columns_of(schema, [cells for cells, _, _ in rows])
    classes = np.array([label for _, label, _ in rows])
    weights = np.array([weight for _, _, weight in rows], dtype=float)
    unweighted = bool(np.all(weights == 1))
    return MemorySource(
        schema, columns, classes=classes, weights=None if unweighted else weights
    )


def textbook(
    name: str,
    *,
    numeric: tuple[str, ...] = (),
    ignore: tuple[str, ...] = ROW_NUMBERS,
) -> Rows:
    """Return a table of the textbooks; its last column is the target."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8") as file:
        header, *records = csv.reader(file)
    columns = dict(zip(header, zip(*records, strict=True), strict=True))
    *names, target = (column for column in header if column not in ignore)
    levels = {n: sorted({cell for cell in columns[n] if cell}) for n in columns}
    schema = Schema(
        tuple(
            Attribute(n, "numeric")
            if n in numeric
            else Attribute(n, "nominal", tuple(levels[n]))
            for n in names
        ),
        Target(target, tuple(levels[target])),
    )

    def coded(column: str, cell: str) -> Cell:
        if not cell:
            return None
        return float(cell) if column in numeric else levels[column].index(cell)

    cells = [[coded(n, cell) for cell in columns[n]] for n in (*names, target)]
    return Rows(
        schema,
        [(row[:-1], row[-1], 1.0) for row in map(list, zip(*cells, strict=True))],
    )


def cells_of(attribute: Attribute) -> st.SearchStrategy[Cell]:
    """Return cells of an attribute, none of them missing."""
    if attribute.kind == "numeric":
        return st.sampled_from(NUMBERS)
    return st.integers(0, len(attribute.values) - 1)


@st.composite
def attributes(
    draw: st.DrawFn, kinds: tuple[str, ...] = ("nominal", "ordinal", "numeric")
) -> Attribute:
    """Draw an attribute of one of the kinds; its name is its kind for now."""
    kind = draw(st.sampled_from(kinds))
    n_values = 0 if kind == "numeric" else draw(st.integers(1, 5))
    return Attribute(kind, kind, tuple("abcde"[:n_values]))


WEIGHTS = {
    "none": st.just(1.0),
    "whole": st.integers(1, 4).map(float),
    "thirds": st.integers(1, 6).map(lambda n: n / 3),
}


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    kinds: tuple[str, ...] = ("nominal", "ordinal", "numeric"),
    weights: tuple[str, ...] = ("none", "whole", "thirds"),
    missing: bool = True,
    max_rows: int = 40,
    max_classes: int = 4,
) -> Rows:
    """Draw a table with mixed attributes, ties and missing cells."""
    n_attributes = draw(st.integers(1, 4))
    drawn = [draw(attributes(kinds)) for _ in range(n_attributes)]
    named = tuple(
        Attribute(f"{attribute.kind}{place}", attribute.kind, attribute.values)
        for place, attribute in enumerate(drawn)
    )
    n_classes = draw(st.integers(2, max_classes))
    schema = Schema(named, Target("class", tuple("wxyz"[:n_classes])))
    weight = WEIGHTS[draw(st.sampled_from(weights))]
    holes = missing and draw(st.booleans())
    columns = [
        st.one_of(st.none(), cells_of(a), cells_of(a)) if holes else cells_of(a)
        for a in named
    ]
    row = st.tuples(
        st.tuples(*columns).map(list), st.integers(0, n_classes - 1), weight
    )
    n_rows = draw(st.integers(2, max_rows))
    return Rows(schema, draw(st.lists(row, min_size=n_rows, max_size=n_rows)))


@st.composite
def recipes(draw: st.DrawFn, *, limited: bool = True) -> Recipe:
    """Draw a recipe; without limits, all of them are at their free values."""
    criterion = draw(st.sampled_from(OF_CLASSES))
    missing = draw(st.sampled_from(sorted(set(POLICIES) - {"mean", "drop"})))
    two_branches = CRITERIA[criterion].binary or missing == "surrogate"
    recipe = Recipe(
        "drawn",
        criterion,
        "binary" if two_branches else draw(st.sampled_from(("multiway", "binary"))),
        missing,
        surrogates=draw(st.sampled_from((5, 5, 0, 1, 2))),
    )
    if not limited:
        return recipe
    # Not as if by hand: the correction has no effect with most criteria.
    return replace(
        recipe,
        max_depth=draw(st.none() | st.integers(0, 4)),
        max_leaves=draw(st.none() | st.none() | st.integers(1, 9)),
        min_samples_split=draw(st.sampled_from((0, 2, 2, 3, 5.5, 0.37))),
        min_samples_leaf=draw(st.sampled_from((0, 1, 1, 1, 2, 2.5, 0.13))),
        min_weight_fraction_leaf=draw(st.sampled_from((0.0, 0.0, 0.0, 0.12))),
        min_gain=draw(st.sampled_from((0.0, 0.0, 1e-6, 0.0437))),
        mdl_correction=draw(st.booleans()),
        min_cut_share=draw(st.sampled_from((0.0, 0.1, 0.7))),
        min_step=draw(st.sampled_from((0.0, 0.0, 1e-5, 0.002))),
        thresholds=draw(st.sampled_from(("midpoint", "observed"))),
        reuse_attributes=draw(st.sampled_from((True, True, False))),
    )
