"""Pictures of clusters: what they hold, and what is said without Matplotlib."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.cli.conftest import TABLES

from spinney.cli import run
from spinney.data.readers import read_table
from spinney.errors import DataError, MissingExtraError, ParameterError
from spinney.extensions.clustering.choose_k.select_k import choose
from spinney.extensions.clustering.cluster_plots import projection
from spinney.extensions.clustering.fit_k_means import KMeansMethod
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    cluster_input,
    fit_clusters,
)
from spinney.extensions.pictures.figures import check_pictures
from spinney.extensions.plots.plot_pictures import cluster_picture, elbow_picture

PNG = b"\x89PNG"


def test_without_matplotlib(monkeypatch, tmp_path, capfd):
    path = tmp_path / "p.png"
    arguments = [
        "cluster",
        str(TABLES / "kmeans_five.csv"),
        "--n-clusters",
        "2",
        "--plot",
    ]
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "matplotlib", None)
        hidden.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'spinney\[plot\]'"):
            check_pictures(["a.png"])
        assert run([*arguments, str(path), "-o", str(tmp_path / "l.csv")]) == 1
    caught = capfd.readouterr().err
    assert caught == (
        "spinney: error: plots need Matplotlib, which is not installed: "
        "pip install 'spinney[plot]'\n"
    )
    assert not list(tmp_path.iterdir())


def test_two_columns_are_the_axes():
    directions, middle, names = projection(np.eye(2), ["a", "b"])
    assert names == ("a", "b")
    np.testing.assert_array_equal((np.eye(2) - middle) @ directions, np.eye(2))


def test_principal_components_by_singular_values():
    rows = np.random.default_rng(0).normal(size=(50, 3)) * [10.0, 1.0, 0.1]
    directions, middle, names = projection(rows, ["a", "b", "c"])
    flat = (rows - middle) @ directions
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    np.testing.assert_allclose(flat.var(axis=0, ddof=1), values[:2])
    share = 100 * values[0] / values.sum()
    assert names[0] == f"first component ({share:.0f} % of variance)"
    assert directions[0, 0] > 0.9


@pytest.mark.parametrize("n_rows", [1, 2])
def test_components_of_few_rows(n_rows):
    directions, _, names = projection(np.ones((n_rows, 3)), ["a", "b", "c"])
    assert np.isfinite(directions).all()
    assert names[1].startswith("second component (0 %")


# What is drawn needs Matplotlib.

TABLE = {
    "a": [1.0, 1.5, 3.0, 5.0, 3.5, 8.0],
    "b": [1.0, 2.0, 4.0, 7.0, 5.0, 8.0],
    "c": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    "hue": ["red", "red", "blue", "blue", "red", "blue"],
}


def found(names, **settings):
    return clusters_in({name: TABLE[name] for name in names}, **settings)


def clusters_in(table, **settings):
    plan = Plan(**{"n_clusters": 2, **settings})
    return fit_clusters(cluster_input(read_table(table), plan), plan)


def test_the_curve_is_of_the_plan():
    plan = {"n_init": 2, "seed": 3, "tol": 0.5, "max_iter": 1}
    curve = found("ab", **plan).curve()
    assert (curve.n_starts, curve.seed) == (2, 3)
    method = KMeansMethod(**plan)
    cells = np.column_stack([TABLE["a"], TABLE["b"]])
    assert curve == choose(cells, rule="elbow", measures=["elbow"], method=method)
    assert curve != found("ab").curve()


@pytest.mark.parametrize(
    ("names", "settings"),
    [
        ("a", {}),
        ("ab", {}),
        ("abc", {}),
        ("abc", {"standardise": True}),
        (["a", "b", "hue"], {}),
        (["a", "hue"], {}),
        ("ab", {"n_clusters": "auto"}),
    ],
)
def test_scatter(names, settings):
    clusters = found(list(names), **settings)
    assert cluster_picture(clusters, "x.png").startswith(PNG)


def test_what_a_picture_says():
    text = cluster_picture(found("abc"), "x.svg").decode()
    assert "<svg" in text
    assert cluster_picture(found("abc"), "x.svg").decode() == text
    assert cluster_picture(found("ab"), "x.pdf").startswith(b"%PDF")
    with pytest.raises(ParameterError, match="no column is numeric"):
        cluster_picture(found(["hue"]), "x.png")
    with pytest.raises(ParameterError, match="does not end in"):
        cluster_picture(found("ab"), "x.gif")


def test_names_are_no_formulas():
    """A column's name may hold what Matplotlib takes for mathematics."""
    clusters = clusters_in({"$x^{": TABLE["a"], "_y_$": TABLE["b"]})
    assert cluster_picture(clusters, "x.png").startswith(PNG)


def test_what_no_axis_could_show():
    clusters = clusters_in({"far": [1e308, -1e308, 0.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"'far' contains 1e\+308.*divide it"):
        cluster_picture(clusters, "x.png")
    curve = clusters.curve()
    assert elbow_picture(curve, 2, "e.png").startswith(PNG)


def test_many_clusters_are_numbered_and_have_no_legend():
    from spinney.extensions.clustering.cluster_plots import clusters

    rows = {"a": [float(at) for at in range(22)], "b": [0.0, 1.0] * 11}
    axes = clusters(clusters_in(rows, n_clusters=11), axes=plt.figure().gca())
    assert axes.get_legend() is None
    assert {text.get_text() for text in axes.texts} >= {str(k) for k in range(11)}


def test_rows_that_lack_a_number_each_cannot_be_drawn():
    rows = {"a": [1.0, 2.0, None, None], "b": [None, None, 1.0, 2.0]}
    with pytest.raises(DataError, match="no row has numbers in all columns"):
        cluster_picture(clusters_in(rows, method="k-prototypes"), "x.png")


def test_elbow():
    for rule in ("silhouette", "elbow", "gap"):
        choice = found("ab", n_clusters="auto", rule=rule).choice
        assert elbow_picture(choice, choice.k, "e.png").startswith(PNG)
    assert elbow_picture(choice, 99, "e.svg").startswith(b"<?xml")


def test_from_the_shell(tmp_path, capfd):
    plot, curve = tmp_path / "p.png", tmp_path / "e.svg"
    arguments = [
        "cluster",
        str(TABLES / "iris.csv"),
        "--ignore",
        "class",
        "--n-clusters",
        "3",
    ]
    assert run([*arguments, "--plot", str(plot), "--elbow", str(curve)]) == 0
    assert plot.read_bytes().startswith(PNG)
    assert b"<svg" in curve.read_bytes()
    assert f"plot saved to {plot}" in capfd.readouterr().err
