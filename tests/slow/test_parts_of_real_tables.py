"""Adult and covertype in parts: the trees of the same tables in memory."""

import numpy as np
import pandas as pd
import pytest
from tests.helpers.real_tables import arguments_of, needs_tables

import spinney

pytestmark = [
    pytest.mark.slow,
    needs_tables,
    pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning"),
]
C45 = spinney.Recipe.named("c4.5").changed(raising=False)
CART = spinney.Recipe.named("cart").changed(pruning="none")
N_PARTS = 5


@pytest.mark.parametrize(
    "name, options",
    [
        ("adult", {"recipe": C45}),
        ("adult", {"recipe": CART, "max_depth": 7}),
        ("covertype", {"recipe": CART, "max_depth": 6}),
    ],
)
def test_trees_are_those_of_memory(name, options):
    given = arguments_of(name)
    frame = pd.read_csv(given.pop("data"), keep_default_na=False)
    cuts = np.linspace(0, len(frame), N_PARTS + 1).astype(int)
    parts = [frame.iloc[cuts[i] : cuts[i + 1]] for i in range(N_PARTS)]
    expected = spinney.grow(frame, **given, **options)
    found = spinney.grow(parts, **given, **options, engine="partitions")
    assert len(expected.tree) > 60
    assert str(found) == str(expected)
