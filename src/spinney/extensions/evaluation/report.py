"""An evaluation as text, within a width."""

import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.text import shown
from spinney._support.text_table import aligned
from spinney.extensions.evaluation.compare import Comparison
from spinney.extensions.evaluation.measures import MEASURES, measures_named
from spinney.extensions.evaluation.tasks import as_list

if TYPE_CHECKING:
    from spinney.extensions.evaluation.results import Evaluation

GAP = "  "
MINUS = " − "
MIN_LABEL_WIDTH = 8
DEFAULT_WIDTH = 80
UNLIMITED = sys.maxsize
# Measures by priority, for narrow terminals.
PRIORITY = (
    *("accuracy", "rmse", "leaves", "cost", "r2", "auc", "balanced_accuracy"),
    *("log_loss", "mae", "macro_f", "brier", "correlation", "depth", "seconds"),
    *("row_microseconds", "peak_mib", "mean_path_length", "conditions_per_rule"),
    *("nodes", "rules", "external_path_length", "weighted_external_path_length"),
    "predict_seconds",
)
NOTES = {
    "seconds": "seconds: growing, per fold",
    "predict_seconds": "predict s: predicting the test set",
    "external_path_length": "ext. path: external path length",
    "weighted_external_path_length": "by rows: path lengths of all training rows",
}

Cells = list[str]


def report(
    evaluation: "Evaluation",
    *,
    width: int | None,
    measures: Sequence[str],
    ascii_only: bool,
) -> str:
    """Return the text of an evaluation; without a width nothing is cut."""
    table_width, prose = (UNLIMITED, DEFAULT_WIDTH) if width is None else (width, width)
    measured = evaluation.measures
    requested = as_list("measures", measures, f"[{measured[0]!r}]")
    named = measures_named(requested, measured)
    lines = evaluation.table
    defaults = [
        name
        for name in evaluation.default_measures
        if any(line.get(name) is not None for line in lines)
    ]
    names = named or defaults or list(measured)
    keys = [name for name in lines[0] if name.removesuffix("_sd") not in MEASURES]
    spread = "+/-" if ascii_only else "±"
    columns = {
        name: _measure_column(name, lines, spread=spread if name == names[0] else None)
        for name in names
    }
    # Labels get the width that all measures leave, or a third if that is little.
    rest = table_width - _total_width(list(columns.values())) - len(GAP) * len(keys)
    label_width = max(MIN_LABEL_WIDTH, min(30, table_width // 3), rest // len(keys))
    keyed = [_key_column(key, lines, label_width) for key in keys]
    shown_names = _fitting_measures(names, columns, table_width - _total_width(keyed))
    cells = [*keyed, *(columns[name] for name in shown_names)]
    text = aligned(list(zip(*cells, strict=True)), left=range(len(keys)))
    hidden = [MEASURES[name].title for name in names if name not in shown_names]
    parts = [*_wrap_text(_heading(evaluation), prose), "", *text]
    notes = [NOTES[name] for name in shown_names if name in NOTES]
    if not named and len(defaults) < len(measured):
        notes.append("more measures: quality, interpretability, speed, all")
    if notes:
        parts += _wrap_text(f"({'; '.join(notes)})", prose)
    if hidden:
        note = f"(too narrow for {', '.join(hidden)}: name the measures to show)"
        parts += _wrap_text(note, prose)
    if evaluation.comparable and len(keys) == 1:
        compared = names[0] if named else evaluation.compared
        parts += ["", *_comparisons(evaluation, compared, width, label_width)]
    whole = "\n".join(parts)
    return in_ascii(whole) if ascii_only else whole


def _heading(evaluation: "Evaluation") -> str:
    scheme = evaluation.scheme
    return (
        f"{shown(evaluation.target)}: {evaluation.n_rows} rows, {scheme}, "
        f"seed {scheme.seed}"
    )


def _key_column(key: str, lines: list[dict[str, Any]], max_length: int) -> Cells:
    """Return a column of recipes or conditions, cut to a length."""
    values = [line[key] for line in lines]
    texts = [f"{v:g}" if isinstance(v, float) else shown(v) for v in values]
    cells = [_shortened_label(text, max_length) for text in texts]
    if all(isinstance(value, (int, float)) for value in values):
        longest = max(len(key), *map(len, cells))
        return [cell.rjust(longest) for cell in (key, *cells)]
    return [key, *cells]


def _shortened_label(text: str, max_length: int) -> str:
    """Return a text without its middle if it is too long: labels differ at both ends.

    >>> _shortened_label("cart:max_depth=12", 12)
    'cart:…pth=12'
    """
    if len(text) <= max_length:
        return text
    half = (max_length - 1) // 2
    return f"{text[:half]}…{text[half + 1 - max_length :]}"


def _measure_column(
    name: str, lines: list[dict[str, Any]], *, spread: str | None
) -> Cells:
    """Return a column of a measure; deviations follow the sign ``spread``."""
    measure = MEASURES[name]
    largest = max((abs(line[name]) for line in lines if line[name]), default=0.0)
    # Three digits of a small number, none after the point of a large one.
    decimals = measure.decimals
    if 0 < largest < 0.1 and decimals > 2:
        decimals = min(12, 2 - int(np.floor(np.log10(largest))))
    elif largest >= 100:
        decimals = max(0, 3 - int(np.log10(largest)))

    def cell_text(value: float | None) -> str:
        return "-" if value is None else f"{value:.{decimals}f}"

    cells = [cell_text(line[name]) for line in lines]
    if spread and any(line[f"{name}_sd"] is not None for line in lines):
        deviations = [cell_text(line[f"{name}_sd"]) for line in lines]
        cells = [
            f"{mean} {spread} {sd}" for mean, sd in zip(cells, deviations, strict=True)
        ]
    return [measure.title, *cells]


def _total_width(columns: Sequence[Cells]) -> int:
    """Return the width of columns side by side."""
    widths = [max(map(len, column)) for column in columns]
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _fitting_measures(
    names: list[str], columns: dict[str, Cells], width: int
) -> list[str]:
    """Return the measures that fit, always including the first."""
    order = [names[0], *sorted(names[1:], key=PRIORITY.index)]
    chosen: list[str] = []
    for name in order:
        needed = len(GAP) + _total_width([columns[name]])
        if needed <= width or not chosen:
            chosen.append(name)
            width -= needed
    return [name for name in names if name in chosen]


def _comparisons(
    evaluation: "Evaluation", measure: str, width: int | None, max_length: int
) -> list[str]:
    """Return a line for each pair of recipes."""
    values = (result.measures.get(measure) for result in evaluation.folds)
    if not evaluation.can_compare(measure) or None in values:
        return []
    tests = evaluation.compare(measure)
    title = MEASURES[measure].title
    if all(map(_is_always_equal, tests)):
        equal = f"Differences of {title} on the same folds: none, so no test is made."
        return _wrap_text(equal, width or DEFAULT_WIDTH)
    explained = (
        f"Differences of {title} on the same folds, corrected resampled t-test "
        f"with {tests[0].degrees} degrees of freedom:"
    )
    figures = [
        list(column) for column in zip(*map(_comparison_texts, tests), strict=True)
    ]
    if width is not None:
        least = 2 * MIN_LABEL_WIDTH + len(MINUS)
        if least + len(GAP) + _total_width(figures) > width:
            del figures[1]  # t, since p is more useful
        pair_width = max(least, width - len(GAP) - _total_width(figures))
        max_length = min(max_length, (pair_width - len(MINUS)) // 2)
    pairs = [
        _shortened_label(shown(test.first), max_length)
        + MINUS
        + _shortened_label(shown(test.second), max_length)
        for test in tests
    ]
    rows = list(zip(pairs, *figures, strict=True))
    return [*_wrap_text(explained, width or DEFAULT_WIDTH), *aligned(rows, left=[0])]


def _is_always_equal(test: Comparison) -> bool:
    """Return whether two recipes are equal on every fold, so that t is 0/0."""
    return bool(np.isnan(test.t))


def _comparison_texts(test: Comparison) -> tuple[str, str, str]:
    if _is_always_equal(test):
        return signed(test.difference), "all equal", "untested"
    p = f"p = {test.p:.3f}" if test.p >= 0.0005 else "p < 0.001"
    if np.isnan(test.p):
        p = "p undefined"
    return signed(test.difference), f"t = {signed(test.t, 2)}", p


def signed(number: float, decimals: int = 4) -> str:
    """Return a number with a minus sign (−).

    >>> signed(-0.25, 2), signed(float("inf")), signed(float("nan"))
    ('−0.25', 'infinite', 'undefined')
    >>> signed(-0.001, 2)
    '0.00'
    """
    if np.isnan(number):
        return "undefined"
    if np.isinf(number):
        return "infinite" if number > 0 else "−infinite"
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def _wrap_text(text: str, width: int) -> list[str]:
    """Return a text as lines of whole words, within a width if words fit."""
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def in_ascii(text: str) -> str:
    """Return a text with its signs in ASCII."""
    return text.replace("−", "-").replace("…", "~").replace("µ", "u")
