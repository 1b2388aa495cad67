"""Models to export, and rows that tell an export from its model."""

import datetime
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np

import spinney
from spinney.data import Declarations
from spinney.data.readers import read_table
from spinney.data.times import DAY_UNIT, INSTANT_UNIT
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.exports.portable import LARGEST, FormConjunction, Portable
from spinney.extensions.exports.portable_models import portable
from spinney.recipes import Recipe
from spinney.trees import labels_of

NUMBERS = ("size", "a 'b' \"c\" `d`", "select")
HUES = ("it's", 'say "hi"', "back\\slash", "</script><!--", "*/ ??/ ${x}", "色泽 é")
SORTS = ("DROP TABLE", "__proto__", "constructor", "a", "b")
LEVELS = ("small", "medium", "large")
CLASSES = ("no", "it's", '是 \\ "')
TARGETS = ("class", "value")
UNSEEN = "never seen"
EPOCH = datetime.datetime(1970, 1, 1)


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


def dated_table(*, missing: float, seed: int = 0) -> dict[str, list[Any]]:
    """Return a table with dates and instants, before 1970 too, to the microsecond."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for _ in range(60):
        day = datetime.date(1969, 10, 1) + datetime.timedelta(draw.randrange(180))
        moment = datetime.datetime(2026, 11, 18) + datetime.timedelta(
            microseconds=draw.randrange(10**13)
        )
        due = day + datetime.timedelta(draw.randrange(40))
        row = {"it's a day": day, "due": due, "moment": moment, "size": draw.random()}
        score = (day.year - 1969) * 2 + (moment.month == 1) * 2 + draw.gauss(0, 0.6)
        score += ((due - day).days > 20) * 2
        row = {name: None if draw.random() < missing else row[name] for name in row}
        row["class"] = CLASSES[min(2, max(0, int(score / 2)))]
        rows.append({**row, "value": score * 1e3})
    return {name: [row[name] for row in rows] for name in rows[0]}


def wide_table(n_classes: int, *, missing: float) -> dict[str, list[Any]]:
    """Return a table with a column of thirty values that tells classes and numbers."""
    data, draw = table(missing=missing, n_rows=240), random.Random(1)
    shifts = {f"town '{number}' é": draw.gauss(0, 4) for number in range(30)}
    data[WIDE] = [draw.choice(list(shifts)) for _ in data["value"]]
    data["value"] = [
        value + 1e3 * shifts[town]
        for value, town in zip(data["value"], data[WIDE], strict=True)
    ]
    cuts = (2e3,) if n_classes == 2 else (0.5e3, 4e3)
    data["class"] = [CLASSES[sum(v > cut for cut in cuts)] for v in data["value"]]
    for at in range(len(data[WIDE])):
        if draw.random() < missing:
            data[WIDE][at] = None
    return data


def table_of_gaps(column: str) -> dict[str, list[Any]]:
    """Return a table of two classes, which a column has by whether it is missing."""
    data, draw = table(missing=0.0), random.Random(2)
    for at in range(len(data["class"])):
        is_gap, is_odd = draw.random() < 0.4, draw.random() < 0.1
        data["class"][at] = CLASSES[is_gap != is_odd]
        if is_gap:
            data[column][at] = None
    return data


WIDE = "to 'wn'"
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
    kind: str = "tree"
    class_weight: str | None = None
    dated: bool = False
    wide: int = 0
    gaps: str = ""

    def as_rules(self) -> "Case":
        return replace(self, kind="rules")

    def __str__(self) -> str:
        parts = [self.recipe, self.target, str(self.missing)]
        parts += [self.kind] if self.kind != "tree" else []
        parts += ["dates"] if self.dated else []
        parts += [f"wide {self.wide}"] if self.wide else []
        parts += [f"gaps in {self.gaps}"] if self.gaps else []
        parts += [f"{name}={value}" for name, value in self.changes]
        if self.trees:
            parts += [f"{self.trees} trees", self.voting]
            parts += [self.class_weight] if self.class_weight else []
        return ",".join(parts)


def changed(
    recipe: str, target: str = "class", missing: float = 0.1, **changes: Any
) -> Case:
    return Case(recipe, target, missing, tuple(changes.items()))


def gaps_in(column: str) -> Case:
    return replace(changed("optimal", max_depth=2), gaps=column)


def clusters(method: str, missing: float, **settings: Any) -> Case:
    return Case(method, "cluster", missing, tuple(settings.items()), kind="clusters")


CASES = (
    *(Case(recipe) for recipe in ("id3", "c4.5", "cart", "chaid")),
    *(Case(recipe, missing=0.0) for recipe in ("c4.5", "cart")),
    *(
        changed("cart", missing=policy_share, min_samples_leaf=2, missing_policy=policy)
        for policy, policy_share in (
            ("fractional", 0.15),
            ("most-common", 0.15),
            ("own-category", 0.15),
            ("branch", 0.15),
            ("mean", 0.15),
        )
    ),
    changed("id3", missing_policy="own-category"),
    changed("c4.5", probability="laplace", pruning="none"),
    changed("chaid", min_samples_split=6, min_samples_leaf=2),
    changed("id3", buckets="equal-frequency", n_buckets=4),
    changed("cart", linear_terms=3),
    changed("cart", construct=6, min_samples_leaf=2),
    Case("cart", "value"),
    Case("m5", "value"),
    changed("m5", "value", smoothing=15.0),
    changed("m5", "value", missing_policy="fractional", pruning="none"),
    Case("cart", trees=5, missing=0.0),
    Case("c4.5", trees=4, voting="majority"),
    Case("cart", "value", trees=4, missing=0.0),
    Case("c4.5", trees=3),
    Case("cart", trees=5, voting="majority", missing=0.0),
    Case("chaid", trees=3),
    *(
        replace(changed(recipe, max_depth=2), trees=1, voting="majority")
        for recipe in ("cart", "c4.5")  # of which C4.5 divides rows
    ),
    Case("cart", trees=3, class_weight="balanced"),
    Case("cart", trees=4, wide=2),
    Case("cart", trees=4, wide=3, missing=0.0),
    Case("cart", "value", trees=3, wide=3),
    *(Case(recipe, kind="rules") for recipe in ("c4.5", "cart")),
    changed(
        "cart", missing=0.15, min_samples_leaf=2, missing_policy="branch"
    ).as_rules(),
    changed("id3", missing_policy="own-category").as_rules(),
    changed("cart", construct=6, min_samples_leaf=2).as_rules(),
    clusters("KMeans", 0.0, n_clusters=4),
    clusters("KMeans", 0.0, n_clusters=5, standardise=True),
    clusters("KMeans", 0.0, n_clusters=1),
    clusters("MiniBatchKMeans", 0.0, n_clusters=3),
    clusters("KPrototypes", 0.15, n_clusters=4),
    clusters("KPrototypes", 0.15, n_clusters=3, standardise=True),
    Case("cart", dated=True),
    Case("m5", "value", dated=True),
    replace(changed("c4.5", pruning="none"), dated=True),
    replace(changed("cart", missing=0.0, construct=6), dated=True),
    replace(clusters("KMeans", 0.0, n_clusters=4, standardise=True), dated=True),
    *(gaps_in(column) for column in ("hue */ ??/", "level", NUMBERS[1])),
)


def data_of(case: Case) -> dict[str, list[Any]]:
    """Return the table of a case."""
    if case.gaps:
        return table_of_gaps(case.gaps)
    if case.wide:
        return wide_table(case.wide, missing=case.missing)
    return (dated_table if case.dated else table)(missing=case.missing)


@cache
def grown(case: Case) -> Any:
    """Return the model of a case; a case is grown once."""
    data = data_of(case)
    kinds = {} if case.dated else KINDS
    changes = dict(case.changes)
    if case.kind == "clusters":
        columns = {name: data[name] for name in columns_of(case)}
        mixed = KINDS if case.recipe == "KPrototypes" else {}
        method = getattr(spinney, case.recipe)(random_state=0, **changes)
        declared = Declarations(**mixed)
        found = method.fit(read_table(columns, declarations=declared))
        return FittedClusters(found.clusters_)
    del data["value" if case.target == "class" else "class"]
    recipe = Recipe.named(case.recipe)
    recipe = recipe.changed(**changes) if changes else recipe
    if not case.trees:
        tree = spinney.grow(data, case.target, recipe=recipe, **kinds)
        return tree if case.kind == "tree" else tree.ruleset(data)
    settings = {"voting": case.voting, "class_weight": case.class_weight}
    settings = settings if case.target == "class" else {}
    return spinney.grow_forest(
        data, case.target, recipe=recipe, n_estimators=case.trees, **settings, **kinds
    )


def columns_of(case: Case) -> tuple[str, ...]:
    """Return the columns of a table that are not predicted."""
    names = [name for name in data_of(case) if name not in TARGETS]
    numbers_only = (
        not case.dated and case.kind == "clusters" and case.recipe != "KPrototypes"
    )
    return NUMBERS if numbers_only else tuple(names)


@cache
def rows_of(case: Case) -> tuple[dict[str, Any], ...]:
    """Return rows: training, cuts and their neighbours, missing and unseen values."""
    data = data_of(case)
    data = {name: data[name] for name in columns_of(case)}
    lines = zip(*data.values(), strict=True)
    training = [dict(zip(data, cells, strict=True)) for cells in lines]
    return (*training, *edge_rows(grown(case), training))


def edge_rows(model: Any, training: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows at every cut, one unit beside it, and with cells taken away."""
    draw, form = random.Random(1), portable(model)
    if form.centres is not None:
        rows = between_centres(form, training)
        if not form.centres.allows_missing:
            return rows
        return [*rows, *lacking([*rows, *training], draw), *unseen(form, training)]

    def row(name: str, value: Any) -> dict[str, Any]:
        return {**draw.choice(training), name: value}

    rows = lacking(training, draw)
    for column in form.columns:
        values = [None] if column.is_number else [None, UNSEEN, UNSEEN]
        rows += [row(column.name, value) for value in values]
    units = {column.name: column.unit for column in form.columns}
    for name, cut in cuts_of(form):
        rows += [row(name, cell) for cell in cells_around(cut, units[name])]
    return rows


def cells_around(cut: float, unit: str | None) -> list[Any]:
    """Return cells at a cut and beside it, as near as cells of a column can be."""
    if unit == DAY_UNIT:
        day = EPOCH.date() + datetime.timedelta(int(np.floor(cut)))
        return [day + datetime.timedelta(beside) for beside in (-1, 0, 1)]
    if unit == INSTANT_UNIT:
        instant = EPOCH + datetime.timedelta(microseconds=int(np.floor(cut * 1e6)))
        beside = (-1, 0, 1, 2)
        return [instant + datetime.timedelta(microseconds=each) for each in beside]
    around = (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf))
    return [float(number) for number in around]


def lacking(rows: list[dict[str, Any]], draw: random.Random) -> list[dict[str, Any]]:
    """Return a row for every pattern of missing cells, all and none of them too."""
    patterns = product((False, True), repeat=len(rows[0]))
    return [
        {
            name: None if lacks else cell
            for (name, cell), lacks in zip(
                draw.choice(rows).items(), pattern, strict=True
            )
        }
        for pattern in patterns
    ]


def unseen(form: Portable, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with a value that no training row has, in each column of texts."""
    names = [column.name for column in form.columns if not column.is_number]
    return [{**row, name: UNSEEN} for name in names for row in rows[:3]]


def cuts_of(form: Portable) -> Iterator[tuple[str, float]]:
    """Yield every threshold of a model with its column; a formula has no column."""
    asked = [(q.cell, cut) for n in form.nodes for q in n.splits for cut in q.cuts]
    for derived in form.derived:
        for clause in derived.clauses if isinstance(derived, FormConjunction) else ():
            if isinstance(clause.accepted, tuple):
                asked += [(clause.cell, cut) for cut in clause.accepted]
    for cell, cut in asked:
        if cell < len(form.columns) and abs(cut) < LARGEST:
            yield form.columns[cell].name, cut


def between_centres(form: Portable, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in the middle between two centres, where rounding decides."""
    assert form.centres is not None
    found = []
    for one, other in combinations(range(len(form.target.classes)), 2):
        row, beside = dict(rows[0]), dict[str, list[Any]]()
        for each in form.centres.numbers:
            middle = (each.centres[one] + each.centres[other]) / 2 * each.scale
            column = form.columns[each.cell]
            beside[column.name] = cells_around(middle, column.unit)
            row[column.name] = beside[column.name][1]
        found.append(row)
        found += [{**row, name: cell} for name in beside for cell in beside[name]]
    return found


def outputs_of(model: Any, rows: Any) -> tuple[np.ndarray, list[Any] | None]:
    """Return what a model says of rows: outputs, and classes if it has any."""
    table = {name: [row[name] for row in rows] for name in rows[0]}
    outputs = model.outputs(table)
    target = model.schema.target
    if model.kind == "clusters":
        return outputs, [int(label) for label in outputs[:, 0]]
    if model.kind == "rules":
        return outputs, model.predict(table).tolist()
    if target.is_numeric:
        return outputs, None
    labels = labels_of(outputs, target.costs)
    return outputs, [target.classes[label] for label in labels]
