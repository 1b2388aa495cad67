"""Clusters as tables and text: for the command that finds them, and for others."""

import os
import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from spinney._support.text import number_text, signs_to_ascii
from spinney.cli.output import as_json, write_data, write_text
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.clustered.plan import Found
    from spinney.clustered.readable import ReadableClusters
    from spinney.data.table import Table

__all__ = [
    "is_clusters",
    "line_width",
    "predict_clusters",
    "rows_as_csv",
    "show_clusters",
]


def line_width() -> int | None:
    """Return how wide lines may be; None where nobody looks at them."""
    if os.environ.get("COLUMNS", "").isdigit():
        return max(20, int(os.environ["COLUMNS"]))
    if sys.stdout is not None and sys.stdout.isatty():
        return get_terminal_size().columns
    return None


def rows_as_csv(found: "Found", *, raw: bool) -> str:
    """Return the rows with their own columns, their cluster and the distance to it."""
    from spinney.cli.predictions import lines_as_csv

    columns = [_column_cells(column) for column in found.table.columns]
    columns += [found.labels.tolist(), found.distances.tolist()]
    header = [*found.table.names, "cluster", "distance"]
    return lines_as_csv(header, zip(*columns, strict=True), raw=raw, seen=False)


def _column_cells(column: Any) -> list[Any]:
    """Return the values of a column as they are written; a missing one is empty."""
    if column.kind != "numeric":
        return ["" if code < 0 else column.levels[code] for code in column.cells]
    if column.unit is None:
        return ["" if cell != cell else cell for cell in column.cells.tolist()]
    return [
        "" if cell != cell else number_text(cell, column.unit)
        for cell in column.cells.tolist()
    ]


def is_clusters(path: str) -> bool:
    """Return whether a file holds clusters."""
    from spinney.files.model_kind import CLUSTERS, format_name

    return format_name(path) == CLUSTERS


def show_clusters(
    path: str, of_trees: dict[str, Any], *, ascii_: bool, json_: bool
) -> None:
    """Print the clusters of a file; what is said of trees is refused."""
    from spinney.cli.information import about_clusters
    from spinney.cli.options import load_any

    _refuse(of_trees)
    model: Any = load_any(path)
    if json_:
        write_data(as_json("clusters", about_clusters(model), ascii_only=ascii_))
        return
    text = model.text(width=line_width())
    write_text(lambda plain: signs_to_ascii(text) if plain else text, ascii_only=ascii_)


def predict_clusters(
    model: "ReadableClusters", table: "Table", options: dict[str, Any], *, seen: bool
) -> None:
    """Write the cluster of each row of a table, and the distance to it."""
    from spinney.cli.predictions import lines_as_csv

    _refuse({"--probabilities": options["probabilities"], "--leaf": options["leaf"]})
    labels, distances = (each.tolist() for each in model.assign(table))
    if options["json_"]:
        rows = [
            {"label": label, "distance": distance}
            for label, distance in zip(labels, distances, strict=True)
        ]
        content = {
            "target": "cluster",
            "classes": list(range(len(model.clusters_))),
            "rows": rows,
        }
        text = as_json("predict", content)
    else:
        text = lines_as_csv(
            ["cluster", "distance"],
            zip(labels, distances, strict=True),
            raw=options["raw"],
            seen=seen,
        )
    write_data(text, options["output"], force=options["force"])


def _refuse(of_trees: dict[str, Any]) -> None:
    for option, value in of_trees.items():
        if value:
            msg = f"{option} is of trees, and this file holds clusters: leave it out"
            raise ParameterError(msg)
