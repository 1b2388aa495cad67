"""Clusters from Python and from the shell: one pipeline, the same clusters."""

import csv

import numpy as np
import pytest
from tests.cli.conftest import TABLES

import spinney
from spinney import KMeans, KPrototypes
from spinney.cli import run
from spinney.data.readers import read_table
from spinney.extensions.clustering.lloyd import count_restarts
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    cluster_input,
    fit_clusters,
)
from spinney.output.file import load_model

RANDOM = np.random.default_rng(7)
BLOBS = {
    "a": RANDOM.normal(size=400).round(6).tolist(),
    "b": (RANDOM.normal(size=400) * 9).round(6).tolist(),
    "c": RANDOM.integers(0, 5, size=400).tolist(),
    "w": RANDOM.integers(0, 4, size=400).tolist(),
    "hue": RANDOM.choice(["red", "green", "blue"], size=400).tolist(),
}


def written(path, names):
    """Write some columns as CSV; return them as the shell will read them."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*(BLOBS[name] for name in names), strict=True))
    return {name: BLOBS[name] for name in names}


NUMBERS, MIXED = ["a", "b", "c"], ["a", "c", "hue"]
CASES = [
    (KMeans, NUMBERS, {"n_clusters": 8}, ()),
    (KMeans, NUMBERS, {"n_clusters": 3, "standardise": True}, ("--standardise",)),
    (KMeans, NUMBERS, {"n_clusters": 5, "init": "random"}, ("--start", "random")),
    (KMeans, NUMBERS, {"n_clusters": 6, "n_init": 1}, ("--restarts", "1")),
    (KMeans, NUMBERS, {"n_clusters": 4, "tol": 0.01}, ("--tolerance", "0.01")),
    (KMeans, ["a"], {"n_clusters": 4, "init": "optimal"}, ("--start", "optimal")),
    (KMeans, NUMBERS, {"n_clusters": "auto"}, ()),
    (KPrototypes, MIXED, {"n_clusters": 5}, ()),
    (KPrototypes, MIXED, {"n_clusters": 3, "init": "cao"}, ("--start", "cao")),
    (
        KPrototypes,
        MIXED,
        {"n_clusters": 4, "gamma": 2.0, "standardise": True, "max_iter": 20},
        ("--gamma", "2", "--standardise", "--max-iterations", "20"),
    ),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "names", "settings", "options"), CASES)
def test_both_ways_are_one(tmp_path, kind, names, settings, options, weighted):
    path, labels = tmp_path / "rows.csv", tmp_path / "labels.csv"
    table = written(path, [*names, "w"] if weighted else names)
    weights = table.pop("w", None)
    by_python, by_shell = tmp_path / "python", tmp_path / "shell"
    model = kind(**settings, random_state=3).fit(table, sample_weight=weights)
    model.save(by_python)
    arguments = ["cluster", path, "--k", settings["n_clusters"], "--seed", 3, *options]
    arguments += ["--model", by_shell, "-o", labels, "--quiet"]
    arguments += ["--weight", "w"] if weighted else []
    assert run([str(argument) for argument in arguments]) == 0
    one, other = (
        load_model(path, kinds=["clusters"]) for path in (by_python, by_shell)
    )
    for array in ("centroids", "codes", "scale", "weights", "start"):
        np.testing.assert_array_equal(getattr(one, array), getattr(other, array))
    assert one.inertia == other.inertia == model.inertia_
    assert one.n_iterations == other.n_iterations
    assert one.fingerprint == other.fingerprint
    assert len(one.fingerprint.digest) == 64
    with labels.open() as file:
        told = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert told == model.labels_.tolist() == model.predict(table).tolist()
    assert by_python.read_bytes() == by_shell.read_bytes()


def test_the_digest_is_of_rows_and_weights():
    digests = {
        KMeans(2, random_state=0)
        .fit(cells, sample_weight=weights)
        .clusters_.fingerprint.digest
        for cells in (np.arange(6.0)[:, None], np.arange(6.0)[::-1, None])
        for weights in (None, np.arange(6.0))
    }
    assert len(digests) == 4


def test_how_many_starts():
    for init in ("k-means++", "random", "huang", lambda *_, **__: None):
        assert count_restarts("auto", init, 10_000_000) == 4
        assert count_restarts("auto", init, 10_000_001) == 1
        assert count_restarts(9, init, 10_000_001) == 9
    for init in ("optimal", "cao", np.zeros((2, 1))):
        assert count_restarts("auto", init, 1) == 1


@pytest.mark.parametrize(("n_init", "same_as"), [("auto", 4), (1, 1)])
def test_auto_is_four_starts_of_a_small_table(n_init, same_as):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    told = [KMeans(9, random_state=1, n_init=n).fit(rows) for n in (n_init, same_as)]
    assert told[0].inertia_ == told[1].inertia_


def test_a_large_table_has_one_start():
    rows = np.random.default_rng(0).normal(size=(40_000, 32)).astype(np.float32)
    auto, one, four = (
        KMeans(8, random_state=0, n_init=n, max_iter=2).fit(rows)
        for n in ("auto", 1, 4)
    )
    assert auto.inertia_ == one.inertia_ > four.inertia_


def test_a_choice_and_its_clusters_have_the_same_starts():
    plan = Plan(n_clusters=range(2, 5), seed=1)
    table = read_table({name: BLOBS[name] for name in NUMBERS})
    fit = fit_clusters(cluster_input(table, plan), plan)
    assert fit.choice.n_starts == 4
    assert fit.clusters.inertia == pytest.approx(fit.choice.line.inertia, rel=1e-12)
    assert fit.clusters.settings["n_clusters"] == fit.choice.k


def test_distances_and_trace_are_of_the_clusters():
    plan = Plan(n_clusters=3, standardise=True)
    table = read_table({name: BLOBS[name] for name in NUMBERS})
    fit = fit_clusters(cluster_input(table, plan), plan)
    assert (fit.distances() ** 2).sum() == pytest.approx(fit.clusters.inertia)
    end = fit.trace().clustering.centroids
    np.testing.assert_array_equal(end, fit.clusters.centroids)


def test_a_file_of_the_shell_is_fitted_again(tmp_path):
    path = tmp_path / "clusters"
    arguments = ["cluster", str(TABLES / "iris.csv"), "--ignore", "class", "--k", "3"]
    assert run([*arguments, "--model", str(path), "--quiet"]) == 0
    model = spinney.load(path)
    assert (model.n_clusters, model.n_init, model.random_state) == (3, "auto", 0)
    before = model.inertia_
    table = read_table(TABLES / "iris.csv").without({"class"})
    assert model.fit(table).inertia_ == before
