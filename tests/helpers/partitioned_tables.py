"""Columns as partitions of a table, one of them without rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Columns = dict[str, list[Any]]
SHARES = (0.0, 0.2, 0.2, 0.3, 0.6, 0.9, 1.0)


def in_arrow(columns: Columns) -> list[pa.Table]:
    """Return partitions of different lengths; a column of nothing has no type."""
    table = pa.table(list(map(pa.array, columns.values())), names=list(columns))
    cuts = [round(share * len(table)) for share in SHARES]
    return [table.slice(low, high - low) for low, high in pairwise(cuts)]


@contextmanager
def in_partitions(columns: Columns) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Give partitions that are counted in this process, one after the other."""
    yield in_arrow(columns), {"source": "parts"}


def in_parquet(folder: Path, source: str) -> Callable[[Columns], Any]:
    """Return what writes partitions as files; they are found by a star."""

    @contextmanager
    def opened(columns: Columns) -> Iterator[tuple[Any, dict[str, Any]]]:
        for number, part in enumerate(in_arrow(columns)):
            pq.write_table(part, folder / f"part {number}.parquet")
        yield str(folder / "part *.parquet"), {"source": source}

    return opened
