"""500 random streams of additions and removals end in the tree of all rows."""

import numpy as np
import pytest
from tests.extensions.incremental.test_incremental_twin import (
    NUMERIC,
    RECIPES,
    Stream,
    follow,
)

from spinney.extensions.incremental import incremental_source

pytestmark = pytest.mark.slow

TASKS = [*((name, False) for name in RECIPES), *((name, True) for name in NUMERIC)]


@pytest.mark.parametrize("part", range(10))
def test_500_streams_end_in_the_tree_of_all_rows(part, monkeypatch):
    monkeypatch.setattr(incremental_source, "MAX_UNCACHED_ROWS", 3)
    for seed in range(50 * part, 50 * part + 50):
        random = np.random.default_rng([seed, 1])
        name, numeric = TASKS[seed % len(TASKS)]
        stream = Stream(
            seed,
            numeric=numeric,
            absent=float(random.choice([0.0, 0.15])),
            weighed=int(random.integers(3)),
        )
        sizes = random.integers(0, 12, (int(random.integers(2, 7)), 2))
        follow(stream, (NUMERIC if numeric else RECIPES)[name], sizes.tolist())
