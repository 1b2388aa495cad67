"""Hoeffding trees beside river's, on generated streams: speed, accuracy, memory.

    python -m benchmarks.streams [--rows 100000] [--streams led] [--without-river]

Each row is predicted before it is learned, and the share of rows that were predicted
right is the accuracy. Leaves tell by their counts ("mean", river's "mc") or adapt by
naive Bayes ("adaptive", river's "nba", which is its default); all else is as each
program has it unless told otherwise, with the same delta, grace and tie. Seconds are
those of the processor: of ``partial_fit`` on data frames of 50,000 rows, and of
``predict_one`` and ``learn_one``, without the time that it takes to make rows. Every
cell of the table is a process of its own; megabytes are by how much its peak grew while
it learned, with one batch of rows.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

BATCH = 50_000
LEAVES = {"mean": "mc", "adaptive": "nba"}

Batches = Iterator[tuple[pd.DataFrame, np.ndarray]]


def random_tree(n_rows: int) -> Batches:
    """Five numeric and five nominal columns; a random tree has the class."""
    random = np.random.default_rng(1)
    questions = _questions(random)
    for size in _sizes(n_rows):
        numbers = random.random((size, 5))
        names = random.integers(0, 5, (size, 5))
        cells = np.hstack([numbers, names])
        frame = pd.DataFrame(numbers, columns=[f"x{at}" for at in range(5)])
        for at in range(5):
            frame[f"n{at}"] = pd.Categorical.from_codes(names[:, at], list("abcde"))
        yield frame, _answers(questions, cells)


def _questions(random: np.random.Generator) -> list[tuple[int, float, int]]:
    """Return the nodes of a full tree of depth 7, each a column, a cut and a class."""
    return [
        (int(a), float(random.random() if a < 5 else random.integers(0, 4)), int(c))
        for a, c in zip(
            random.integers(0, 10, 255), random.integers(0, 2, 255), strict=True
        )
    ]


def _answers(questions: list[tuple[int, float, int]], cells: np.ndarray) -> np.ndarray:
    node = np.zeros(len(cells), np.int64)
    column = np.array([a for a, _, _ in questions])
    cut = np.array([value for _, value, _ in questions])
    for _ in range(7):
        value = cells[np.arange(len(cells)), column[node]]
        node = 2 * node + 1 + (value > cut[node])
    return np.array([label for _, _, label in questions])[node]


def hyperplane(n_rows: int) -> Batches:
    """Ten numbers; a plane that turns as rows come, and one row in twenty is wrong."""
    random = np.random.default_rng(2)
    weights, turning = random.random(10), np.zeros(10)
    turning[:2] = 0.000_02, -0.000_02
    for size in _sizes(n_rows):
        cells = random.random((size, 10))
        planes = weights + np.arange(1, size + 1)[:, None] * turning
        weights = np.clip(planes[-1], -1.0, 2.0)
        turning = np.where((weights < 0) | (weights > 1), -turning, turning)
        above = (cells * planes).sum(axis=1) > planes.sum(axis=1) / 2
        wrong = random.random(size) < 0.05
        frame = pd.DataFrame(cells, columns=[f"x{at}" for at in range(10)])
        yield frame, (above ^ wrong).astype(int)


SEGMENTS = ("1110111", "0010010", "1011101", "1011011", "0111010",
            "1101011", "1101111", "1010010", "1111111", "1111011")  # fmt: skip


def led(n_rows: int) -> Batches:
    """Seven segments of a digit, each wrong one time in ten; 17 flags say nothing."""
    random = np.random.default_rng(3)
    lit = np.array([[int(each) for each in digit] for digit in SEGMENTS])
    for size in _sizes(n_rows):
        digits = random.integers(0, 10, size)
        shown = lit[digits] ^ (random.random((size, 7)) < 0.1)
        cells = np.hstack([shown, random.integers(0, 2, (size, 17))])
        columns = {
            f"n{at}": pd.Categorical.from_codes(cells[:, at], ["off", "on"])
            for at in range(24)
        }
        yield pd.DataFrame(columns), digits


def _sizes(n_rows: int) -> Iterator[int]:
    for start in range(0, n_rows, BATCH):
        yield min(BATCH, n_rows - start)


STREAMS: dict[str, Callable[[int], Batches]] = {
    "random_tree": random_tree,
    "hyperplane": hyperplane,
    "led": led,
}


def by_spinney(stream: str, n_rows: int, leaves: str, drift: int) -> dict[str, Any]:
    """Return how a stream fares here."""
    from spinney import Recipe, TreeClassifier

    recipe = Recipe.named("hoeffding").changed(leaves=leaves, drift=bool(drift))
    seconds, model = 0.0, None
    for frame, classes in STREAMS[stream](n_rows):
        if model is None:
            warm = TreeClassifier(recipe)
            warm.partial_fit(frame[:1000], classes[:1000])  # loads the kernels
            warm.predict(frame[:10])
            model, before = TreeClassifier(recipe), _peak()
        start = time.process_time()
        model.partial_fit(frame, classes)
        seconds += time.process_time() - start
    learned = model.learned_
    return {
        "accuracy": learned.accuracy,
        "seconds": seconds,
        "megabytes": _peak() - before,
        "leaves": model.tree.n_leaves,
        "changes": learned.n_changes,
    }


def by_river(stream: str, n_rows: int, leaves: str, drift: int) -> dict[str, Any]:
    """Return how a stream fares by river."""
    from river import tree

    kind = (
        tree.HoeffdingAdaptiveTreeClassifier if drift else tree.HoeffdingTreeClassifier
    )
    seconds, right, model = 0.0, 0, None
    for frame, classes in STREAMS[stream](n_rows):
        rows, labels = frame.to_dict("records"), classes.tolist()
        if model is None:
            names = [name for name in frame if name.startswith("n")]
            settings = {"seed": 0} if drift else {}
            model, before = (
                kind(
                    leaf_prediction=LEAVES[leaves],
                    nominal_attributes=names or None,
                    **settings,
                ),
                _peak(),
            )
        start = time.process_time()
        for row, label in zip(rows, labels, strict=True):
            right += model.predict_one(row) == label
            model.learn_one(row, label)
        seconds += time.process_time() - start
    return {
        "accuracy": right / n_rows,
        "seconds": seconds,
        "megabytes": _peak() - before,
        "leaves": model.n_leaves,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


PROGRAMS = {"spinney": by_spinney, "river": by_river}


def in_process(program: str, *arguments: Any) -> dict[str, Any]:
    """Return what a program does, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.streams"]
    command += ["--one", json.dumps([program, *arguments])]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Print a line for each stream, way to tell and program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=[*STREAMS])
    parser.add_argument("--leaves", nargs="+", choices=LEAVES, default=[*LEAVES])
    parser.add_argument("--drift", action="store_true")
    parser.add_argument("--without-river", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        program, *arguments = json.loads(options.one)
        print(json.dumps(PROGRAMS[program](*arguments)))
        return
    print(f"{options.rows:,} rows{', watching for changes' * options.drift}")
    print("stream       leaves    program   accuracy  rows/s    seconds  MB   leaves")
    for stream in options.streams:
        for leaves in options.leaves:
            found = {}
            for program in ("spinney", "river")[: 2 - options.without_river]:
                given = stream, options.rows, leaves, options.drift
                found[program] = each = in_process(program, *given)
                print(
                    f"{stream:12} {leaves:9} {program:9} {100 * each['accuracy']:7.2f} "
                    f"{options.rows / each['seconds']:10,.0f} {each['seconds']:9.2f} "
                    f"{each['megabytes']:5.0f} {each['leaves']:6}",
                    flush=True,
                )
            if "river" in found:
                ours, theirs = found["spinney"], found["river"]
                times = theirs["seconds"] / ours["seconds"]
                points = 100 * (ours["accuracy"] - theirs["accuracy"])
                print(f"{'':22} {times:.0f} times as fast, {points:+.2f} points")


if __name__ == "__main__":
    main()
