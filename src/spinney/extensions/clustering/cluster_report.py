"""What ``spinney cluster``, ``show`` and ``predict`` print of clusters."""

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from spinney._support.text import first_of, number_text, percent_text, signs_to_ascii
from spinney.cli.shell_output import as_json, line_width, say, write_data, write_text
from spinney.errors import Setting, warn

if TYPE_CHECKING:
    from spinney.data import Column, Table
    from spinney.data.writers import RowStream
    from spinney.extensions.clustering.models.find import ClusterFit
    from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

COLUMNS_NAMED = 6


@dataclass(frozen=True, slots=True, eq=False)
class ClusterReport:
    """Clusters that were just found, with their table.

    Parameters
    ----------
    fit : ClusterFit
    table, used : Table
        The rows, and the columns that distances are measured in.
    """

    fit: "ClusterFit"
    table: "Table"
    used: "Table"
    away: bool = False

    def write(
        self, *, ascii_only: bool, as_data: bool, explain: bool, rows_shown: int | None
    ) -> None:
        """Print the clusters, for people or as JSON; ``explain`` says how and why."""
        if as_data:
            facts = self._facts(explain=explain, rows_shown=rows_shown)
            write_data(as_json("cluster", facts, ascii_only=ascii_only))
        else:
            text = self._text(explain=explain, rows_shown=rows_shown)
            _write(text, ascii_only=ascii_only)

    def _facts(self, *, explain: bool, rows_shown: int | None) -> dict[str, Any]:
        from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

        fit = self.fit
        facts = FittedClusters(fit.clusters).facts()
        facts["converged"] = fit.converged
        facts["choice"] = None if fit.choice is None else fit.choice.as_dict()
        facts["labels"] = facts["distances"] = None
        if not self.away:
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
            alone = "there is one cluster: nothing to tell apart"
            parts.append(self._explanation() or alone)
        return _wrapped("\n\n".join(parts), width)

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
        return (
            f"\nnot converged: --max-iterations {self.fit.method.max_iter} was too few "
            "for nothing to move"
        )

    def _explanation(self) -> str | None:
        """Return sentences and profiles; None where there is one cluster only."""
        from spinney.extensions.clustering.explained import explain_clusters

        labels, weights = self.fit.labels, self.fit.weights
        counted = labels if weights is None else labels[weights > 0]
        if len(set(counted.tolist())) < 2:
            return None
        return explain_clusters(self.used, labels, sample_weight=weights).text()

    def rows(self) -> "RowStream":
        """Return the rows with their columns, their cluster and the distance to it."""
        from spinney.data.readers import type_of_values
        from spinney.data.writers import Field, RowStream

        fields = [
            Field(
                column.name,
                type_of_values(column.levels)
                if column.kind != "numeric"
                else "DOUBLE"
                if column.unit is None
                else "VARCHAR",
            )
            for column in self.table.columns
        ]
        cells = [_column_cells(column) for column in self.table.columns]
        cells += [self.fit.labels.tolist(), self.fit.distances().tolist()]
        fields += [Field("cluster", "BIGINT"), Field("distance", "DOUBLE")]
        return RowStream(tuple(fields), [cells])


def _column_cells(column: "Column") -> list[Any]:
    """Return the values of a column as they are written; None where missing."""
    if column.kind != "numeric":
        return [None if code < 0 else column.levels[code] for code in column.cells]
    if column.unit is None:
        return [None if cell != cell else cell for cell in column.cells.tolist()]
    return [
        None if cell != cell else number_text(cell, column.unit)
        for cell in column.cells.tolist()
    ]


def _wrapped(text: str, width: int | None) -> str:
    """Return lines that are no wider than this; what goes on stands further in."""
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        own = " " * (len(line) - len(line.lstrip()))
        wide = len(line) > width
        lines += wrap(line, width, subsequent_indent=own + "  ") if wide else [line]
    return "\n".join(lines)


def _write(text: str, *, ascii_only: bool) -> None:
    """Print a text, in ASCII where that is asked for or the output has no more."""
    write_text(
        lambda plain: signs_to_ascii(text) if plain else text, ascii_only=ascii_only
    )


# Notes


# A nominal column with so many values, as a share of the rows, names them.
NAMES_SHARE = 0.9
# A column with such a share of the variance of all numbers decides nearly alone.
RULING_SHARE = 0.99


def tell_notes(report: ClusterReport, *, quiet: bool) -> None:
    """Warn of what may be wrong and, unless quiet, say what may be better."""
    _warn_of_names(report.used)
    _warn_of_few(report)
    if quiet:
        return
    _say_of_last(report)
    ruling = _ruling(report)
    if ruling is not None:
        say(ruling)


def _warn_of_names(used: "Table") -> None:
    """Warn of columns that name or number rows: they tell nothing of clusters."""
    for column in used.columns if len(used.columns) > 1 else ():
        name = column.name
        if (why := _naming(column)) is not None:
            remedy = ("leave it out (", Setting("ignore", [name]), ")")
            warn(f"column {name!r} {why}, and tells nothing of clusters", remedy=remedy)


def _naming(column: "Column") -> str | None:
    """Return why a column rather names rows, or None where it does not."""
    from spinney.data import numbers_all_rows

    if numbers_all_rows(column, fewest=5):
        return "numbers the rows"
    n_rows, n_names = len(column.cells), len(column.levels)
    if n_rows <= 2 or column.missing.any() or column.kind != "nominal":
        return None
    if n_names < NAMES_SHARE * n_rows:
        return None
    if n_names == n_rows:
        return "has another value in every row"
    return f"has {n_names} values in {n_rows} rows"


def _warn_of_few(report: ClusterReport) -> None:
    clusters = report.fit.clusters
    empty = int((clusters.weights == 0).sum())
    if empty:
        warn(
            f"{empty} of {len(clusters)} clusters have no rows: there are no "
            "more different rows"
        )


def _say_of_last(report: ClusterReport) -> None:
    """Say that more clusters might be better where the most that was tried is best."""
    choice = report.fit.choice
    if choice is None or len(choice.curve) < 2 or choice.k < choice.curve[-1].k:
        return
    if choice.k < choice.n_rows:
        most = min(2 * choice.k, choice.n_rows)
        say(f"k = {choice.k} is the most that was tried: --k 2-{most} tries more")


def _ruling(report: ClusterReport) -> str | None:
    """Return a sentence on the column in whose numbers nearly all distances lie."""
    from spinney.extensions.clustering.clusters import spread_of

    numeric = [column for column in report.used.columns if column.kind == "numeric"]
    known = [c for c in numeric if _varies(c.cells[~c.missing])]
    if report.fit.plan.standardise or len(known) < 2:
        return None
    spreads = [float(spread_of(c.cells[:, None], report.fit.weights)[0]) for c in known]
    largest = max(spreads)
    share = 1 / sum((spread / largest) ** 2 for spread in spreads)
    if share < RULING_SHARE:
        return None
    name = known[spreads.index(largest)].name
    part = percent_text(share, 1).replace(">", "over")
    return (
        f"column {name!r} has {part} of the variance of all numbers, so it "
        "decides nearly alone: --standardise lets columns count alike"
    )


def _varies(cells: Any) -> bool:
    return len(cells) > 0 and bool(cells.min() < cells.max())


# Clusters of a file


def show_clusters(model: "FittedClusters", *, ascii_: bool, json_: bool) -> None:
    """Print clusters, as text or as data."""
    if json_:
        write_data(as_json("clusters", model.facts(), ascii_only=ascii_))
        return
    _write(model.text(width=line_width()), ascii_only=ascii_)
