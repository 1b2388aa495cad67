"""Frames of pandas and polars that the tests of estimators fit."""

import numpy as np
import pandas as pd
import polars as pl

N_ROWS = 90
RECIPES = ("id3", "c4.5", "cart")


def pandas_rows() -> tuple[pd.DataFrame, pd.Series]:
    """Return rows of every kind, with missing cells, and classes that follow them."""
    random = np.random.default_rng(4)
    colour = random.choice(["red", "green", "blue"], N_ROWS).astype(object)
    size = random.choice(["small", "medium", "large"], N_ROWS)
    width = random.normal(size=N_ROWS)
    ripe = np.where((colour == "red") ^ (width > 0) | (size == "large"), "yes", "no")
    frame = pd.DataFrame(
        {
            "colour": pd.Series(np.where(random.random(N_ROWS) < 0.1, None, colour)),
            "size": pd.Categorical(
                size, categories=["small", "medium", "large"], ordered=True
            ),
            "width": np.where(random.random(N_ROWS) < 0.1, np.nan, width),
            "fits": random.integers(0, 2, N_ROWS).astype(bool),
        }
    )
    return frame, pd.Series(ripe, name="ripe")


def polars_rows() -> tuple[pl.DataFrame, pl.Series]:
    frame, ripe = pandas_rows()
    return pl.from_pandas(frame), pl.Series("ripe", ripe.tolist())


ROWS = {"pandas": pandas_rows, "polars": polars_rows}
