"""Models to export, and rows that tell an export from its model."""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import spinney
from spinney.output.export.portable import portable
from spinney.recipes import Recipe
from spinney.trees import labels_of

NUMBERS = ("size", "a 'b' \"c\" `d`", "select")
HUES = ("it's", 'say "hi"', "back\\slash", "</script><!--", "*/ ??/ ${x}", "色泽 é")
SORTS = ("DROP TABLE", "__proto__", "constructor", "a", "b")
LEVELS = ("small", "medium", "large")
CLASSES = ("no", "it's", '是 \\ "')
UNSEEN = "never seen"


def table(*, missing: float, seed: int = 0, n_rows: int = 60) -> dict[str, list[Any]]:
    """Return a table of all kinds of columns, hostile names and values in them."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for _ in range(n_rows):
        hue, sort = draw.choice(HUES), draw.choice(SORTS)
        row: dict[str, Any] = {
            "size": draw.choice((-1e-300, 0.0, 0.1, 0.2, 0.30000000000000004, 1e15, 7)),
            NUMBERS[1]: draw.uniform(-1, 1),
            "select": float(draw.randrange(-3, 9)) / 7,
            "hue */ ??/": hue,
            "</script>": sort,
            "level": draw.choice(LEVELS),
            "truth": draw.random() < 0.5,
            "grade": draw.choice((1, 2.5, 1e-5, 30)),
        }
        score = 3 * (hue in HUES[:3]) + 2 * row["select"] + row[NUMBERS[1]]
        score += (row["truth"] != (row["grade"] == 1)) + 2 * (row["level"] == "large")
        score += draw.gauss(0, 0.8) + (sort in SORTS[:2])
        for name in row:
            if draw.random() < missing:
                row[name] = None
        row["class"] = CLASSES[min(2, max(0, int(score / 2)))]
        row["value"] = score * 1e3
        rows.append(row)
    return {name: [row[name] for row in rows] for name in rows[0]}


KINDS = {"ordinal": {"level": LEVELS}, "nominal": ["grade"]}


@dataclass(frozen=True)
class Case:
    """A way to grow a model that is exported."""

    recipe: str
    target: str = "class"
    missing: float = 0.1
    changes: tuple[tuple[str, Any], ...] = ()
    trees: int = 0
    voting: str = "probability"

    def __str__(self) -> str:
        parts = [self.recipe, self.target, str(self.missing)]
        parts += [f"{name}={value}" for name, value in self.changes]
        if self.trees:
            parts += [f"{self.trees} trees", self.voting]
        return ",".join(parts)


def changed(
    recipe: str, target: str = "class", missing: float = 0.1, **changes: Any
) -> Case:
    return Case(recipe, target, missing, tuple(changes.items()))


CASES = (
    *(Case(recipe) for recipe in ("id3", "c4.5", "cart", "chaid")),
    *(Case(recipe, missing=0.0) for recipe in ("c4.5", "cart")),
    *(
        changed(
            "cart", missing=policy_share, min_samples_leaf=2, **{"missing_": policy}
        )
        for policy, policy_share in (
            ("fractional", 0.15),
            ("most-common", 0.15),
            ("own-category", 0.15),
            ("branch", 0.15),
            ("mean", 0.15),
        )
    ),
    changed("id3", missing_="own-category"),
    changed("c4.5", probability="laplace", pruning="none"),
    changed("chaid", min_samples_split=6, min_samples_leaf=2),
    changed("id3", buckets="equal-frequency", n_buckets=4),
    changed("cart", linear_terms=3),
    changed("cart", construct=6, min_samples_leaf=2),
    Case("cart", "value"),
    Case("m5", "value"),
    changed("m5", "value", smoothing=15.0),
    changed("m5", "value", missing_="fractional", pruning="none"),
    Case("cart", trees=5, missing=0.0),
    Case("c4.5", trees=4, voting="majority"),
    Case("cart", "value", trees=4, missing=0.0),
)


@cache
def grown(case: Case) -> Any:
    """Return the model of a case; a case is grown once."""
    data = table(missing=case.missing)
    del data["value" if case.target == "class" else "class"]
    changes = {name.rstrip("_"): value for name, value in case.changes}
    recipe = Recipe.named(case.recipe)
    recipe = recipe.changed(**changes) if changes else recipe
    if not case.trees:
        return spinney.grow(data, case.target, recipe=recipe, **KINDS)
    settings = {"voting": case.voting} if case.target == "class" else {}
    return spinney.grow_forest(
        data, case.target, recipe=recipe, n_estimators=case.trees, **settings, **KINDS
    )


@cache
def rows_of(case: Case) -> tuple[dict[str, Any], ...]:
    """Return rows: training, cuts and their neighbours, missing and unseen values."""
    data = table(missing=case.missing)
    data = {n: cells for n, cells in data.items() if n not in ("class", "value")}
    lines = zip(*data.values(), strict=True)
    training = [dict(zip(data, cells, strict=True)) for cells in lines]
    return (*training, *edge_rows(grown(case), training))


def edge_rows(model: Any, training: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows at every cut, one unit beside it, and with cells taken away."""
    draw, form = random.Random(1), portable(model)

    def row(name: str, value: Any) -> dict[str, Any]:
        return {**draw.choice(training), name: value}

    rows = [
        dict.fromkeys(training[0]),
        *(
            {n: None if draw.random() < 0.4 else each[n] for n in each}
            for each in training
        ),
    ]
    for column in form.columns:
        values = [None] if column.is_number else [None, UNSEEN, UNSEEN]
        rows += [row(column.name, value) for value in values]
    for question in (q for node in form.nodes for q in node.questions):
        if question.cell >= len(form.columns):
            continue  # a formula has no cells of its own
        name = form.columns[question.cell].name
        for cut in question.cuts:
            around = (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf))
            rows += [row(name, float(number)) for number in around]
    return rows


def outputs_of(model: Any, rows: Any) -> tuple[np.ndarray, list[Any] | None]:
    """Return what a model says of rows: outputs, and classes if it has any."""
    table = {name: [row[name] for row in rows] for name in rows[0]}
    outputs = model.outputs(table)
    target = model.schema.target
    if target.is_numeric:
        return outputs, None
    labels = labels_of(outputs, target.costs)
    return outputs, [target.classes[label] for label in labels]
