"""The order of categories in which good subsets are prefixes: by class shares."""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import first_best
from spinney.trees import ratio_of

ENUMERATED = 12  # up to so many values all subsets are tried, and none is ordered


def principal_score(weights: Floats) -> Floats:
    """Return where each value stands along the main direction of the class shares."""
    totals = weights.sum(axis=1, keepdims=True)
    shares = ratio_of(weights, totals)
    mean = weights.sum(axis=0) / weights.sum()
    centred = (shares - mean) * np.sqrt(totals)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    main = directions[0]
    # Of components that are equally large the first has the sign that counts.
    main = main * np.sign(main[first_best(np.abs(main))])
    return np.asarray((shares - mean) @ main)
