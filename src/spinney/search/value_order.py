"""The order of categories in which good subsets are prefixes."""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import first_best
from spinney.trees import ratio_of

MAX_ENUMERATED = 12  # up to so many values all subsets are tried, and none is ordered


def principal_score(weights: Floats) -> Floats:
    """Return each value's position on the main direction of the class probabilities."""
    totals = weights.sum(axis=1, keepdims=True)
    shares = ratio_of(weights, totals)
    mean = weights.sum(axis=0) / weights.sum()
    centred = (shares - mean) * np.sqrt(totals)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    main = directions[0]
    # The sign is that of the largest component, of equal ones the first.
    main = main * np.sign(main[first_best(np.abs(main))])
    return np.asarray((shares - mean) @ main)
