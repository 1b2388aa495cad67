"""The same rows and seed give the same bits: threads, runs, chunks, processes."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.faults.fault_rows import random_rows

import spinney

# Fits a model of a kind on a table and prints the hash of its file, or of its figures.
CHILD = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
from tests.test_determinism import MODELS, bytes_of
print(*(hashlib.sha256(bytes_of(kind, 1, sys.argv[1])).hexdigest() for kind in MODELS))
"""
NUMBERS = {
    "x": [i % 7 + i / 97 for i in range(80)],
    "z": [i * i % 31 for i in range(80)],
}


def tree_of(recipe):
    return lambda n_jobs: spinney.grow(
        random_rows(80, missing=0.1), "y", recipe=recipe, n_jobs=n_jobs
    )


MODELS = {
    **{recipe: tree_of(recipe) for recipe in ("auto", "id3", "c4.5", "cart", "chaid")},
    "forest": lambda n_jobs: spinney.grow_forest(
        random_rows(80), "y", n_estimators=5, n_jobs=n_jobs
    ),
    "k-means": lambda n_jobs: spinney.KMeans(3, random_state=0, n_jobs=n_jobs).fit(
        NUMBERS
    ),
    "prototypes": lambda n_jobs: spinney.KPrototypes(
        3, random_state=0, n_jobs=n_jobs
    ).fit({**NUMBERS, "word": random_rows(80)["word"]}),
    "evaluation": lambda n_jobs: spinney.evaluate(
        random_rows(60), "y", ["id3", "cart"], folds=3, random_state=0
    ),
}


def bytes_of(kind, n_jobs, folder):
    """Return the file of a model, or the figures of an evaluation but for times."""
    model = MODELS[kind](n_jobs)
    if kind == "evaluation":
        lines = [
            {name: cell for name, cell in line.items() if "seconds" not in name}
            for line in model.table
        ]
        return repr(lines).encode()
    path = os.path.join(folder, "m")
    model.save(path)
    with open(path, "rb") as file:
        return file.read()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_threads_and_runs_give_the_same_bytes(kind, tmp_path):
    files = {bytes_of(kind, n_jobs, tmp_path) for n_jobs in (1, 2, 1)}
    assert len(files) == 1


@pytest.mark.slow
def test_processes_give_the_same_bytes(tmp_path):
    """Sets and dictionaries have another order where PYTHONHASHSEED is another."""
    told = set()
    for seed in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(run.stdout)
    assert len(told) == 1
    assert len(told.pop().split()) == len(MODELS)


def test_whatever_is_loaded_gives_the_same_bytes():
    """In processes of its own, where nothing says who grows small trees."""
    command = [sys.executable, "-m", "tools.compare_growers", "--count", "60"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("growers: 60 models, 0 trees differ, 0 other files")
    assert run.returncode == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_rows_by_loops_in_threads(n_jobs, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(30_000, 4))
    y = random.integers(0, 3, len(X))
    settings = {"max_depth": 5, "n_jobs": n_jobs}
    spinney.TreeClassifier("cart", **settings).fit(X, y).save(tmp_path / "m")
    first = hashlib.sha256((tmp_path / "m").read_bytes()).hexdigest()
    spinney.TreeClassifier("cart", max_depth=5).fit(X, y).save(tmp_path / "m")
    assert hashlib.sha256((tmp_path / "m").read_bytes()).hexdigest() == first


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_chunks_of_rows_are_predicted_alike(rows_at_once):
    rows = random_rows(50, missing=0.1)
    model = spinney.grow(rows, "y", recipe="c4.5")
    forest = spinney.grow_forest(rows, "y", n_estimators=3)
    asked = pd.DataFrame(rows)[["x", "word"]]
    for each in (model, forest):
        whole = each.outputs(rows)
        parts = [
            each.outputs(asked[first : first + rows_at_once].to_dict("list"))
            for first in range(0, 50, rows_at_once)
        ]
        assert np.vstack(parts).tobytes() == whole.tobytes()
