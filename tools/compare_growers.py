"""Grow the same models with compiled kernels loaded and not, and compare their files.

    python -m tools.compare_growers [--count 3000] [--first 0] [--seed 0]

Who grows a tree depends on what a process has loaded: the plain learner, or compiled
kernels (``growth/growers.py``). The promise is that the file of a model is the same to
the byte. So three processes grow the same models of random tables: one as if no kernels
were loaded, one as if all were, and one as if some were, by the toss of a coin each
time somebody asks. Each model is compared in two ways: the tree (attributes, thresholds
to the last bit, rows), and the bytes of its file. The exit code is 1 where any differ.

Recipes are auto, id3, c4.5, cart, chaid, m5 and forests; targets are classes or
numbers; tables have numeric, nominal and ordinal columns, of 10 to 500 rows, and some
have missing cells, weights or class weights.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import spinney
from spinney._support.threads import limited_threads
from spinney.errors import SpinneyError
from spinney.growth import growers
from spinney.output.file.container import read_header, unpack
from spinney.trees import Tree

__all__ = ["KERNELS", "Case", "compared", "grown", "kernels"]

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ["low", "mid", "high", "top"]
CLASS_RECIPES = ("auto", "auto", "id3", "c4.5", "cart", "chaid", "forest")
NUMBER_RECIPES = ("auto", "auto", "cart", "cart", "m5", "chaid", "forest")
KERNELS = ("none", "all", "some")
REFUSED = "refused"

Case = dict[str, Any]


@contextmanager
def kernels(which: str, number: int = 0) -> Iterator[None]:
    """Let growers be chosen as if no kernels were loaded, or all, or some."""
    toss = Random(number)
    answers: dict[str, Callable[[], bool]] = {
        "none": lambda: False,
        "all": lambda: True,
        "some": lambda: toss.random() < 0.5,
    }
    answer, before = answers[which], growers.worth_loading
    growers.worth_loading = lambda *loops, instead: answer()
    try:
        yield
    finally:
        growers.worth_loading = before


def case(seed: int, number: int) -> Case:
    """Return what to grow; the same for the same numbers."""
    random = np.random.default_rng((seed, number))
    numeric = bool(random.random() < 0.5)
    recipe = str(random.choice(NUMBER_RECIPES if numeric else CLASS_RECIPES))
    n_rows = int(np.exp(random.uniform(np.log(10), np.log(500))))
    rows, settings = _rows(random, n_rows, numeric=numeric)
    if random.random() < 0.25:
        rows["weight"] = _weights(random, n_rows)
        settings["weight"] = "weight"
    if not numeric and recipe != "forest" and random.random() < 0.2:
        settings["class_weight"] = "balanced"
    if recipe == "forest":
        settings["n_estimators"] = 5
    else:
        settings |= {"recipe": recipe, **_settings(random, recipe)}
    return {"recipe": recipe, "numeric": numeric, "rows": rows, "settings": settings}


def _rows(
    random: np.random.Generator, n_rows: int, *, numeric: bool
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return columns of all kinds, and how they are declared."""
    rows: dict[str, list[Any]] = {}
    signal, ordinal = np.zeros(n_rows), []
    for place in range(int(random.integers(1, 6))):
        name, kind = f"x{place}", random.choice(["fine", "coarse", "word", "level"])
        if kind in ("fine", "coarse"):
            cells = random.normal(size=n_rows).round(6 if kind == "fine" else 1)
            effect = cells
        else:
            n_values = int(random.integers(2, 8)) if kind == "word" else len(LEVELS)
            codes = random.integers(0, n_values, n_rows)
            effect = random.normal(size=n_values)[codes]
            names = np.array(LEVELS if kind == "level" else list("abcdefgh"))
            cells = names[codes]
            if kind == "level":
                ordinal.append(f"{name}:{'<'.join(LEVELS)}")
        signal += effect * random.random()
        rows[name] = cells.tolist()
    noise = random.random() * random.normal(size=n_rows)
    rows["y"] = _target(random, signal + noise, numeric=numeric)
    if random.random() < 0.4:
        share = random.uniform(0, 0.2)
        for name in rows:
            gaps = random.random(n_rows) < share
            if name != "y":
                own = zip(rows[name], gaps, strict=True)
                rows[name] = [None if gap else cell for cell, gap in own]
    kind = "numeric" if numeric else "nominal"
    return rows, {"ordinal": ordinal, kind: ["y"]}


def _target(
    random: np.random.Generator, signal: np.ndarray, *, numeric: bool
) -> list[Any]:
    """Return numbers, whole or not, or classes, two at least."""
    if numeric:
        scale, digits = random.choice([(1, 9), (1, 2), (10, 0), (1e5, 3)])
        return (signal * scale).round(int(digits)).tolist()
    n_classes = int(random.integers(2, 6))
    cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    classes = np.searchsorted(cuts, signal)
    classes[:n_classes] = np.arange(n_classes)[: len(classes)]
    return np.array(list("pqrstu"))[classes].tolist()


def _weights(random: np.random.Generator, n_rows: int) -> list[float]:
    """Return weights: whole, halves, of many digits, or very different ones."""
    kind = random.integers(4)
    if kind == 0:
        return random.integers(1, 6, n_rows).astype(float).tolist()
    if kind == 1:
        return (random.integers(1, 9, n_rows) / 2).tolist()
    if kind == 2:
        return random.uniform(0.1, 3, n_rows).tolist()
    return (10.0 ** random.uniform(-4, 4, n_rows)).tolist()


def _settings(random: np.random.Generator, recipe: str) -> dict[str, Any]:
    """Return settings that a recipe has use for; most often none."""
    some: dict[str, list[dict[str, Any]]] = {
        "cart": [
            {"pruning": "cost-complexity"},
            {"missing_policy": "branch"},
            {"max_leaves": 6},
        ],
        "c4.5": [{"pruning": "none"}, {"max_depth": 4}],
        "id3": [{"max_depth": 3}, {"min_samples_leaf": 3}],
    }
    choices = some.get(recipe, [])
    if not choices or random.random() < 0.5:
        return {}
    return choices[int(random.integers(len(choices)))]


def grown(given: Case) -> Any:
    """Return the model of a case; an error of ours as it is."""
    given = {**given, "settings": dict(given["settings"])}
    grow = spinney.grow_forest if given["recipe"] == "forest" else spinney.grow
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return grow(given["rows"], "y", **given["settings"])
        except SpinneyError as error:
            return error


def facts_of(model: Any, path: Path) -> dict[str, str]:
    """Return what a model is compared by: its tree, its file, and parts of that."""
    if isinstance(model, SpinneyError):
        return {"tree": str(model), "file": str(model), REFUSED: str(model)}
    model.save(path, overwrite=True)
    data = path.read_bytes()
    header = read_header(data)
    trees = model.trees if hasattr(model, "trees") else [model]
    parts = {name: _short(text.encode()) for name, text in header.texts.items()}
    for name, array in unpack(data, header).items():
        parts[name] = _short(array.tobytes())
    shapes = b"".join(_shape_of(each.tree) for each in trees)
    return {"tree": _short(shapes), "file": _short(data), **parts}


def _shape_of(tree: Tree) -> bytes:
    """Return the shape of a tree, the splits of its nodes and their numbers of rows."""
    arrays = tree.arrays
    whole = ("parent", "attribute", "listed", "branches", "rows")
    parts = [getattr(arrays, name).astype(np.int64) for name in whole]
    parts.append(arrays.missing[arrays.inner].astype(np.int64))
    parts += [arrays.cut[arrays.inner] + 0.0, arrays.cuts]
    return b"".join(part.tobytes() for part in parts)


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def worker(which: str, seed: int, numbers: range) -> None:
    """Print a line of JSON for each model: its facts, with these kernels."""
    with TemporaryDirectory() as folder, limited_threads(1):
        for number in numbers:
            with kernels(which, number):
                facts = facts_of(grown(case(seed, number)), Path(folder, "m"))
            print(json.dumps(facts), flush=True)


def compared(
    seed: int, numbers: range, refused: Counter[str]
) -> Iterator[tuple[int, str, list[str]]]:
    """Give the models that differ: number, recipe, and what is not the same.

    ``refused`` counts the messages of models that no process grows.
    """
    command = [sys.executable, "-m", "tools.compare_growers", "--seed", str(seed)]
    command += ["--first", str(numbers.start), "--count", str(len(numbers))]
    workers = [
        subprocess.Popen(
            [*command, "--worker", which], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for which in KERNELS
    ]
    for number in numbers:
        lines = [each.stdout.readline() for each in workers if each.stdout]
        if not all(lines):
            msg = f"a process ended at model {number}"
            raise RuntimeError(msg)
        one, *others = map(json.loads, lines)
        if REFUSED in one:
            refused[one[REFUSED]] += 1
        keys = {key for facts in (one, *others) for key in facts}
        same = {k for k in keys if all(f.get(k) == one.get(k) for f in others)}
        if keys != same:
            yield number, case(seed, number)["recipe"], sorted(keys - same)
    for each in workers:
        each.communicate()


def main() -> int:
    """Print the models that differ, and how many; the exit code is 1 if any do."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000, help="how many models")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=0, help="draws other models")
    parser.add_argument("--worker", choices=KERNELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    if options.worker:
        worker(options.worker, options.seed, numbers)
        return 0
    found, refused = Counter[str](), Counter[str]()
    for number, recipe, what in compared(options.seed, numbers, refused):
        found["tree" if "tree" in what else "file"] += 1
        print(f"model {number} ({recipe}): {', '.join(what)}", flush=True)
    print(
        f"growers: {options.count:,} models, {found['tree']} trees differ, "
        f"{found['file']} other files differ, {refused.total()} are refused"
    )
    for message, times in refused.most_common():
        print(f"refused {times} times: {message}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
