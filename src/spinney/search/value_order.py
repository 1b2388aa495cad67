"""The order of categories in which good subsets are prefixes: by class shares."""

import numpy as np

from spinney._support.arrays import Floats

ENUMERATED = 12  # up to so many values all subsets are tried, and none is ordered


def class_share(weights: Floats) -> Floats:
    """Return the share of the last class at each value."""
    totals = weights.sum(axis=1)
    shares: Floats = np.divide(
        weights[:, -1], totals, out=np.zeros_like(totals), where=totals > 0
    )
    return shares


def principal_score(weights: Floats) -> Floats:
    """Return where each value stands along the main direction of the class shares."""
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    mean = weights.sum(axis=0) / weights.sum()
    centred = (shares - mean) * np.sqrt(totals)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    main = directions[0]
    main = main * np.sign(main[np.argmax(np.abs(main))])
    return np.asarray((shares - mean) @ main)
