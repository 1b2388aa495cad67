"""Training and test sets by scikit-learn's splitters.

The splits depend on the target, the scheme and the seed, and are the same for every
recipe. scikit-learn takes seconds to load, so it is imported after all checks.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.checks import MAX_REPEATS, check_whole, is_real
from spinney._support.text import counted_text, shown
from spinney.errors import DataError, Setting, refusal, warn
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows
from spinney.growth.folds import MIN_ROWS_FOR_FOLDS

DEFAULT_FOLDS = 10
LEAVE_ONE_OUT = "loo"


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme of splits: cross-validation or hold-out.

    ``folds`` is the number of folds or "loo" (leave-one-out); :func:`choose_folds`
    chooses it by default. ``holdout`` is the fraction of rows in the test set instead.
    ``leave_one_out`` is set when the number of rows is known.
    """

    folds: int | str | None = None
    repeats: int = 1
    holdout: float | None = None
    seed: int = 0
    leave_one_out: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        if isinstance(self.folds, str) and self.folds != LEAVE_ONE_OUT:
            raise refusal(
                Setting("folds", self.folds),
                f"must be a whole number, or {LEAVE_ONE_OUT!r} for leave-one-out",
            )
        if self.folds not in (None, LEAVE_ONE_OUT):
            check_whole("folds", self.folds, least=2)
        check_whole("repeats", self.repeats, least=1, most=MAX_REPEATS)
        fraction = self.holdout
        if fraction is not None and not (is_real(fraction) and 0 < fraction < 1):
            raise refusal(
                Setting("holdout", fraction),
                "must be a fraction between 0 and 1",
            )
        if fraction is not None and self.folds is not None:
            raise refusal(
                Setting("folds", self.folds),
                ("with ", Setting("holdout", fraction)),
                "remove one of them",
            )

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return DEFAULT_FOLDS if self.folds is None else int(self.folds)

    def __str__(self) -> str:
        if self.leave_one_out:
            return "leave-one-out"
        if self.holdout is not None:
            text = f"{self.holdout * 100:g} % held out"
        else:
            text = f"{self.n_folds}-fold cross-validation"
        return f"{text}, {self.repeats} times" if self.repeats > 1 else text

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "folds": None if self.holdout is not None else int(self.n_folds),
            "leave_one_out": self.leave_one_out,
            "repeats": int(self.repeats),
            "holdout": None if self.holdout is None else float(self.holdout),
            "seed": int(self.seed),
        }


@dataclass(frozen=True, slots=True)
class Split:
    """A training and a test set; repeats and folds are counted from 1."""

    repeat: int
    fold: int
    train: Integers
    test: Integers


def choose_folds(scheme: Scheme, rows: EvaluationRows) -> Scheme:
    """Return a scheme with a possible number of folds.

    The default is leave-one-out for small tables, else 10, or the number of rows of the
    most frequent class.
    """
    if scheme.holdout is not None:
        return scheme
    is_small = rows.n_rows < MIN_ROWS_FOR_FOLDS and scheme.repeats == 1
    if scheme.folds in (LEAVE_ONE_OUT, rows.n_rows) or (
        scheme.folds is None and is_small
    ):
        return _leave_one_out(scheme, rows)
    if scheme.folds is not None:
        return scheme
    largest_class, reason = rows.n_rows, f"there are {rows.n_rows} rows"
    if rows.classes is not None:
        largest_class = int(np.bincount(rows.truth).max())
        reason = f"no class has more than {largest_class} rows"
    if not 2 <= largest_class < DEFAULT_FOLDS:
        return scheme
    warn(
        Setting("folds"),
        f": {largest_class} are taken and not {DEFAULT_FOLDS}, since {reason}",
    )
    return replace(scheme, folds=largest_class)


def _leave_one_out(scheme: Scheme, rows: EvaluationRows) -> Scheme:
    """Return the scheme of leave-one-out, if possible."""
    if scheme.repeats > 1:
        raise refusal(
            Setting("repeats", int(scheme.repeats)),
            "has no effect on leave-one-out",
            "remove it, or use fewer folds",
        )
    if rows.classes is not None:
        counts = np.bincount(rows.truth, minlength=len(rows.classes))
        if counts.max() == 1:
            msg = (
                f"target {shown(rows.target)!r}: no class has two rows, so no test row "
                "has a known class: give more rows"
            )
            raise DataError(msg)
    return replace(scheme, folds=max(2, rows.n_rows), leave_one_out=True)


def make_splits(rows: EvaluationRows, scheme: Scheme) -> list[Split]:
    """Return the splits, stratified if the target has classes."""
    if rows.n_rows < 2:
        msg = (
            f"target {shown(rows.target)!r}: there is one row to train and test on: "
            "give at least two"
        )
        raise DataError(msg)
    folds = 1 if scheme.holdout is not None else scheme.n_folds
    splitter = (
        _holdout_splitter(rows, scheme) if folds == 1 else _fold_splitter(rows, scheme)
    )
    with warnings.catch_warnings():
        # scikit-learn warns of rare classes at each repeat; ours names them, once.
        warnings.simplefilter("ignore", UserWarning)
        pairs = list(splitter.split(np.zeros((rows.n_rows, 1)), rows.truth))
    return [
        Split(number // folds + 1, number % folds + 1, train, test)
        for number, (train, test) in enumerate(pairs)
    ]


def _fold_splitter(rows: EvaluationRows, scheme: Scheme) -> Any:
    folds = scheme.n_folds
    if scheme.leave_one_out:
        from sklearn.model_selection import LeaveOneOut

        return LeaveOneOut()
    settings: dict[str, Any] = {
        "n_splits": folds,
        "n_repeats": scheme.repeats,
        "random_state": scheme.seed,
    }
    if folds > rows.n_rows:
        raise refusal(
            Setting("folds", int(folds)),
            f"is more than the {rows.n_rows} rows with a known target",
            f"use at most {rows.n_rows}",
        )
    if rows.classes is None:
        from sklearn.model_selection import RepeatedKFold

        return RepeatedKFold(**settings)
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    if counts.max() < folds:
        largest_class = int(counts.max())
        remedy = (
            f"use at most {largest_class}" if largest_class > 1 else "give more rows"
        )
        raise refusal(
            Setting("folds", int(folds)),
            f"is more than the rows of any class, at most {largest_class}",
            remedy,
        )
    rare = np.flatnonzero(counts < folds)
    if len(rare):
        _warn_rare_classes(rows, rare, counts, f"fewer rows than the {folds} folds")
    from sklearn.model_selection import RepeatedStratifiedKFold

    return RepeatedStratifiedKFold(**settings)


def _holdout_splitter(rows: EvaluationRows, scheme: Scheme) -> Any:
    fraction = float(scheme.holdout or 0)
    settings: dict[str, Any] = {
        "n_splits": scheme.repeats,
        "test_size": fraction,
        "random_state": scheme.seed,
    }
    n_test = int(np.ceil(fraction * rows.n_rows))
    if n_test == rows.n_rows:
        raise refusal(
            Setting("holdout", fraction),
            f"leaves none of {rows.n_rows} rows to train on",
        )
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    if rows.classes is None:
        return ShuffleSplit(**settings)
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    rare = np.flatnonzero(counts < 2)
    if len(rare):
        _warn_rare_classes(rows, rare, counts, "one row only")
        return ShuffleSplit(**settings)
    if min(n_test, rows.n_rows - n_test) < len(counts):
        warn(
            f"target {shown(rows.target)!r}: {n_test} of {rows.n_rows} rows cannot "
            f"hold all {len(counts)} classes: the rows are divided without regard to "
            "classes"
        )
        return ShuffleSplit(**settings)
    return StratifiedShuffleSplit(**settings)


def _warn_rare_classes(
    rows: EvaluationRows, rare: Integers, counts: Integers, what: str
) -> None:
    """Warn of classes too rare for every training and test set."""
    names = rows.classes or ()
    counted = counted_text((names[code], counts[code]) for code in rare.tolist())
    noun, verb = ("class", "has") if len(rare) == 1 else ("classes", "have")
    warn(
        f"target {shown(rows.target)!r}: {noun} {counted} {verb} {what}: some "
        "training or test sets lack them"
    )
