"""The time to add a batch to a tree, beside growing it again on all rows.

    python -m benchmarks.updates [--rows 20000] [--recipe c4.5]

A table is generated: ten columns, numbers and names, of which four tell the class but
for one row in twenty. Seconds are those of the processor, of ``model.updated`` and of
``spinney.grow``; cells are those that were counted.
"""

import argparse
import time

import numpy as np

import spinney
from spinney.extensions.incremental import incremental_source


def drawn(random: np.random.Generator, n_rows: int) -> dict[str, list[object]]:
    """Return a table of so many rows."""
    numbers = random.normal(size=(n_rows, 6)).round(3)
    names = random.choice(list("abcdefgh"), (n_rows, 4))
    risky = (numbers[:, 0] > 0.3) ^ (numbers[:, 1] > 0) & np.isin(
        names[:, 0], ["a", "b"]
    )
    risky ^= (names[:, 1] == "c") & (numbers[:, 2] < -1)
    risky ^= random.random(n_rows) < 0.05
    table: dict[str, list[object]] = {
        **{f"x{at}": numbers[:, at].tolist() for at in range(6)},
        **{f"n{at}": names[:, at].tolist() for at in range(4)},
    }
    table["risk"] = np.where(risky, "yes", "no").tolist()
    return table


def main() -> None:
    """Print a line for each size of a batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--recipe", default="c4.5")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    sources: list[incremental_source.IncrementalSource] = []
    begin = incremental_source.IncrementalSource.__init__

    def noted(self: incremental_source.IncrementalSource, *arguments: object) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        sources.append(self)

    incremental_source.IncrementalSource.__init__ = noted  # type: ignore[method-assign]
    first = drawn(random, options.rows)
    model = spinney.grow(first, "risk", recipe=options.recipe, keep_rows=True)
    start = time.process_time()
    model = model.updated(drawn(random, 1))
    seconds = time.process_time() - start
    print(f"{options.recipe}, {options.rows:,} rows, {len(model.tree)} nodes")
    print(f"first update, which counts all: {seconds:.2f} s, {sources[-1].n_counted:,}")
    start = time.process_time()
    spinney.grow(first, "risk", recipe=options.recipe)
    print(f"grown anew: {time.process_time() - start:.2f} s")
    for size in (1, 10, 100, 1000):
        batch = drawn(random, size)
        start = time.process_time()
        model = model.updated(batch)
        seconds = time.process_time() - start
        print(f"batch of {size}: {seconds:.2f} s, {sources[-1].n_counted:,} cells")


if __name__ == "__main__":
    main()
