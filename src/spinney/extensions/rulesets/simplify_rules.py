"""The simplification of one rule: tests are dropped unless the pessimistic error rises.

Dropping test t adds the rows that fail only t. So one pass over the rows evaluates
every test. A row's *misses* are the number of tests that it fails, times a large STEP,
plus the sum of the indices of these tests::

    misses   0   STEP + 2   2 STEP + 4   STEP + 1

Here row 0 satisfies the rule; row 1 would satisfy it without test 2, row 3 without test
1. Dropping a test subtracts STEP and its index from the sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE, last_best
from spinney.extensions.rulesets.paths import Bools
from spinney.growth.prune import upper_errors

# A rule that is estimated to be wrong more often never fires in C4.5's Release 8.
WORST_ESTIMATE = 0.7


@dataclass(frozen=True, slots=True)
class SimplifiedRule:
    """The indices of the remaining tests, and the rule's pessimistic error."""

    tests: tuple[int, ...]
    estimate: float
    coverage: float


def default_error(weight: float, total: float) -> float:
    """Return the error of predicting a class of this weight for all rows.

    The error is Laplace's estimate, 1 − (weight + 1) / (total + 2), as in c4.5rules; a
    rule with at least this error is dropped.
    """
    return 1.0 - (weight + 1.0) / (total + 2.0)


def simplify_rule(
    satisfied: Sequence[Bools] | NDArray[np.bool_],
    weights: Floats,
    *,
    wrong: Bools,
    confidence: float,
    without_rows: float,
) -> SimplifiedRule:
    """Return a rule whose tests have been dropped greedily.

    The test whose removal gives the least estimate is dropped, on ties the last (the
    deepest in the tree), as long as the estimate does not rise.

    Parameters
    ----------
    satisfied : array of shape (tests, rows)
        Which rows satisfy each test.
    weights : array
        The weight of each row.
    wrong : array of bool
        Which rows are of another class than the rule's.
    confidence : float
        The confidence of the pessimistic error.
    without_rows : float
        The estimate of a rule that no row satisfies.
    """
    n_tests = len(satisfied)
    fails = ~np.asarray(satisfied, dtype=np.bool_).reshape(n_tests, len(weights))
    remaining = np.arange(1, n_tests + 1)
    step = n_tests * (n_tests + 1)  # more than all numbers together
    misses = ((step + remaining).astype(np.float64) @ fails).astype(np.int64)
    wrong_weights = np.where(wrong, weights, 0.0)
    while True:
        near = np.flatnonzero(misses < 2 * step) if n_tests else np.arange(len(misses))
        key = np.maximum(misses[near] - step, 0)
        coverage = np.bincount(key, weights[near], minlength=n_tests + 1)
        errors = np.bincount(key, wrong_weights[near], minlength=n_tests + 1)
        covered = coverage[0]
        # Index 0 is the unchanged rule, index t the rule without test t.
        variants = np.append(0, remaining)
        coverage[remaining] += coverage[0]
        errors[remaining] += errors[0]
        estimates = np.where(
            coverage[variants] > 0,
            upper_errors(errors[variants], coverage[variants], confidence),
            without_rows,
        )
        if not len(remaining):
            break
        best = int(last_best(-estimates[1:]))
        if estimates[1 + best] > estimates[0] + TOLERANCE:
            break
        dropped = remaining[best]
        remaining = np.delete(remaining, best)
        misses[fails[dropped - 1]] -= step + dropped
    tests = tuple(int(number) - 1 for number in remaining)
    return SimplifiedRule(tests, float(estimates[0]), float(covered))
