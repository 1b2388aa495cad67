"""Models of every kind whose files are kept for ever, in ``tests/golden``.

``python -m tests.helpers.golden_models`` writes the files that are not there, and what
they predict into ``predictions.json``. It never writes over a file: what has once been
written must load for as long as the format lives.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.fuzz_files import golden_files, loaded, rows_for

import spinney
from spinney import (
    ForestClassifier,
    ForestRegressor,
    KMeans,
    MiniBatchKMeans,
    TreeClassifier,
    TreeRegressor,
)

GOLDEN = Path(__file__).parents[1] / "golden"
TABLES = Path(__file__).parents[1] / "tables"
PREDICTIONS = GOLDEN / "predictions.json"

MELONS = {
    "hue": ["red", "red", "blue", None, "blue", "grey", "red", "grey"] * 2,
    "size": ["S", "L", "M", "L", "S", "M", None, "S"] * 2,
    "width": [1.0, 2.5, 3.0, None, 4.5, 0.5, 2.0, 6.0, *range(8)],
}
SIZES = {"size": ["S", "M", "L"]}
RIPE = ["yes", "no", "yes", "no", "no", "yes", "yes", "no"] * 2
PRICES = [1.0, 2.0, 4.5, 3.0, 2.5, 0.5, 1.5, 6.0, *map(float, range(8))]
NUMBERS = {"x": [0.0, 1.0, 5.0, 6.0, 2.0, 7.0], "y": [1.0, 0.5, 4.0, 5.0, 1.5, 4.5]}

MODELS: dict[str, Callable[[], Any]] = {
    "melon_auto.v2.spinney": lambda: TreeClassifier(random_state=0, ordinal=SIZES).fit(
        MELONS, RIPE
    ),
    "melon_c45.v2.spinney": lambda: TreeClassifier("c4.5", ordinal=SIZES).fit(
        MELONS, RIPE
    ),
    "melon_price.v2.spinney": lambda: TreeRegressor("cart", ordinal=SIZES).fit(
        MELONS, PRICES
    ),
    "melon_m5.v2.spinney": lambda: TreeRegressor("m5", min_samples_split=4).fit(
        MELONS, PRICES
    ),
    "melon_forest.v1.spinney": lambda: ForestClassifier(
        2, max_depth=2, random_state=0, ordinal=SIZES
    ).fit(MELONS, RIPE),
    "price_forest.v1.spinney": lambda: ForestRegressor(
        2, max_depth=2, random_state=0, extra_random=True
    ).fit(MELONS, PRICES),
    "batch_means.v1.spinney": lambda: MiniBatchKMeans(
        2, batch_size=3, random_state=0
    ).fit(NUMBERS),
    "standard_means.v1.spinney": lambda: KMeans(
        2, standardise=True, random_state=0
    ).fit(NUMBERS),
}


def answers(model: Any, rows: dict[str, list[Any]]) -> dict[str, Any]:
    """Return what a model says of rows, ready for JSON."""
    said = {"predict": list(model.predict(rows))}
    if hasattr(model, "predict_proba"):
        said["predict_proba"] = model.predict_proba(rows).tolist()
    return json.loads(json.dumps(said, default=lambda cell: cell.item()))


def main() -> None:
    """Write what is not there."""
    for name, make in MODELS.items():
        if not (GOLDEN / name).exists():
            make().save(GOLDEN / name)
    golden_files.cache_clear()
    known = json.loads(PREDICTIONS.read_text("utf-8")) if PREDICTIONS.exists() else {}
    for name in golden_files():
        if name not in known:
            rows = rows_for(name)
            known[name] = {"rows": rows, **answers(loaded(GOLDEN / name), rows)}
    text = json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True)
    PREDICTIONS.write_text(text + "\n", "utf-8")
    print(f"{len(known)} files, written by {spinney.__version__} or before")


if __name__ == "__main__":
    main()
