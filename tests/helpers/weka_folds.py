"""The folds that Weka 3.6 makes: Java's random numbers, a shuffle, strata.

``Random`` is the linear congruential generator that Java documents for
``java.util.Random``; the rest follows what Weka's ``Instances`` documents of
``randomize``, ``stratify`` and ``testCV``.
"""

from collections.abc import Sequence

MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class Random:
    def __init__(self, seed: int) -> None:
        self.state = (seed ^ MULTIPLIER) & MASK

    def below(self, bound: int) -> int:
        """Return a number from 0 to bound − 1, as ``nextInt(bound)``."""
        while True:
            self.state = (self.state * MULTIPLIER + INCREMENT) & MASK
            bits = self.state >> 17
            if bound & (bound - 1) == 0:
                return (bound * bits) >> 31
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:
                return value


def weka_folds(classes: Sequence[object], n_folds: int, seed: int) -> list[list[int]]:
    """Return the numbers of the rows that each fold tests."""
    rows, random = list(range(len(classes))), Random(seed)
    for place in range(len(rows) - 1, 0, -1):
        other = random.below(place + 1)
        rows[place], rows[other] = rows[other], rows[place]
    # Rows of one class come to stand together, in the order of first appearance.
    index = 1
    while index < len(rows):
        first = classes[rows[index - 1]]
        for other in range(index, len(rows)):
            if classes[rows[other]] == first:
                rows[index], rows[other] = rows[other], rows[index]
                index += 1
        index += 1
    dealt = [row for start in range(n_folds) for row in rows[start::n_folds]]
    each, more = divmod(len(rows), n_folds)
    ends = [0]
    for fold in range(n_folds):
        ends.append(ends[-1] + each + (fold < more))
    return [dealt[ends[fold] : ends[fold + 1]] for fold in range(n_folds)]
