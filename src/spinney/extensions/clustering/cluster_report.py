"""The printed reports of ``spinney cluster`` and, for clusters, ``spinney show``."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from spinney._support.text import first_of, number_text, percent_text, signs_to_ascii
from spinney.cli.shell_output import as_json, line_width, say, write_data, write_text
from spinney.errors import Setting, warn

if TYPE_CHECKING:
    from spinney.data import Column, Table
    from spinney.data.writers import RowStream
    from spinney.extensions.clustering.models.fit_clusters import ClusterFit
    from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

COLUMNS_NAMED = 6


@dataclass(frozen=True, slots=True, eq=False)
class ClusterReport:
    """Clusters with their table and the columns used."""

    fit: "ClusterFit"
    table: "Table"
    used: "Table"
    is_remote: bool = False

    def write(
        self, *, ascii_only: bool, as_data: bool, explain: bool, rows_shown: int | None
    ) -> None:
        """Print the clusters as text or JSON; ``explain`` adds iterations and rules."""
        if as_data:
            facts = self._facts(explain=explain, rows_shown=rows_shown)
            write_data(as_json("cluster", facts, ascii_only=ascii_only))
        else:
            text = self._text(explain=explain, rows_shown=rows_shown)
            _print_text(text, ascii_only=ascii_only)

    def _facts(self, *, explain: bool, rows_shown: int | None) -> dict[str, Any]:
        from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

        fit = self.fit
        facts = FittedClusters(fit.clusters).facts()
        facts["converged"] = fit.converged
        facts["choice"] = None if fit.choice is None else fit.choice.as_dict()
        facts["labels"] = facts["distances"] = None
        if not self.is_remote:
            facts["labels"] = fit.labels.tolist()
            facts["distances"] = fit.distances().tolist()
        if explain:
            trace = fit.trace(rows_shown)
            facts["trace"] = None if trace is None else trace.as_dict()
            facts["explanation"] = self._explanation()
        return facts

    def _text(self, *, explain: bool, rows_shown: int | None) -> str:
        from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

        fit, width = self.fit, line_width()
        parts = [self._heading()]
        if fit.choice is not None:
            parts.append(fit.choice.text(width=width))
        else:
            parts[0] += f"\nk = {len(fit.clusters)}, as given"
        trace = fit.trace(rows_shown) if explain else None
        if trace is not None:
            note = "each column divided by its standard deviation:\n\n"
            scaled = fit.clusters.standardised
            parts.append((note if scaled else "") + trace.text(width=width))
        parts.append(FittedClusters(fit.clusters).text(width=width) + self._ending())
        if explain:
            nothing = "one cluster only: there is nothing to explain"
            parts.append(self._explanation() or nothing)
        return _wrap_text("\n\n".join(parts), width)

    def _heading(self) -> str:
        names, n_rows = self.used.names, self.fit.clusters.fingerprint.n_rows
        return (
            f"{n_rows} row{'s' * (n_rows != 1)}, "
            f"{len(names)} column{'s' * (len(names) != 1)}: "
            f"{first_of(names, COLUMNS_NAMED)}"
        )

    def _ending(self) -> str:
        if self.fit.converged or self.fit.plan.tol:
            return ""
        return f"\nnot converged within --max-iter {self.fit.method.max_iter}: use more"

    def _explanation(self) -> str | None:
        """Return rules and profiles; None for one cluster."""
        from spinney.extensions.clustering.explain_clusters import explain_clusters

        labels, weights = self.fit.labels, self.fit.weights
        counted = labels if weights is None else labels[weights > 0]
        if len(set(counted.tolist())) < 2:
            return None
        return explain_clusters(self.used, labels, sample_weight=weights).text()

    def rows(self) -> "RowStream":
        """Return the rows with their cluster and the distance to it."""
        from spinney.data.readers import type_of_values
        from spinney.data.writers import Field, RowStream

        fields, cells = [], []
        for column in self.table.columns:
            kind = "DOUBLE" if column.unit is None else "VARCHAR"
            if column.kind != "numeric":
                kind = type_of_values(column.levels)
            fields.append(Field(column.name, kind))
            cells.append(_column_cells(column))
        cells += [self.fit.labels.tolist(), self.fit.distances().tolist()]
        fields += [Field("cluster", "BIGINT"), Field("distance", "DOUBLE")]
        return RowStream(tuple(fields), [cells])


def _column_cells(column: "Column") -> list[Any]:
    """Return the values of a column for a file; None if missing."""
    if column.kind != "numeric":
        return [None if code < 0 else column.levels[code] for code in column.cells]
    unit = column.unit
    return [
        None if cell != cell else cell if unit is None else number_text(cell, unit)
        for cell in column.cells.tolist()
    ]


def _wrap_text(text: str, width: int | None) -> str:
    """Return text wrapped to a width, with continuation lines indented."""
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        is_wide = len(line) > width
        lines += wrap(line, width, subsequent_indent=indent) if is_wide else [line]
    return "\n".join(lines)


def _print_text(text: str, *, ascii_only: bool) -> None:
    """Print a text, in ASCII if requested or if the output needs it."""
    write_text(
        lambda plain: signs_to_ascii(text) if plain else text, ascii_only=ascii_only
    )


# Notes


# The fraction of distinct values from which a nominal column is an identifier.
IDENTIFIER_FRACTION = 0.9
# The fraction of the total variance from which a column dominates the distances.
DOMINANT_FRACTION = 0.99


def print_notes(report: ClusterReport, *, quiet: bool) -> None:
    """Warn of identifiers and empty clusters; unless quiet, suggest settings."""
    columns = report.used.columns
    for column in columns if len(columns) > 1 else ():
        name = column.name
        if (why := _identifier_reason(column)) is not None:
            remedy = ("exclude it (", Setting("ignore", [name]), ")")
            warn(f"column {name!r} {why}: it looks like an identifier", remedy=remedy)
    clusters = report.fit.clusters
    if empty := int((clusters.weights == 0).sum()):
        warn(
            f"{empty} of {len(clusters)} clusters are empty, because there are no more "
            "distinct rows"
        )
    if not quiet:
        _suggest_larger_k(report)
        _suggest_standardising(report)


def _identifier_reason(column: "Column") -> str | None:
    """Return why a column looks like an identifier, or None."""
    from spinney.data import is_row_numbering

    if is_row_numbering(column, fewest=5):
        return "numbers the rows"
    n_rows, n_names = len(column.cells), len(column.levels)
    if n_rows <= 2 or column.missing.any() or column.kind != "nominal":
        return None
    if n_names < IDENTIFIER_FRACTION * n_rows:
        return None
    if n_names == n_rows:
        return "has a different value in every row"
    return f"has {n_names} values in {n_rows} rows"


def _suggest_larger_k(report: ClusterReport) -> None:
    """Suggest larger candidates if the largest one was chosen."""
    choice = report.fit.choice
    if choice is None or len(choice.curve) < 2 or choice.k < choice.curve[-1].k:
        return
    if choice.k < choice.n_rows:
        largest = min(2 * choice.k, choice.n_rows)
        say(
            f"k = {choice.k} is the largest candidate: --n-clusters 2-{largest} tries "
            "more"
        )


def _suggest_standardising(report: ClusterReport) -> None:
    """Suggest --standardise if one column has nearly all of the variance."""
    from spinney.extensions.clustering.clusters import standard_deviations

    numeric = [column for column in report.used.columns if column.kind == "numeric"]
    varying = [c for c in numeric if _varies(c.cells[~c.missing])]
    if report.fit.plan.standardise or len(varying) < 2:
        return
    weights = report.fit.weights
    spreads = [
        float(standard_deviations(c.cells[:, None], weights)[0]) for c in varying
    ]
    largest = max(spreads)
    fraction = 1 / sum((spread / largest) ** 2 for spread in spreads)
    if fraction >= DOMINANT_FRACTION:
        name = varying[spreads.index(largest)].name
        percent = percent_text(fraction, 1).replace(">", "over")
        say(
            f"column {name!r} has {percent} of the total variance and dominates the "
            "distances: --standardise gives columns equal weight"
        )


def _varies(cells: Any) -> bool:
    return len(cells) > 0 and bool(cells.min() < cells.max())


# Clusters from a file


def show_clusters(model: "FittedClusters", *, ascii_: bool, json_: bool) -> None:
    """Print clusters as text or JSON."""
    if json_:
        write_data(as_json("clusters", model.facts(), ascii_only=ascii_))
        return
    _print_text(model.text(width=line_width()), ascii_only=ascii_)
