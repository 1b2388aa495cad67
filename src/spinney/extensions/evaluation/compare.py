"""The corrected resampled t-test of two recipes.

The training sets of a cross-validation overlap, so the differences on its folds are not
independent, and the plain t-test finds too many. Nadeau and Bengio (Inference for the
generalization error, Machine Learning 52, 2003) replace the factor 1/J of the variance
by 1/J + n_test/n_train; Bouckaert and Frank (PAKDD 2004) recommend it for repeated
cross-validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two recipes on the same folds: the first minus the second.

    If every fold differs by the same amount, there is no variance: ``t`` is infinite
    and ``p`` NaN. If none differs, ``t`` is NaN and ``p`` 1. ``conditions`` are the
    training size or the perturbation, if any.
    """

    first: str
    second: str
    measure: str
    difference: float
    t: float
    degrees: int
    p: float
    conditions: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; infinite or undefined numbers are None."""
        return {
            "first": self.first,
            "second": self.second,
            **self.conditions,
            "measure": self.measure,
            "difference": self.difference,
            "t": self.t if np.isfinite(self.t) else None,
            "degrees": self.degrees,
            "p": self.p if np.isfinite(self.p) else None,
        }


def corrected_t_test(
    differences: Sequence[float], *, n_train: float, n_test: float
) -> tuple[float, int, float]:
    """Return t, its degrees of freedom and the two-sided p of differences on folds.

    Differences that are equal up to a relative 1e-12 have no variance. If they are 0, t
    is NaN and p is 1; otherwise t is infinite and p NaN, because equal folds do not
    measure chance.

    Parameters
    ----------
    differences : sequence of float
        One difference per fold, at least two.
    n_train, n_test : float
        The number of training rows, and of test rows.

    Examples
    --------
    With the plain factor 1/4 this would be t = 3.0 and p = 0.058:

    >>> t, degrees, p = corrected_t_test([0, 2, 2, 2], n_train=3, n_test=1)
    >>> round(t, 3), degrees, round(p, 3)
    (1.964, 3, 0.144)
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        msg = f"a test needs the differences of two folds or more, not {len(values)}"
        raise ParameterError(msg)
    degrees = len(values) - 1
    mean = float(values.mean())
    # Equal differences have no variance, whatever the rounding of each and of their
    # mean; one so small that its square is none is too small to divide by.
    equal = np.ptp(values) <= TOLERANCE * np.abs(values).max()
    variance = 0.0 if equal else float(values.var(ddof=1))
    if variance == 0:
        if not values.any():
            return nan, degrees, 1.0
        return float(np.copysign(np.inf, mean)), degrees, nan
    from scipy.stats import t as students_t

    t = mean / float(np.sqrt((1 / len(values) + n_test / n_train) * variance))
    return t, degrees, float(2 * students_t.sf(abs(t), degrees))
