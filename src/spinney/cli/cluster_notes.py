"""What is said and warned of beside clusters that were found."""

from typing import TYPE_CHECKING, Any

from spinney._support.text import option
from spinney.cli.output import say
from spinney.errors import warn

if TYPE_CHECKING:
    from spinney.clustered.plan import Found
    from spinney.data.table import Column, Table

__all__ = ["tell_notes"]

# A nominal column with so many values, as a share of the rows, names them.
NAMES_SHARE = 0.9
# A column with such a share of the variance of all numbers decides nearly alone.
RULING_SHARE = 0.99


def tell_notes(found: "Found", *, quiet: bool) -> None:
    """Warn of what may be wrong and, unless quiet, say what may be better."""
    _warn_of_names(found.used)
    _warn_of_few(found)
    if quiet:
        return
    _say_of_last(found)
    ruling = _ruling(found)
    if ruling is not None:
        say(ruling)


def _warn_of_names(used: "Table") -> None:
    """Warn of columns that name or number rows: they tell nothing of clusters."""
    for column in used.columns:
        why = _naming(column)
        if why is not None and len(used.columns) > 1:
            warn(
                f"column {column.name!r} {why}, and tells nothing of clusters: leave "
                f"it out ({option('ignore', column.name)})"
            )


def _naming(column: "Column") -> str | None:
    """Return why a column rather names or numbers rows, or None where it does not."""
    n_rows = len(column.cells)
    if n_rows <= 2 or column.missing.any():
        return None
    if column.kind == "numeric":
        steps = column.cells[1:] - column.cells[:-1]
        counts = n_rows >= 5 and column.cells[0] in (0, 1) and column.unit is None
        return "numbers the rows" if counts and bool((steps == 1).all()) else None
    n_names = len(column.levels)
    if column.kind != "nominal" or n_names < NAMES_SHARE * n_rows:
        return None
    if n_names == n_rows:
        return "has another value in every row"
    return f"has {n_names} values in {n_rows} rows"


def _warn_of_few(found: "Found") -> None:
    empty = int((found.clusters.weights == 0).sum())
    if empty:
        warn(
            f"{empty} of {len(found.clusters)} clusters have no rows: there are no "
            "more different rows"
        )


def _say_of_last(found: "Found") -> None:
    """Say that more clusters might be better where the most that was tried is best."""
    choice = found.choice
    if choice is None or len(choice.curve) < 2 or choice.k < choice.curve[-1].k:
        return
    if choice.k < choice.n_rows:
        most = min(2 * choice.k, choice.n_rows)
        say(f"k = {choice.k} is the most that was tried: --k 2-{most} tries more")


def _ruling(found: "Found") -> str | None:
    """Return a sentence on the column in whose numbers nearly all distances lie."""
    from spinney.clustered.model import spread_of

    numeric = [column for column in found.used.columns if column.kind == "numeric"]
    known = [c for c in numeric if _varies(c.cells[~c.missing])]
    if found.plan.standardise or len(known) < 2:
        return None
    spreads = [float(spread_of(c.cells[:, None], found.weights)[0]) for c in known]
    largest = max(spreads)
    share = 1 / sum((spread / largest) ** 2 for spread in spreads)
    if share < RULING_SHARE:
        return None
    name = known[spreads.index(largest)].name
    percent = "over 99.9" if share > 0.999 else f"{100 * share:.1f}"
    return (
        f"column {name!r} has {percent} % of the variance of all numbers, so it "
        "decides nearly alone: --standardise lets columns count alike"
    )


def _varies(cells: Any) -> bool:
    return len(cells) > 0 and bool(cells.min() < cells.max())
