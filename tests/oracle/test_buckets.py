"""Buckets against scikit-learn's, where the definitions agree."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.preprocessing import KBinsDiscretizer

import spinney


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_width_is_uniform(seed, n):
    # Random numbers are at no edge, where scikit-learn goes right and we go left.
    values = np.random.default_rng(seed).exponential(size=40)
    theirs = KBinsDiscretizer(n, encode="ordinal", strategy="uniform")
    codes = theirs.fit_transform(values[:, None])[:, 0]
    # Theirs may be empty; ours are counted without those.
    _, ranks = np.unique(codes, return_inverse=True)
    ours = spinney.discretise(values, "equal-width", n=n)
    assert ours.codes(values).tolist() == ranks.tolist()
    edges = theirs.bin_edges_[0][1:-1]
    assert all(np.isclose(edges, cut, rtol=1e-9).any() for cut in ours.cuts)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [2, 4, 8])
def test_k_means_never_leaves_more_than_lloyd(seed, n):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=60) * np.where(np.arange(60) % 7, 1, 30)
    weights = generator.integers(1, 6, 60).astype(float)
    theirs = KMeans(n, n_init=5, random_state=seed)
    theirs.fit(values[:, None], sample_weight=weights)
    codes = spinney.discretise(values, "k-means", n=n, weights=weights).codes(values)
    left = 0.0
    for code in range(n):
        inside, weight = values[codes == code], weights[codes == code]
        mean = np.average(inside, weights=weight)
        left += float((weight * (inside - mean) ** 2).sum())
    assert left <= theirs.inertia_ * (1 + 1e-9)
