"""The description length of rules: the bits that encode the classes of all rows.

Sender and receiver know the rows without their classes. Rules for one class are sent
first, then the exceptions: which covered rows are of another class, and which other
rows are of this class (Quinlan 1993, chapter 5). The cost of a test is as in Release 8
of C4.5: which attribute, then which value or cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney._support.arrays import Floats
from spinney.data import Attribute, Schema
from spinney.extensions.rulesets.paths import n_tests_in
from spinney.output.leaf_rules import Condition
from spinney.trees.criteria import entropy

# Rules overlap and attributes repeat each other, so a theory can be sent in fewer
# bits than are counted here: its cost is multiplied by this.
THEORY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class RuleCoding:
    """The bits of a test: for the name of the attribute, and for the value or cut."""

    attribute_bits: float
    answer_bits: dict[str, float]

    def test_bits(self, condition: Condition) -> float:
        """Return the bits of a condition; an interval is two tests."""
        attribute = condition.attribute
        answer = self.answer_bits[attribute.name]
        if condition.values is not None and len(condition.values) > 1:
            answer = float(
                len(attribute.values)
            )  # one bit per value: in the set, or not
        return n_tests_in(condition) * (self.attribute_bits + answer)

    def rule_bits(self, conditions: Sequence[Condition]) -> float:
        """Return the bits of a rule: number of tests and tests, minus their order.

        The order of k tests has no meaning, so log2 k! bits are saved.
        """
        n_tests = sum(map(n_tests_in, conditions))
        if not n_tests:
            return 0.0
        bits = sum(map(self.test_bits, conditions))
        return float(bits + log2(n_tests) - log2_factorial(n_tests))


def rule_coding(
    schema: Schema, columns: Sequence[NDArray[Any]], weights: Floats
) -> RuleCoding:
    """Return the costs of tests on these rows.

    A value of a nominal attribute costs the entropy of its values. A cut between v
    different values costs 1 + ½ log2 v bits: the side, and a cut about as precise as
    the rows allow. The name of an attribute costs the entropy of the distribution of
    these costs.
    """
    answers = {
        attribute.name: _value_bits(attribute, cells, weights)
        for attribute, cells in zip(schema.attributes, columns, strict=True)
    }
    shares = np.array([bits for bits in answers.values() if bits > 0])
    return RuleCoding(float(entropy(shares)), answers)


def _value_bits(attribute: Attribute, cells: NDArray[Any], weights: Floats) -> float:
    if attribute.kind == "nominal":
        present = cells >= 0
        tally = np.bincount(cells[present], weights[present])
        # Missing rows count in the total, and send nothing.
        fraction = tally[tally > 0] / weights.sum()
        return float(-(fraction * np.log2(fraction)).sum()) if len(fraction) else 0.0
    numbers = np.asarray(cells)
    missing = np.isnan(numbers) if numbers.dtype.kind == "f" else numbers < 0
    n_values = len(np.unique(numbers[~missing]))
    return 1.0 + log2(n_values) / 2 if n_values > 1 else 0.0


def log2_factorial(number: ArrayLike) -> Any:
    """Return log2 of n!, by the gamma function also for fractional n.

    >>> round(float(log2_factorial(4)), 6) == round(log2(24), 6)
    True
    """
    from scipy.special import gammaln

    return gammaln(np.asarray(number, dtype=np.float64) + 1.0) / np.log(2.0)


def exception_bits(
    covered: ArrayLike,
    false_positives: ArrayLike,
    false_negatives: ArrayLike,
    *,
    total: float,
) -> Floats:
    """Return log2 C(covered, fp) + log2 C(total − covered, fn).

    These bits state which covered rows are of other classes (fp), and which others are
    of the class (fn).

    >>> round(float(exception_bits(4, 1, 2, total=8)), 3)  # log2 4 + log2 6
    4.585
    """
    inside = np.asarray(covered, dtype=np.float64)
    return np.asarray(
        _log2_choices(inside, np.asarray(false_positives, dtype=np.float64))
        + _log2_choices(total - inside, np.asarray(false_negatives, dtype=np.float64))
    )


def _log2_choices(n: Floats, k: Floats) -> Any:
    # Sums of fractional weights may cross by a rounding error.
    n, k, rest = (np.maximum(number, 0.0) for number in (n, k, n - k))
    return log2_factorial(n) - log2_factorial(k) - log2_factorial(rest)


def total_bits(theory: ArrayLike, n_rules: ArrayLike, exceptions: ArrayLike) -> Floats:
    """Return the cost of rules and their exceptions together.

    ``theory`` is the sum of the bits of ``n_rules`` rules; their order costs nothing.
    """
    rules = np.asarray(theory, dtype=np.float64) - log2_factorial(n_rules)
    return np.asarray(THEORY_WEIGHT * rules + np.asarray(exceptions))
