"""CHAID's merging: categories without a significant difference become one branch.

Kass (1980) merges the two categories that differ least, as long as they do not differ
significantly, and splits merged groups again if a split within one is significant. The
remaining groups are the branches of the split. Attributes compete by its p-value, times
the number of possible groupings (:mod:`spinney.search.chaid.bonferroni`). The steps, in
SPSS's order:

1. While there are more than two groups, take the pair of groups with the largest p.
   Nominal groups pair with any group, ordinal groups with their neighbours. Missing
   values that stand alone pair with any group.
2. Merge it if p > ``alpha_merge``; otherwise stop.
3. If the new group has three or more categories, find its most significant split
   in two, order respected. Split if p < ``alpha_split_merged``, unless an earlier split
   has made the same grouping: then merging and splitting ends.
4. A group that weighs less than ``least`` joins the most similar group.

Two groups are not merged, however similar: their test is the test of the split.
Exhaustive CHAID (Biggs, de Ville and Suen 1991) merges down to two groups in any case,
never splits, and takes the stage with the smallest p.

Ties. Values of log p within a relative 1e-12 (absolute below 1) are equal. Of equal
pairs, the pair whose groups begin first is merged: a group begins with its smallest
position, and missing values come last. Of equal splits, the first is made, in
lexicographic order of the side with the group's first category. Of equal stages, the
stage with the fewest groups is taken; of equally light groups, the first joins another.
So the order of rows has no effect.

Work. All tables of a batch take their steps together. A test is made once for each
pair of groups that ever exist together, and p of a split is computed only if its
statistic allows one below ``alpha_split_merged``. Up to ``MAX_PORTIONS`` categories are
merged as above. More categories are ordered: nominal ones by class probabilities, as in
:mod:`spinney.search.groupings`, or by their means. Categories with equal positions, and
then neighbours, are joined into at most ``MAX_PORTIONS`` portions of about equal
weight, which are merged as an ordinal attribute. The result is marked as not exact; its
multiplier counts all categories.
"""

from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named
from spinney.errors import Setting, refusal
from spinney.recipes import Recipe, check_alphas
from spinney.search.chaid.bonferroni import bonferroni
from spinney.search.chaid.categories import Categories
from spinney.search.chaid.groups import Merger, RecordStep
from spinney.trees import TableBatch
from spinney.trees.criteria import (
    Criterion,
    chi_square_test,
    f_test,
    g_test,
)

KINDS = ("nominal", "ordinal")
METHODS = ("chaid", "exhaustive")
STATISTICS = {"pearson": chi_square_test, "likelihood-ratio": g_test}


@dataclass(frozen=True, slots=True)
class Merging:
    """The settings of CHAID's merging.

    Parameters
    ----------
    method : {"chaid", "exhaustive"}
        Kass's rule, or merging down to two groups and returning to the best stage.
    statistic : {"pearson", "likelihood-ratio"}
        χ² or G. A numeric target always takes F.
    alpha_merge : float
        Pairs with a larger p are merged; 1 merges none. "exhaustive" ignores it.
    alpha_split_merged : float
        Merged groups with a smaller p are split again; 0 never splits. It must be below
        ``alpha_merge``, or split groups would be merged again.
    least : float or array of shape (tables,)
        The minimum weight of a group, for all tables or for each.
    """

    method: str = "chaid"
    statistic: str = "pearson"
    alpha_merge: float = 0.05
    alpha_split_merged: float = 0.049
    least: Floats | float = 0.0

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        check_named("method", self.method, METHODS)
        check_named("statistic", self.statistic, STATISTICS)
        check_alphas(self.alpha_merge, self.alpha_split_merged)
        if not np.all((np.asarray(self.least) >= 0) & np.isfinite(self.least)):
            raise refusal(
                Setting("least", self.least), remedy="give a weight of 0 or more"
            )


def merge_settings(recipe: Recipe, criterion: Criterion, least: Floats) -> Merging:
    """Return the merging of a recipe, for groups of a minimum weight."""
    return Merging(
        method="exhaustive" if recipe.exhaustive else "chaid",
        statistic="likelihood-ratio" if criterion.name == "g" else "pearson",
        alpha_merge=recipe.alpha_merge,
        alpha_split_merged=recipe.alpha_resplit,
        least=least,
    )


@dataclass(frozen=True, slots=True)
class MergeStep:
    """A step of the merging of one table: an action on two groups of its values.

    Parameters
    ----------
    what : {"merged", "kept apart", "split again", "joined"}
        The action: two groups merged; their difference ended the merging; a merged
        group was split again; a light group joined the other.
    one, other : tuple of float
        The values of each group, NaN for missing rows.
    p : float
        The p-value of the test of the two groups.
    """

    what: str
    one: tuple[float, ...]
    other: tuple[float, ...]
    p: float


@dataclass(frozen=True, slots=True, eq=False)
class MergedBatch:
    """The groups that CHAID found for the categories of many tables.

    Parameters
    ----------
    branch : array of shape (lines,)
        The group of each line, counted from 0 in its table.
    n_groups : array of shape (tables,)
        The number of groups of each table.
    missing : array of shape (tables,)
        The group of missing values, or -1.
    log_multiplier : array of shape (tables,)
        The logarithm of Bonferroni's multiplier.
    exact : array of shape (tables,)
        Whether categories were merged one by one, and every split was tested.
    """

    branch: Integers
    n_groups: Integers
    missing: Integers
    log_multiplier: Floats
    exact: NDArray[np.bool_]


def merge_batch(
    batch: TableBatch,
    *,
    ordinal: NDArray[np.bool_],
    floating: bool,
    settings: Merging,
    steps: list[MergeStep] | None = None,
) -> MergedBatch:
    """Return the merged categories of all tables of a batch.

    ``ordinal`` marks the tables in which only neighbours may merge. New steps are
    appended to ``steps``, if given; the batch then has one table.
    """
    categories = Categories.of(batch, ordered=ordinal, floating=floating)
    branch = np.zeros(len(batch.values), dtype=np.int64)
    n_groups = np.ones(len(batch), dtype=np.int64)
    missing = np.where(categories.missing >= 0, 0, -1)
    exact = categories.exact.copy()
    test = f_test if batch.is_moments else STATISTICS[settings.statistic]
    least = np.broadcast_to(np.float64(settings.least), len(batch))
    for tables, portions in categories.parts():
        merger = Merger(portions, test, _step_recorder(categories, steps))
        if settings.method == "exhaustive":
            merger.merge_by_stages()
        else:
            merger.merge_similar(settings.alpha_merge, settings.alpha_split_merged)
        merger.absorb_light_groups(least[tables])
        lines = batch.lines_of(tables)
        owner = np.repeat(np.arange(len(tables)), batch.counts[tables])
        number = _numbers(merger.group, owner, categories.portion[lines])
        branch[lines] = number[owner, categories.portion[lines]]
        n_groups[tables] = 1 + number.max(axis=1)
        floats = np.flatnonzero(portions.missing >= 0)
        missing[tables[floats]] = number[floats, portions.missing[floats]]
        exact[tables] &= merger.exact
    multipliers = _multipliers(categories, n_groups, ordinal, settings)
    return MergedBatch(branch, n_groups, missing, multipliers, exact)


def _step_recorder(
    categories: Categories, steps: list[MergeStep] | None
) -> RecordStep | None:
    """Return a function that appends the merging steps of one table to a list."""
    if steps is None:
        return None

    def values_of(portions: Integers) -> tuple[float, ...]:
        values = categories.batch.values[np.isin(categories.portion, portions)]
        missing = [np.nan] if categories.missing[0] in portions else []
        return (*values.tolist(), *missing)

    def record(
        action: str, _: int, first: Integers, second: Integers, log_p: float
    ) -> None:
        steps.append(MergeStep(action, values_of(first), values_of(second), exp(log_p)))

    return record


def _numbers(group: Integers, owner: Integers, portion: Integers) -> Integers:
    """Return the number of each portion's group, in order of their first lines.

    ``owner`` and ``portion`` are those of the lines. Missing values alone, a group
    without a line, come last; what is no portion has -1.
    """
    heads = group == np.arange(group.shape[1])
    n_lines = len(owner)
    first = np.where(heads, n_lines, n_lines + 1)
    line = np.arange(n_lines)[::-1]
    first[owner[line], group[owner, portion][line]] = line
    rank = np.argsort(np.argsort(first, axis=1, kind="stable"), axis=1)
    number = np.take_along_axis(rank, np.maximum(group, 0), axis=1)
    return np.where(group < 0, -1, number)


def _multipliers(
    categories: Categories,
    n_groups: Integers,
    ordinal: NDArray[np.bool_],
    settings: Merging,
) -> Floats:
    """Return the logarithm of each table's multiplier, 0 if nothing was merged."""
    logs = np.zeros(len(n_groups))
    merged = np.flatnonzero(n_groups > 1)
    counts = [categories.n_categories, n_groups, ordinal, categories.missing >= 0]
    lines = np.stack(counts, axis=1)[merged]
    distinct, position = np.unique(lines, axis=0, return_inverse=True)
    log_multipliers = [
        bonferroni(
            n_categories,
            n,
            kind=KINDS[in_order],
            floating=bool(floating),
            exhaustive=settings.method == "exhaustive",
        )
        for n_categories, n, in_order, floating in distinct.tolist()
    ]
    logs[merged] = (
        np.array(log_multipliers)[position.ravel()] if log_multipliers else 0.0
    )
    return logs
