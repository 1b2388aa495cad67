"""The models that pages are tried on, each grown once."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import spinney
from spinney.extensions.clustering.models import FittedClusters

TABLES = Path(__file__).parents[3] / "tables"


@cache
def grown(table: str, target: str, recipe: str, *ignore: str, **settings: Any) -> Any:
    """Return a tree on one of our tables."""
    named = spinney.Recipe.named(recipe).changed(**settings)
    return spinney.grow(
        TABLES / table,
        target,
        recipe=named,
        ignore=list(ignore),
        nominal=["class_type"] if table == "zoo.csv" else [],
        missing_values=["?"] if table in ("labor.csv", "vote.csv") else [],
    )


@cache
def odd_columns(recipe: str) -> Any:
    """Return a tree over dates, times, ordered values, booleans and costs of errors."""
    rng = np.random.default_rng(3)
    n = 240
    day = np.array("2026-01-01", "datetime64[D]") + rng.integers(0, 300, n)
    instant = day.astype("datetime64[s]") + rng.integers(0, 86400, n)
    size = rng.choice(["small", "medium", "large", "huge"], n)
    wet = rng.random(n) < 0.5
    risk = (day.astype(int) % 97 > 40).astype(int) + (size == "large") + 2 * wet
    table = pd.DataFrame({"day": day.astype("datetime64[s]"), "size": size})
    table["instant"], table["wet"], table["x"] = instant, wet, rng.random(n)
    table.loc[rng.random(n) < 0.1, "size"] = None
    table["risk"] = np.array(["low", "mid", "high"])[np.clip(risk - 1, 0, 2)]
    order = ["small", "medium", "large", "huge"]
    costs = {
        "low": {"low": 0, "mid": 2, "high": 9},
        "mid": {"low": 1, "mid": 0, "high": 3},
        "high": {"low": 2, "mid": 1, "high": 0},
    }
    return spinney.grow(
        table, "risk", recipe=recipe, ordinal={"size": order}, cost_matrix=costs
    )


@cache
def misread_values() -> Any:
    """Return a tree over values written in quotes, and a cut just below 6.5."""
    towns = ["Rome, GA", "Ur", "so 'x'", "", '"', "it's", "{a}"]
    table = {
        "town": [towns[place % 7] for place in range(84)],
        "x": [place % 12 for place in range(84)],
        "y": [str(place % 7 % 3 + (place % 12 > 6)) for place in range(84)],
    }
    return spinney.grow(table, "y", recipe="cart", forced_splits={(): "x < 6.5"})


MODELS = {
    "misread values": misread_values,
    "melons": lambda: grown("watermelon_3.0.csv", "ripe", "id3", "id"),
    "melons divided": lambda: grown("watermelon_2.0a.csv", "ripe", "id3", "id"),
    "labor": lambda: grown("labor.csv", "class", "c4.5", pruning="none"),
    "vote": lambda: grown("vote.csv", "Class", "c4.5", probability="laplace"),
    "zoo": lambda: grown("zoo.csv", "class_type", "cart", "animal_name"),
    "penguins": lambda: grown("penguins.csv", "species", "cart"),
    "penguins by CHAID": lambda: grown("penguins.csv", "species", "chaid"),
    "formulas": lambda: grown("iris.csv", "class", "c4.5", construct=3),
    "odd columns": lambda: odd_columns("cart"),
    "odd columns, divided": lambda: odd_columns("c4.5"),
    "cpu": lambda: grown("cpu_prp.csv", "class", "cart"),
    "cpu models": lambda: grown("cpu_prp.csv", "class", "m5"),
}


@cache
def large_tree(leaves: int) -> Any:
    """Return a tree of many leaves: labels are chance, so that it never ends early."""
    rng = np.random.default_rng(7)
    n = 3 * leaves
    table = {f"x{i}": rng.random(n).round(5) for i in range(6)}
    table["hue"] = rng.choice(["red", "green", "blue"], n)
    target = rng.choice(["no", "yes", "maybe"], n, p=[0.5, 0.3, 0.2])
    recipe = spinney.Recipe.named("cart").changed(max_leaves=leaves, pruning="none")
    return spinney.grow({**table, "answer": target}, "answer", recipe=recipe)


@cache
def forest() -> Any:
    """Return a small forest."""
    frame = pd.read_csv(TABLES / "penguins.csv")
    model = spinney.ForestClassifier(n_estimators=12, random_state=1)
    return model.fit(frame.drop(columns=["species"]), frame["species"])


@cache
def clusters() -> Any:
    """Return clusters of the irises."""
    columns = {name: cells for name, cells in iris().items() if name != "class"}
    model = spinney.KMeans(n_clusters=3, random_state=0).fit(columns)
    return FittedClusters(model.clusters_)


@cache
def mixed_clusters() -> Any:
    """Return k-prototypes of the penguins."""
    frame = pd.read_csv(TABLES / "penguins.csv")[["island", "bill_length_mm", "sex"]]
    model = spinney.KPrototypes(n_clusters=3, random_state=0).fit(frame)
    return FittedClusters(model.clusters_)


@cache
def iris() -> dict[str, Any]:
    """Return the irises by column."""
    frame = pd.read_csv(TABLES / "iris.csv")
    return {str(name): frame[name].tolist() for name in frame}
