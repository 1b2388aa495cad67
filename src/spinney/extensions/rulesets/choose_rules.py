"""For each class the rules that send its rows in the fewest bits.

Up to ten rules every subset is tried. Beyond, a subset is improved by adding or
dropping the one rule that saves the most bits, until none saves any; from five
starts, the rules of least estimate in the shares 0, ¼, ½, ¾ and 1, of which the
cheapest end wins (the first of equal ones). C4.5 starts eleven times at random; here
nothing is random.

Rows that match the same rules of the class are alike, and so are counted together.
"""

from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import first_best
from spinney.extensions.rulesets.description_length import exception_bits, total_bits
from spinney.extensions.rulesets.paths import Bools

MOST_FOR_ALL_SUBSETS = 10
STARTS = (0.0, 0.25, 0.5, 0.75, 1.0)

# In bits: more than the rounding of log-factorials, so that a climb must end.
LEAST_SAVING = 1e-6


@dataclass(frozen=True, slots=True)
class RulesOfClass:
    """The rules of one class over groups of rows that match the same of them.

    ``matches`` has a line for each group and a column for each rule; ``right`` and
    ``wrong`` are the weights of the rows in a group that are of the class, and not.
    """

    matches: Bools
    right: Floats
    wrong: Floats
    bits: Floats

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.right.sum() + self.wrong.sum())


def chosen_rules(
    matches: Bools, weights: Floats, *, of_class: Bools, bits: Floats, estimates: Floats
) -> Bools:
    """Return which rules of a class to keep.

    Parameters
    ----------
    matches : array of shape (rules, rows)
        Which rows satisfy each rule.
    weights : array
        The weight of each row.
    of_class : array of bool
        Which rows are of the class.
    bits : array
        What each rule costs.
    estimates : array
        The pessimistic error of each rule, which says where to start.
    """
    task = _task(matches, weights, of_class, bits)
    if len(bits) <= MOST_FOR_ALL_SUBSETS:
        return _best_of_all(task)
    order = np.argsort(estimates, kind="stable")
    ends = []
    for share in STARTS:
        start = np.zeros(len(bits), dtype=np.bool_)
        start[order[: round(share * len(bits))]] = True
        ends.append(_climbed(task, start))
    return ends[first_best(-np.array([subset_bits(task, end) for end in ends]))]


def _task(
    matches: Bools, weights: Floats, of_class: Bools, bits: Floats
) -> RulesOfClass:
    packed = np.packbits(matches, axis=0).T
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    size = len(first)
    right = np.bincount(group, np.where(of_class, weights, 0.0), minlength=size)
    wrong = np.bincount(group, np.where(of_class, 0.0, weights), minlength=size)
    return RulesOfClass(
        matches.T[first], right.astype(float), wrong.astype(float), bits
    )


def subset_bits(task: RulesOfClass, subset: Bools) -> float:
    """Return the bits of a subset of rules and its exceptions."""
    covered = task.matches[:, subset].any(axis=1)
    right, wrong = task.right[covered].sum(), task.wrong[covered].sum()
    missed = task.right[~covered].sum()
    exceptions = exception_bits(right + wrong, wrong, missed, total=task.total)
    return float(total_bits(task.bits[subset].sum(), subset.sum(), exceptions))


def _best_of_all(task: RulesOfClass) -> Bools:
    """Return the cheapest of all subsets; of equal ones the smallest, then first."""
    n_rules = len(task.bits)
    numbers = np.arange(2**n_rules)
    subsets = (numbers[:, None] >> np.arange(n_rules)) & 1
    subsets = subsets[np.argsort(subsets.sum(axis=1), kind="stable")]
    covered = (subsets @ task.matches.T.astype(np.int64)) > 0
    right, wrong = covered @ task.right, covered @ task.wrong
    missed = (~covered) @ task.right
    exceptions = exception_bits(right + wrong, wrong, missed, total=task.total)
    costs = total_bits(subsets @ task.bits, subsets.sum(axis=1), exceptions)
    return np.asarray(subsets[first_best(-costs)], dtype=np.bool_)


def _climbed(task: RulesOfClass, start: Bools) -> Bools:
    """Add or drop one rule at a time while that saves bits."""
    inside = start.copy()
    cover: Integers = task.matches[:, inside].sum(axis=1)
    both = np.stack([task.right, task.wrong], axis=1)
    present = both.sum(axis=0)
    reach = _reach(task.matches, both, cover)
    while True:
        covered = both[cover > 0].sum(axis=0)
        after = covered + np.where(inside[:, None], -reach[1], reach[0])
        bits = task.bits[inside].sum()
        # The last line is the subset as it is.
        theory = np.append(bits + np.where(inside, -task.bits, task.bits), bits)
        n_rules = inside.sum() + np.append(np.where(inside, -1, 1), 0)
        right, wrong = np.append(after, [covered], axis=0).T
        exceptions = exception_bits(
            right + wrong, wrong, present[0] - right, total=task.total
        )
        *costs, now = total_bits(theory, n_rules, exceptions)
        best = first_best(-np.array(costs))
        if costs[best] > now - LEAST_SAVING:
            return inside
        inside[best] = not inside[best]
        groups = np.flatnonzero(task.matches[:, best])
        old = cover[groups]
        cover[groups] += 1 if inside[best] else -1
        # Only groups that come to be, or were, covered at most once matter.
        changed = np.minimum(old, cover[groups]) <= 1
        groups, old = groups[changed], old[changed]
        lines, weights = task.matches[groups], both[groups]
        reach += _reach(lines, weights, cover[groups]) - _reach(lines, weights, old)


def _reach(matches: Bools, weights: Floats, cover: Integers) -> Floats:
    """Return what each rule takes, right and wrong, of groups covered 0 times, once.

    The first is what a rule would add that is not in; the second, what would be
    lost with one that is in: it alone covers those groups.
    """
    sums = np.empty((2, matches.shape[1], 2))
    for times in (0, 1):
        here = cover == times
        sums[times] = matches[here].T.astype(np.float64) @ weights[here]
    return sums
