"""The directions of linear combinations, from moments alone.

Loh and Vanichsetakul (1988) split by linear discriminants (FACT); Loh and Shih
(1997, "Split selection methods for classification trees", QUEST) first put several
classes into two superclasses, by two means of the class means. For two groups with
means m₁, m₂ and the common scatter S the direction that separates them best is

    β = S⁻¹ (m₁ − m₂),        separation  J = (m₁ − m₂)ᵀ S⁻¹ (m₁ − m₂),

Fisher's discriminant and Mahalanobis' distance. Where the target is a number, the
direction is that of least squares: the same formulas with S the scatter of the
attributes and their covariance with the target in the place of the difference.

The direction solves linear equations. Unlike CART's search for combinations, it needs
no start, no randomness and no row order. Attributes are standardised, so units have no
effect, and a ridge is added to S for constant or collinear attributes.

Terms are deleted backwards as in CART (Breiman et al. 1984, section 5.2), each time the
term whose deletion reduces J least. With A = S⁻¹ the reduction for term i is βᵢ² / Aᵢᵢ,
so each step needs one solution.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import first_best
from spinney.data import Linear
from spinney.sources import Products

RIDGE = 1e-4
DIGITS = 4
# Sums in another order differ in their last digits. They are rounded to so many digits
# before they are compared or rounded further.
STABLE_DIGITS = 9
# A variance below this share of the mean square is rounding.
CONSTANT = 1e-12
LARGEST = 1e300


def linear_combinations(
    products: Products, indices: tuple[int, ...], *, max_terms: int, numeric: bool
) -> list[Linear]:
    """Return the best combination of each number of terms up to ``max_terms``.

    Parameters
    ----------
    products : Products
        The products of the attributes, and of a ``numeric`` target.
    indices : tuple of int
        The rising indices of the attributes in the schema.
    max_terms : int
        The maximum number of terms.
    numeric : bool
        Whether the target is a number.
    """
    system = discriminant(products, numeric=numeric)
    formulas: list[Linear] = []
    while len(system.terms) >= 2:
        inverse = np.linalg.inv(system.scatter + RIDGE * np.eye(len(system.terms)))
        direction = inverse @ system.contrast
        if len(system.terms) <= max_terms:
            position = tuple(indices[term] for term in system.terms)
            formula = rounded(position, direction, system.spread)
            if formula is not None and formula not in formulas:
                formulas.append(formula)
        losses = _stable(direction**2 / np.diag(inverse))
        # If terms have equal losses, the last is removed.
        system = system.without(int(np.flatnonzero(losses == losses.min())[-1]))
    return sorted(formulas, key=lambda formula: len(formula.attribute_indices))


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The system of equations for the direction of a linear combination.

    ``scatter`` and ``contrast`` are of the standardised attributes, and ``spread`` has
    the divisors of the standardisation.
    """

    terms: Integers
    spread: Floats
    scatter: Floats
    contrast: Floats

    def without(self, removed: int) -> "System":
        """Return the system without one of its terms."""
        kept = np.arange(len(self.terms)) != removed
        return System(
            self.terms[kept],
            self.spread[kept],
            self.scatter[np.ix_(kept, kept)],
            self.contrast[kept],
        )


def discriminant(products: Products, *, numeric: bool) -> System:
    """Return the system of equations of the varying attributes.

    It is empty without rows, or without two groups to separate.
    """
    none = np.zeros(0)
    nothing = System(np.zeros(0, dtype=np.int64), none, np.zeros((0, 0)), none)
    present = products.weights > 0
    weights, means = products.weights[present], products.means[present]
    if len(weights) < (1 if numeric else 2):
        return nothing
    total = weights.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = weights @ means / total
        deviations = means - mean
        spreads = (
            products.spreads[present].sum(axis=0)
            + (weights * deviations.T) @ deviations
        )
    # Numbers whose squares floats cannot add up are not combined.
    if not np.abs(spreads).max(initial=0.0) < LARGEST:
        return nothing
    covariance = spreads / total
    varies = np.diag(covariance) > CONSTANT * (np.diag(covariance) + mean * mean)
    if numeric and not varies[-1]:
        return nothing
    terms = np.flatnonzero(varies[:-1] if numeric else varies)
    spread = np.sqrt(np.diag(covariance)[terms])
    scatter = covariance[np.ix_(terms, terms)] / np.outer(spread, spread)
    if numeric:
        return System(terms, spread, scatter, covariance[terms, -1] / spread)
    means = deviations[:, terms] / spread
    sides = superclasses(means, weights)
    if sides is None:
        return nothing
    first, second = (
        weights[side] @ means[side] / weights[side].sum() for side in (sides, ~sides)
    )
    contrast = first - second
    shares = weights[sides].sum() * weights[~sides].sum() / total**2
    within = scatter - shares * np.outer(contrast, contrast)
    return System(terms, spread, within, contrast)


def superclasses(means: Floats, weights: Floats) -> NDArray[np.bool_] | None:
    """Return which classes are in the first of two superclasses; None if all agree.

    The class means are clustered by 2-means, which begins at the two that are farthest
    apart. A class as near to both is in the first.

    >>> means = np.array([[0.0], [1.0], [9.0], [8.0]])
    >>> superclasses(means, np.ones(4)).tolist()
    [True, True, False, False]
    """
    means = np.round(means, STABLE_DIGITS)
    deviations = ((means[:, None] - means[None, :]) ** 2).sum(axis=-1)
    if not deviations.any():
        return None
    first, second = np.unravel_index(first_best(deviations.ravel()), deviations.shape)
    centres = means[[first, second]]
    sides = np.zeros(len(means), dtype=bool)
    for _ in range(len(means) + 1):
        near = _stable(((means[:, None] - centres[None, :]) ** 2).sum(axis=-1))
        new = near[:, 0] <= near[:, 1]
        if np.array_equal(new, sides) or new.all() or not new.any():
            break
        sides = new
        centres = np.stack(
            [weights[s] @ means[s] / weights[s].sum() for s in (sides, ~sides)]
        )
    return sides


def rounded(
    indices: tuple[int, ...], direction: Floats, spread: Floats
) -> Linear | None:
    """Return a direction as a formula in the attributes' own units.

    The term of the largest standardised weight has the coefficient 1 or −1, and the
    first term is positive; the others have four digits. Terms of negligible weight are
    dropped; None if fewer than two are left.

    >>> rounded((2, 5), np.array([-2.0, 1.0]), np.array([4.0, 3.0])).coefficients
    (1.0, -0.6667)
    """
    largest = np.abs(direction).max(initial=0.0)
    if not largest > 0:
        return None
    weight = _stable(np.abs(direction) / largest)
    used = np.flatnonzero(weight > 10.0**-DIGITS)
    if len(used) < 2:
        return None
    scaled = direction / spread
    scaled = scaled / abs(scaled[int(np.argmax(weight))])
    scaled = scaled if scaled[used[0]] > 0 else -scaled
    coefficients = tuple(_digits(float(scaled[term]), DIGITS) for term in used)
    if not all(np.isfinite(coefficients)) or 0 in coefficients:
        return None
    return Linear(tuple(indices[term] for term in used), coefficients)


def _digits(number: float, digits: int) -> float:
    return float(f"{float(f'{number:.{STABLE_DIGITS}g}'):.{digits}g}")


def _stable(numbers: Floats) -> Floats:
    """Return numbers rounded so that the order of a sum does not show."""
    largest = np.abs(numbers).max(initial=0.0)
    if not 0 < largest < np.inf:
        return numbers
    unit = 10.0 ** (np.floor(np.log10(largest)) - STABLE_DIGITS + 1)
    return np.asarray(np.rint(numbers / unit) * unit)
