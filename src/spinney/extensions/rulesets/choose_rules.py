"""The subset of the rules of a class with the smallest description length.

Up to ten rules every subset is tried. For more rules, hill climbing adds or drops the
rule that saves the most bits, until no rule saves any. It starts from the fractions 0,
¼, ½, ¾ and 1 of the rules, sorted by estimated error; the cheapest result wins, the
first if several are equal. C4.5 starts eleven times at random; here nothing is random.

Rows that match the same rules of the class are counted together.
"""

from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import first_best
from spinney.extensions.rulesets.description_length import exception_bits, total_bits
from spinney.extensions.rulesets.paths import Bools

MAX_RULES_EXHAUSTIVE = 10
STARTS = (0.0, 0.25, 0.5, 0.75, 1.0)

# In bits: more than the rounding of log-factorials, so that a climb must end.
LEAST_SAVING = 1e-6


@dataclass(frozen=True, slots=True)
class ClassRules:
    """The rules of one class, over groups of rows that match the same rules.

    ``matches`` has a line for each group and a column for each rule; ``right`` and
    ``wrong`` are the weights of a group's rows in the class, and in other classes.
    """

    matches: Bools
    right: Floats
    wrong: Floats
    bits: Floats

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.right.sum() + self.wrong.sum())


def choose_rules(
    matches: Bools, weights: Floats, *, in_class: Bools, bits: Floats, estimates: Floats
) -> Bools:
    """Return which rules of a class to keep.

    Parameters
    ----------
    matches : array of shape (rules, rows)
        Which rows satisfy each rule.
    weights : array
        The weight of each row.
    in_class : array of bool
        Which rows are of the class.
    bits : array
        The description length of each rule.
    estimates : array
        The pessimistic error of each rule, for the starts.
    """
    rules = _group_rows(matches, weights, in_class, bits)
    if len(bits) <= MAX_RULES_EXHAUSTIVE:
        return _best_subset(rules)
    order = np.argsort(estimates, kind="stable")
    ends = []
    for fraction in STARTS:
        start = np.zeros(len(bits), dtype=np.bool_)
        start[order[: round(fraction * len(bits))]] = True
        ends.append(_hill_climb(rules, start))
    return ends[first_best(-np.array([subset_bits(rules, end) for end in ends]))]


def _group_rows(
    matches: Bools, weights: Floats, in_class: Bools, bits: Floats
) -> ClassRules:
    packed = np.packbits(matches, axis=0).T
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    size = len(first)
    right = np.bincount(group, np.where(in_class, weights, 0.0), minlength=size)
    wrong = np.bincount(group, np.where(in_class, 0.0, weights), minlength=size)
    return ClassRules(matches.T[first], right.astype(float), wrong.astype(float), bits)


def subset_bits(rules: ClassRules, subset: Bools) -> float:
    """Return the bits of a subset of rules and its exceptions."""
    covered = rules.matches[:, subset].any(axis=1)
    right, wrong = rules.right[covered].sum(), rules.wrong[covered].sum()
    missed = rules.right[~covered].sum()
    exceptions = exception_bits(right + wrong, wrong, missed, total=rules.total)
    return float(total_bits(rules.bits[subset].sum(), subset.sum(), exceptions))


def _best_subset(rules: ClassRules) -> Bools:
    """Return the cheapest of all subsets; ties go to the smallest, then the first."""
    n_rules = len(rules.bits)
    numbers = np.arange(2**n_rules)
    subsets = (numbers[:, None] >> np.arange(n_rules)) & 1
    subsets = subsets[np.argsort(subsets.sum(axis=1), kind="stable")]
    covered = (subsets @ rules.matches.T.astype(np.int64)) > 0
    right, wrong = covered @ rules.right, covered @ rules.wrong
    missed = (~covered) @ rules.right
    exceptions = exception_bits(right + wrong, wrong, missed, total=rules.total)
    costs = total_bits(subsets @ rules.bits, subsets.sum(axis=1), exceptions)
    return np.asarray(subsets[first_best(-costs)], dtype=np.bool_)


def _hill_climb(rules: ClassRules, start: Bools) -> Bools:
    """Return the subset after adding or dropping single rules while bits are saved."""
    inside = start.copy()
    cover: Integers = rules.matches[:, inside].sum(axis=1)
    both = np.stack([rules.right, rules.wrong], axis=1)
    present = both.sum(axis=0)
    changes = _coverage_change(rules.matches, both, cover)
    while True:
        covered = both[cover > 0].sum(axis=0)
        after = covered + np.where(inside[:, None], -changes[1], changes[0])
        bits = rules.bits[inside].sum()
        # The last line is the subset as it is.
        theory = np.append(bits + np.where(inside, -rules.bits, rules.bits), bits)
        n_rules = inside.sum() + np.append(np.where(inside, -1, 1), 0)
        right, wrong = np.append(after, [covered], axis=0).T
        exceptions = exception_bits(
            right + wrong, wrong, present[0] - right, total=rules.total
        )
        *costs, now = total_bits(theory, n_rules, exceptions)
        best = first_best(-np.array(costs))
        if costs[best] > now - LEAST_SAVING:
            return inside
        inside[best] = not inside[best]
        groups = np.flatnonzero(rules.matches[:, best])
        old = cover[groups]
        cover[groups] += 1 if inside[best] else -1
        # Only groups that come to be, or were, covered at most once matter.
        changed = np.minimum(old, cover[groups]) <= 1
        groups, old = groups[changed], old[changed]
        lines, weights = rules.matches[groups], both[groups]
        changes += _coverage_change(lines, weights, cover[groups]) - _coverage_change(
            lines, weights, old
        )


def _coverage_change(matches: Bools, weights: Floats, cover: Integers) -> Floats:
    """Return the right and wrong weights gained or lost by changing each rule.

    The first line is for groups that no rule covers: an added rule gains them. The
    second line is for groups that one rule covers: dropping that rule loses them.
    """
    sums = np.empty((2, matches.shape[1], 2))
    for times in (0, 1):
        is_covered = cover == times
        sums[times] = matches[is_covered].T.astype(np.float64) @ weights[is_covered]
    return sums
