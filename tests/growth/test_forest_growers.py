"""Who grows the trees of a forest: by price, and the same trees to the last bit."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.growth.test_forest_growth import settings_of_forests
from tests.growth.test_grow_binned import settings_of_recipes, training_sets
from tests.growth.test_growers import BRANCH, rows
from tests.helpers.fuzz import examples

from spinney._support.jit import loading_time
from spinney.data.schema import Target
from spinney.growth import growers, prediction_only
from spinney.growth.forest import ForestSettings, grow_forest
from spinney.growth.forest import forest_growth as growing
from spinney.growth.forest.bags import ForestBags
from spinney.growth.growers import PLAIN, choose_forest_grower, plain_seconds
from spinney.output.file.forest_file import ARRAYS
from spinney.recipes import RECIPES

SUMS_ARE_EXACT = ForestBags.sums_are_exact  # as it is before tests turn it off


def chosen(training, n_trees=100, *, is_exact=True):
    return choose_forest_grower(
        training,
        BRANCH,
        attributes_per_node=1,
        n_trees=n_trees,
        is_exact=lambda: is_exact,
    )


@pytest.fixture
def unloaded(monkeypatch):
    """Let loops be compiled, and not loaded yet."""
    entry = SimpleNamespace(run_task=SimpleNamespace(is_loaded=False))
    monkeypatch.setitem(sys.modules, growers.BINNED_KERNELS[0], entry)


@pytest.mark.usefixtures("unloaded")
def test_few_small_trees_do_without_loops_that_are_not_loaded():
    assert chosen(rows(30), 2) is PLAIN
    many = chosen(rows(30))
    assert many.name == "binned"
    assert many.replays
    with prediction_only(50):
        assert chosen(rows(30), 2).name == "binned"


@pytest.mark.usefixtures("unloaded")
def test_nobody_waits_for_a_compiler_longer_than_for_a_forest(monkeypatch):
    monkeypatch.setattr(loading_time, "_is_compiled", lambda *loops: False)
    each = plain_seconds(rows(30), BRANCH, attributes_per_node=1)
    as_long = int(loading_time.COMPILING_SECONDS / each)
    assert chosen(rows(30), as_long) is PLAIN
    assert chosen(rows(30), as_long + 2).name == "binned"
    assert chosen(rows(30), 100) is PLAIN
    monkeypatch.setattr(
        loading_time.TIME_WITHOUT_KERNELS, "seconds", loading_time.COMPILING_SECONDS + 1
    )
    assert chosen(rows(30), 100).name == "binned"


@pytest.mark.usefixtures("unloaded")
def test_sums_that_round_and_large_trees_are_for_loops_whatever_is_loaded(monkeypatch):
    monkeypatch.setattr(loading_time, "_is_compiled", lambda *loops: False)
    for found in (chosen(rows(30), 1, is_exact=False), chosen(rows(5_000), 1)):
        assert found.name == "binned"
        assert not found.replays


def test_time_without_loops_counts(monkeypatch):
    monkeypatch.setattr(growing, "choose_forest_grower", lambda *_, **__: PLAIN)
    grow_forest(rows(30), BRANCH, ForestSettings(extra_random=True), n_trees=2)
    assert loading_time.TIME_WITHOUT_KERNELS.seconds == 0  # loops would not grow these
    grow_forest(rows(30), BRANCH, ForestSettings(), n_trees=2)
    assert loading_time.TIME_WITHOUT_KERNELS.seconds > 0


def test_sums_of_bags_are_exact_of_counts_and_whole_numbers():
    training = rows(50)
    numbers = replace(training.schema, target=Target("c", (), 3.0))
    of = {
        "counts": training,
        "whole weights": replace(training, weights=np.tile([1.0, 3.0], 25)),
        "weights": replace(training, weights=np.arange(1, 51) / 7),
        "far apart": replace(training, weights=np.tile([1.0, 2.0**20], 25)),
        "whole numbers": replace(training, schema=numbers, classes=np.arange(50.0)),
        "large": replace(training, schema=numbers, classes=np.arange(50.0) * 2**20),
        "numbers": replace(training, schema=numbers, classes=np.arange(50.0) / 7),
    }
    exact = {
        name: SUMS_ARE_EXACT(ForestBags(each, ForestSettings()))
        for name, each in of.items()
    }
    assert [name for name, adds_up in exact.items() if adds_up] == [
        "counts",
        "whole weights",
        "whole numbers",
    ]
    for scale, expected in (
        ({0: 3.0}, True),
        ({0: 0.1}, False),
        ({0: 1e6}, False),
        ("balanced_subsample", False),
    ):
        weighed = ForestSettings(class_weight=scale)
        assert SUMS_ARE_EXACT(ForestBags(training, weighed)) is expected


@given(
    training_sets(),
    settings_of_forests,
    settings_of_recipes,
    st.sampled_from([None, None, {0: 3.0, 1: 2.0}]),
)
@settings(max_examples=examples(100), deadline=None)
def test_trees_are_the_same_to_the_last_bit(
    training, forest_settings, changes, class_weight
):
    if not training.schema.target.is_numeric:
        forest_settings = replace(forest_settings, class_weight=class_weight)
    assume(SUMS_ARE_EXACT(ForestBags(training, forest_settings)))
    recipe = RECIPES["cart"].changed(**changes, missing_policy="branch")
    arguments = (training, recipe, forest_settings)
    with patch.object(growing, "choose_forest_grower", return_value=PLAIN):
        plain = grow_forest(*arguments, n_trees=3)
    with (
        patch.object(ForestBags, "sums_are_exact", SUMS_ARE_EXACT),
        patch.object(growers, "worth_loading", return_value=True),
    ):
        by_kernels = grow_forest(*arguments, n_trees=3)
    assert by_kernels.shrinkage == plain.shrinkage
    for one, other in zip(by_kernels.members, plain.members, strict=True):
        for name in ARRAYS:
            cells = getattr(one, name), getattr(other, name)
            np.testing.assert_array_equal(*cells, err_msg=name)


def test_a_first_small_forest_loads_no_compiler(tmp_path):
    code = """
import sys, spinney
table = {"a": [1, 2, 3, 4, 5, 6] * 3, "b": list("xyxxyx") * 3, "c": list("uvuvvv") * 3}
forest = spinney.grow_forest(table, "c")
forest.predict(table)
assert "numba" not in sys.modules
"""
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )
