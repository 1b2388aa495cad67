"""CHAID's merging of the categories of one attribute at one node, and its test."""

from dataclasses import dataclass
from math import exp

import numpy as np

from spinney._support.checks import check_named
from spinney.search.chaid.merge_values import KINDS, STATISTICS, Merging, merge_batch
from spinney.trees import CountTable, TableBatch
from spinney.trees.criteria import f_test


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
    stack = TableBatch.of([{0: table}])
    found = merge_batch(
        stack,
        ordinal=np.array([kind == "ordinal"]),
        floating=floating,
        settings=settings,
    )
    n_groups, missing = int(found.n_groups[0]), int(found.missing[0])
    weights = stack.by_branch(found.branch, n_groups)[0][0]
    if missing >= 0:
        weights[missing] += table.missing
    result = test(weights)
    groups = [np.flatnonzero(found.branch == group) for group in range(n_groups)]
    if missing < 0 and not len(table.values):
        groups = []
    return Merged(
        tuple(tuple(group.tolist()) for group in groups),
        None if missing < 0 else missing,
        float(result.statistic),
        float(result.degrees),
        0.0 if result.within is None else float(result.within),
        float(result.log_p),
        float(found.log_multiplier[0]),
        exact=bool(found.exact[0]),
    )
