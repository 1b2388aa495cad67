"""Fitted clusters: text, assignment of rows, files and exports.

This module does not import scikit-learn, so that the shell starts quickly. Estimators
add its conventions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats, Integers
from spinney._support.text import figure, number_text, percent_text, shown, weight_text
from spinney._support.text_table import in_columns, number_cells
from spinney.data import Attribute, Schema, Table, TextFormat
from spinney.data.readers import read_with_schema
from spinney.extensions.clustering.clusters import BATCHES, MIXED, Clusters
from spinney.models import FittedBase
from spinney.models.facts import origin_facts
from spinney.output.export_formats import exported
from spinney.output.file import save_model

if TYPE_CHECKING:
    import os

    from spinney.extensions.pictures import Picture


class FittedClusters(FittedBase):
    """Clusters with methods that show, assign, save and export; see ``print``."""

    kind = "clusters"

    def __init__(self, clusters: Clusters) -> None:
        self.clusters_ = clusters

    @property
    def schema(self) -> Schema:
        """The columns by which tables are read."""
        return self.clusters_.schema

    @property
    def _needed(self) -> range:
        """All attributes: a distance uses all of them."""
        return range(len(self.schema.attributes))

    @property
    def _may_be_empty(self) -> bool:
        """Whether cells may be missing, as in k-prototypes."""
        return self.clusters_.method == MIXED

    def facts(self) -> dict[str, Any]:
        """Return the clusters and their origin as plain data."""
        clusters = self.clusters_
        columns = {a.name: a.kind for a in clusters.schema.attributes}
        return {
            "method": clusters.method,
            "settings": dict(clusters.settings),
            "clusters": len(clusters),
            "sizes": clusters.sizes.tolist(),
            "centroids": [
                {
                    name: None if value != value else value  # NaN is unknown
                    for name, value in zip(columns, line, strict=True)
                }
                for line in clusters.values.tolist()
            ],
            "gamma": clusters.gamma if clusters.method == "k-prototypes" else None,
            "inertia": clusters.inertia,
            "iterations": clusters.n_iterations,
            "found_on": origin_facts(clusters.fingerprint),
            "columns": columns,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, *, width: int | None = None) -> str:
        """Return sizes and centroids as a table, in blocks if it is too wide."""
        clusters = self.clusters_
        sizes = clusters.sizes
        proportions = sizes / (float(sizes.sum()) or 1.0)
        columns = [
            ["cluster", *map(str, range(len(clusters)))],
            ["rows", *map(weight_text, sizes)],
            ["share", *(percent_text(p, 1) for p in proportions)],
        ]
        values = clusters.values
        for index, attribute in enumerate(clusters.schema.attributes):
            cells = _cells(attribute, values[:, index].tolist())
            columns.append([shown(attribute.name), *cells])
        table = in_columns(columns, width=width, indent=0)
        return "\n".join([*table, "", *self._notes(clusters)])

    def _notes(self, clusters: Clusters) -> list[str]:
        n = clusters.n_iterations
        noun, plural = "iteration", "iterations"
        if clusters.method == BATCHES:
            noun, plural = "pass", "passes"
        how = f"{clusters.method}, {n} {noun if n == 1 else plural}"
        lines = [f"inertia {figure(clusters.inertia)} ({how})"]
        kinds = {attribute.kind for attribute in clusters.schema.attributes}
        if clusters.method == MIXED and kinds != {"numeric"}:
            gamma = figure(clusters.gamma)
            lines.append(f"weight of a categorical mismatch: γ = {gamma}")
        if clusters.standardised:
            lines.append("columns standardised (divided by their standard deviation)")
        return lines

    def plot(self) -> "Picture":
        """Return a picture with a column for each cluster and its proportion of rows.

        A bar under a number shows its difference from the mean of all clusters, in
        standard deviations between clusters. ``save(path)`` writes .svg, .html, .png or
        .pdf.
        """
        pictures = registry.load("operation", "picture")
        from spinney.extensions.clustering.cluster_svg import to_cluster_svg

        drawn: Picture = pictures.Picture(to_cluster_svg(self.clusters_))
        return drawn

    def _picture(self) -> str:
        return self.plot().svg

    # Reading tables, and assigning their rows

    def read(
        self,
        data: Any,
        *,
        format: str | None = None,
        encoding: str | None = None,
        text_format: TextFormat | None = None,
    ) -> Table:
        """Read a table by the clusters' columns, which are matched by name."""
        return read_with_schema(
            self.schema,
            self._needed,
            data,
            may_be_empty=self._may_be_empty,
            format=format,
            encoding=encoding,
            text_format=text_format,
        )

    def assign(self, table: Table) -> tuple[Integers, Floats]:
        """Return the cluster of each row of a table, and the distance to it."""
        return self.clusters_.assign(table)

    def outputs(self, X: Any) -> Floats:
        """Return the cluster of each row, rows × 1."""
        labels, _ = self.assign(self.read(X))
        return np.asarray(labels[:, np.newaxis], dtype=np.float64)

    # Files and exports

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the clusters to a file; :func:`spinney.load` reads it back."""
        save_model(self.clusters_, path, overwrite=overwrite)

    def export(
        self,
        format: str,
        *,
        path: "str | os.PathLike[str] | None" = None,
        dialect: str | None = None,
        table: str | None = None,
        keep: Sequence[str] | None = None,
    ) -> Any:
        """Return the clusters in a format, and write them to a path.

        The formats are "text", "json" (for :func:`spinney.load`), "html" (the page of
        :meth:`explore`), the pictures "svg", "png" and "pdf" (the last two are bytes
        and need Matplotlib), and programs that assign rows: "python", "javascript",
        "c", "onnx", "pmml" (k-means only) and "sql" with ``dialect``, ``table`` and
        ``keep``. See ``docs/exports.md``.
        """
        return exported(
            self, format, path=path, dialect=dialect, table=table, keep=keep
        )


def _cells(attribute: Attribute, values: list[Any]) -> list[str]:
    """Return the texts of one column of centroids."""
    if attribute.kind != "numeric":
        return ["-" if value is None else shown(value) for value in values]
    if attribute.unit is not None:
        return [number_text(round(value, 6), attribute.unit) for value in values]
    return ["-" if cell == "nan" else cell for cell in number_cells(values)]
