"""Buckets against scikit-learn's and Weka's, where the definitions agree."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.preprocessing import KBinsDiscretizer

import spinney

CUTS = Path(__file__).parent / "fixtures" / "discretize" / "cuts.json"


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_entropy_mdl_is_that_of_weka(name):
    table = getattr(datasets, f"load_{name}")()
    wanted = json.loads(CUTS.read_text(encoding="utf-8"))[name]
    assert len(wanted) == table.data.shape[1]
    for column, cuts in zip(table.data.T, wanted, strict=True):
        ours = spinney.discretise(column, "entropy-mdl", classes=table.target).cuts
        assert ours.tolist() == pytest.approx(cuts, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [2, 5, 9])
def test_equal_width_is_uniform(seed, n):
    # Random numbers are at no edge, where scikit-learn goes right and we go left.
    values = np.random.default_rng(seed).exponential(size=40)
    theirs = KBinsDiscretizer(n, encode="ordinal", strategy="uniform")
    codes = theirs.fit_transform(values[:, None])[:, 0]
    # Theirs may be empty; ours are counted without those.
    _, ranks = np.unique(codes, return_inverse=True)
    ours = spinney.discretise(values, "equal-width", n_buckets=n)
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
    codes = spinney.discretise(values, "k-means", n_buckets=n, weights=weights).codes(
        values
    )
    left = 0.0
    for code in range(n):
        inside, weight = values[codes == code], weights[codes == code]
        mean = np.average(inside, weights=weight)
        left += float((weight * (inside - mean) ** 2).sum())
    assert left <= theirs.inertia_ * (1 + 1e-9)
