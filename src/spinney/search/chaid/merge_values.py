"""CHAID's merging: categories that tell the same of the target become one branch.

Kass (1980) merges the two categories that differ least, as long as they do not
differ significantly, and takes merged groups apart again where a split within one
is significant. What remains are the branches of the split; its p-value, multiplied
by the number of ways it could have come out (:mod:`spinney.search.chaid.bonferroni`),
is what attributes compete by. The steps, in SPSS's order:

1. While there are more than two groups, take the pair of groups with the largest p.
   Nominal groups may pair at will, ordinal ones with their neighbours, and missing
   values, as long as they stand alone, with any group.
2. Merge it if p > ``alpha_merge``; otherwise stop.
3. If the new group has three or more categories, find its most significant split
   in two, order respected. Make it if p < ``alpha_split_merged``, unless that brings
   back a grouping that an earlier split has made: merging and splitting then ends.
4. A group that weighs less than ``least`` joins the one that it differs least from.

Two groups are not merged, however alike: their test is the answer. Exhaustive CHAID
(Biggs, de Ville and Suen 1991) merges down to two groups without asking, never
splits, and of all stages takes the one with the smallest p.

Ties. Values of log p within a relative 1e-12 (absolute below 1) are equal. Of equal
pairs the one whose groups begin first is merged: a group begins with its smallest
position, and missing values come last. Of equal splits the one whose side with the
group's first category comes first in lexicographic order is made; of equal stages
the one with the fewest groups is taken; of equally light groups the first joins
another. So nothing depends on the order of rows.

Work. A test is made once for each pair of groups that ever exist side by side. Up to
``MOST`` categories that is done as written. Beyond, categories are put in a line,
nominal ones by their class shares as :mod:`spinney.search.groupings` does, or
by their means; those with equal places and then neighbours are joined into at most
``MOST`` portions of about equal weight, which are merged as an ordinal attribute. The
result says that it is not exact; its multiplier counts all categories.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.checks import check_named
from spinney.errors import Setting, refusal
from spinney.recipes import Recipe, check_alphas
from spinney.search.chaid.bonferroni import bonferroni
from spinney.search.chaid.categories import Portions, portions_of
from spinney.search.chaid.groups import Merger
from spinney.trees import CountTable
from spinney.trees.criteria import Criterion, chi_square_test, f_test, g_test

KINDS = ("nominal", "ordinal")
METHODS = ("chaid", "exhaustive")
STATISTICS = {"pearson": chi_square_test, "likelihood-ratio": g_test}


@dataclass(frozen=True, slots=True)
class Merging:
    """How categories are merged.

    Parameters
    ----------
    method : {"chaid", "exhaustive"}
        Kass's rule, or down to two groups and back to the best stage.
    statistic : {"pearson", "likelihood-ratio"}
        χ² or G. A numeric target always takes F.
    alpha_merge : float
        Pairs with a larger p are merged; 1 merges none. Not read by exhaustive.
    alpha_split_merged : float
        Merged groups are taken apart where p is smaller; 0 never does. It must be
        below ``alpha_merge``: what is taken apart would else be merged again.
    least : float
        Lighter groups join another.
    adjust : bool
        Whether p is multiplied by Bonferroni's multiplier.
    """

    method: str = "chaid"
    statistic: str = "pearson"
    alpha_merge: float = 0.05
    alpha_split_merged: float = 0.049
    least: float = 0.0
    adjust: bool = True

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        check_named("method", self.method, METHODS)
        check_named("statistic", self.statistic, STATISTICS)
        check_alphas(self.alpha_merge, self.alpha_split_merged)
        if not (self.least >= 0 and isfinite(self.least)):
            raise refusal(
                Setting("least", self.least), remedy="give a weight of 0 or more"
            )


def merging_of(recipe: Recipe, criterion: Criterion, least: float) -> Merging | None:
    """Return how a recipe merges values, if it does, into groups of a least weight."""
    if recipe.grouping != "merge":
        return None
    return Merging(
        method="exhaustive" if recipe.exhaustive else "chaid",
        statistic="likelihood-ratio" if criterion.name == "g" else "pearson",
        alpha_merge=recipe.alpha_merge,
        alpha_split_merged=recipe.alpha_resplit,
        least=least,
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """The groups of an attribute's categories, and what their test says.

    Parameters
    ----------
    groups : tuple of tuples of int
        The positions of the values (in ``table.values``) of each group, rising,
        ordered by their first. Missing values alone are an empty group, the last.
    missing : int, optional
        The group that missing values belong to; None where none were counted.
    statistic, degrees, within : float
        χ², G or F of the groups, and its degrees of freedom; ``within`` is 0 for
        the first two.
    log_p : float
        The natural logarithm of p, before the adjustment.
    log_multiplier : float
        The logarithm of Bonferroni's multiplier.
    exact : bool
        Whether categories were merged one by one, and every split was looked at.
    """

    groups: tuple[tuple[int, ...], ...]
    missing: int | None
    statistic: float
    degrees: float
    within: float
    log_p: float
    log_multiplier: float
    exact: bool = True

    @property
    def log_adjusted(self) -> float:
        """Log min(1, multiplier · p): what attributes compete by, lower is better."""
        return min(0.0, self.log_p + self.log_multiplier)

    @property
    def p(self) -> float:
        """The p-value before the adjustment, in [0, 1]."""
        return exp(self.log_p)

    @property
    def adjusted_p(self) -> float:
        """The p-value after the adjustment, in [0, 1]."""
        return exp(self.log_adjusted)

    @property
    def branches(self) -> Integers:
        """The group of each position, for :meth:`CountTable.merged`."""
        places = np.zeros(sum(map(len, self.groups)), dtype=np.int64)
        for branch, group in enumerate(self.groups):
            places[list(group)] = branch
        return places


def merge(
    table: CountTable,
    *,
    kind: str = "nominal",
    floating: bool = True,
    settings: Merging | None = None,
) -> Merged:
    """Merge the categories of one attribute at one node.

    Parameters
    ----------
    table : CountTable
        Weights by value and class, or moments of a numeric target by value.
    kind : {"nominal", "ordinal"}
        Whether any values may merge, or only neighbours in the order of the table.
    floating : bool
        Whether the missing rows are one more category, which may merge with any;
        otherwise they are left out.
    settings : Merging, optional
        Kass's CHAID at 5 % if not given.

    Returns
    -------
    Merged
        With one group, or none, there is nothing to split: p is 1.

    Examples
    --------
    Two of three values are alike. S(3, 2) = 3 ways to make two groups of three.

    >>> merged = merge(CountTable.of([[30, 10], [10, 30], [28, 12]]))
    >>> merged.groups
    ((0, 2), (1,))
    >>> round(merged.statistic, 3), merged.degrees
    (24.502, 1.0)
    >>> round(merged.adjusted_p / merged.p, 9)
    3.0
    """
    check_named("kind", kind, KINDS)
    settings = settings or Merging()
    test = f_test if table.is_moments else STATISTICS[settings.statistic]
    portions = portions_of(table, ordered=kind == "ordinal", floating=floating)
    merger = Merger(portions, test)
    if settings.method == "exhaustive":
        merger.go_through_stages()
    else:
        merger.merge_alike(settings.alpha_merge, settings.alpha_split_merged)
    merger.absorb(settings.least)
    return _merged(portions, merger, kind, settings)


def _merged(portions: Portions, merger: Merger, kind: str, settings: Merging) -> Merged:
    result = merger.test_of_all()
    groups = merger.groups()
    multiplier = 0.0
    if settings.adjust and len(groups) > 1:
        multiplier = bonferroni(
            portions.n_categories,
            len(groups),
            kind=kind,
            floating=portions.missing is not None,
            exhaustive=settings.method == "exhaustive",
        )
    named, missing = _positions(portions, groups)
    return Merged(
        named,
        missing,
        float(result.statistic),
        float(result.degrees),
        0.0 if result.within is None else float(result.within),
        float(result.log_p),
        multiplier,
        exact=portions.exact and merger.exact,
    )


def _positions(
    portions: Portions, groups: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, ...], ...], int | None]:
    """Return groups of portions as groups of positions, and the one of the missing."""
    named = []
    for group in groups:
        known = np.concatenate([portions.positions[place] for place in group])
        together = np.sort(known)
        named.append((tuple(together.tolist()), portions.missing in group))
    named.sort(key=lambda pair: pair[0] or (np.inf,))
    holders = [branch for branch, (_, holds) in enumerate(named) if holds]
    missing = holders[0] if holders and portions.missing is not None else None
    return tuple(group for group, _ in named), missing
