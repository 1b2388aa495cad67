"""The picture of clusters: what is in it, and what it says is not."""

import datetime

import pytest

from spinney.data.readers import read_table
from spinney.extensions.clustering.cluster_svg import to_cluster_svg
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    cluster_input,
    fit_clusters,
)


def picture_of(table, **settings):
    plan = Plan(**settings)
    found = fit_clusters(cluster_input(read_table(table), plan), plan)
    return to_cluster_svg(found.clusters)


def test_centres_in_the_words_of_their_columns():
    days = [datetime.date(2026, 11, day) for day in (1, 3, 21, 23)]
    text = picture_of({"day": days, "size": [1.0, 2.0, 8.0, 9.5]}, n_clusters=2)
    assert ">2026-11-02<" in text
    assert ">2026-11-22<" in text
    assert ">1.5<" in text
    assert ">8.75<" in text
    assert "more" not in text


def test_a_centre_without_a_value_is_a_dash():
    table = {
        "size": [1.0, 1.5, 8.0, 8.5],
        "wide": [None] * 4,
        "hue": ["blue", "blue", "red", "red"],
    }
    text = picture_of(table, n_clusters=2, method="k-prototypes")
    assert text.count(">–</text>") == 2
    assert text.count(">red</text>") == 1


@pytest.mark.parametrize("n, said", [(12, None), (13, "1 more clusters")])
def test_clusters_that_have_no_room_are_counted(n, said):
    numbers = [float(at) for at in range(n)]
    text = picture_of({"a": numbers, "b": [0.0] * n}, n_clusters=n)
    assert ("more clusters" in text) == (said is not None)
    assert said is None or said in text


@pytest.mark.parametrize("n, said", [(40, None), (43, "3 more columns")])
def test_columns_that_have_no_room_are_counted(n, said):
    table = {f"c{at}": [0.0, 1.0, 9.0, 9.5] for at in range(n)}
    text = picture_of(table, n_clusters=2)
    assert ("more columns" in text) == (said is not None)
    assert said is None or said in text
