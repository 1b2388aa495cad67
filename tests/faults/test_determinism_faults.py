"""Faults 36 to 40: threads, ties, order, processes; and bytes of files.

``tests/test_determinism.py`` has every kind of model.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.faults.fault_rows import grown, random_rows

import spinney


@pytest.mark.parametrize("n_rows", [80, 9000])
def test_fault_36_any_number_of_threads_gives_the_same_bytes(n_rows, tmp_path):
    rows, files = random_rows(n_rows), set()
    for n_jobs in (1, 2, 8):
        settings = {"random_state": 0, "n_jobs": n_jobs, "max_depth": 6}
        spinney.grow_forest(rows, "y", n_estimators=9, **settings).save(tmp_path / "m")
        files.add((tmp_path / "m").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
def test_fault_37_columns_that_are_copies(recipe):
    rows = random_rows(60)
    copies = {"first": rows["word"], "second": rows["word"], "y": rows["y"]}
    assert "second" not in str(grown(copies, recipe))
    numbers = {"first": rows["x"], "second": rows["x"], "y": rows["y"]}
    assert "second" not in str(grown(numbers, recipe))


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_fault_38_the_order_of_rows_and_the_engine(recipe):
    rows = random_rows(50, missing=0.1)
    order = np.random.default_rng(1).permutation(50).tolist()
    turned = {name: [rows[name][i] for i in order] for name in rows}
    settings = {"missing_policy": "fractional"}
    plain = str(grown(rows, recipe, **settings))
    assert str(grown(turned, recipe, **settings)) == plain
    if recipe != "cart":
        relation = duckdb.from_df(pd.DataFrame(turned))
        assert str(grown(relation, recipe, **settings)) == plain


def test_fault_39_threads_share_a_model():
    rows = random_rows(80)
    model = spinney.grow_forest(rows, "y", n_estimators=5, random_state=0)
    tree = grown(rows)
    with ThreadPoolExecutor(4) as pool:
        outputs = list(pool.map(lambda _: model.outputs(rows).tobytes(), range(12)))
        texts = list(pool.map(lambda _: tree.export("json") + str(tree), range(12)))
        fits = list(pool.map(lambda _: str(grown(rows)), range(12)))
    assert len(set(outputs)) == len(set(texts)) == len(set(fits)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fault_39_a_child_that_is_forked_after_threads():
    X = np.random.default_rng(0).normal(size=(9000, 3))
    y = (X[:, 0] > 0).astype(int)

    def grow():
        return str(spinney.TreeClassifier("cart", max_depth=3, n_jobs=2).fit(X, y))

    before, (reading, writing) = grow(), os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.write(writing, b"same" if grow() == before else b"other")
        os._exit(0)
    stuck = threading.Timer(60, os.kill, (child, 9))
    stuck.start()
    os.waitpid(child, 0)
    stuck.cancel()
    os.close(writing)
    assert os.read(reading, 9) == b"same"
    os.close(reading)


@pytest.mark.parametrize("recipe", ["auto", "id3", "c4.5", "cart", "chaid"])
def test_fault_40_the_same_fit_gives_the_same_bytes(recipe, tmp_path):
    for path in ("one", "other"):
        grown(random_rows(50, missing=0.2), recipe).save(tmp_path / path)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
