"""Trees that Spark counts, beside those of memory."""

import numpy as np
import pytest
from tests.extensions.databases.test_bins import rows_of
from tests.helpers.spark_session import in_spark, spark_session

import spinney
from spinney.extensions.clustering.models import cluster_table
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import open_data
from spinney.testing import assert_same_tree, check_source

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session():
    with spark_session() as running:
        yield running


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid", "m5"])
def test_trees_are_those_of_memory(session, recipe):
    # The seventh table has missing cells and weights; nothing is left behind.
    check_source(in_spark(session), recipes=[recipe], n_tables=1, n_rows=20, seed=7)


def test_forests_have_the_bags_of_memory(session):
    columns = rows_of(1, missing=0.1, n_rows=40)
    options = {"n_estimators": 1, "shrinkage": 0.0, "max_depth": 2, "random_state": 3}
    expected = spinney.grow_forest(columns, "y", bootstrap="hash", **options)
    with in_spark(session)(columns) as (data, how):
        grown = spinney.grow_forest(data, "y", **options, **how)
    assert_same_tree(expected.trees[0].tree, grown.trees[0].tree, whole=False)


def test_clusters_are_those_of_memory_from_the_same_start(session, monkeypatch):
    random = np.random.default_rng(0)
    columns = {"x": (random.normal(size=60) + 5 * (np.arange(60) % 2)).tolist()}
    columns["z"] = random.normal(size=60).tolist()
    monkeypatch.setattr(cluster_table, "MAX_SAMPLED", 20)
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 40 * CELL_BYTES * 5)
    with in_spark(session)(columns) as (data, how):
        clusters = spinney.find_clusters(data, 2, **how).clusters_
    cells = np.column_stack(list(columns.values()))
    expected = spinney.KMeans(2, init=clusters.start).fit(cells)
    assert clusters.centroids == pytest.approx(expected.cluster_centers_, rel=1e-9)
