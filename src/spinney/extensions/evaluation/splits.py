"""Which rows are trained on and which are tested, by scikit-learn's splitters.

The parts depend on the target, the scheme and the seed, never on a recipe: every
recipe sees the same ones. scikit-learn takes seconds to load, so it is loaded after all
refusals, here and in the modules beside.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney._support.checks import MOST_REPEATS, check_whole, is_real
from spinney._support.text import counted_text, shown
from spinney.errors import DataError, Setting, refusal, warn
from spinney.extensions.evaluation.evaluation_rows import EvaluationRows
from spinney.growth.folds import MIN_ROWS_FOR_FOLDS

USUAL_FOLDS = 10
ONE_OUT = "loo"


@dataclass(frozen=True, slots=True)
class Scheme:
    """How rows are divided: cross-validation, or a share held out.

    Parameters
    ----------
    folds : int or "loo", optional
        Parts of a cross-validation; each is tested once a repeat. "loo" leaves one row
        out at a time, and so do as many folds as rows. If not given,
        :func:`with_possible_folds` says.
    repeats : int
        How often all is done again with other parts.
    holdout : float, optional
        Instead of folds: the share of the rows to test on.
    seed : int
        Where the random numbers start: what ``random_state`` of an evaluation gives.
    one_out : bool
        Whether each fold is one row; set when the rows are known.
    """

    folds: int | str | None = None
    repeats: int = 1
    holdout: float | None = None
    seed: int = 0
    one_out: bool = False

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if isinstance(self.folds, str) and self.folds != ONE_OUT:
            raise refusal(
                Setting("folds", self.folds),
                f"must be a whole number, or {ONE_OUT!r}, one row at a time",
            )
        if self.folds not in (None, ONE_OUT):
            check_whole("folds", self.folds, least=2)
        check_whole("repeats", self.repeats, least=1, most=MOST_REPEATS)
        share = self.holdout
        if share is not None and not (is_real(share) and 0 < share < 1):
            raise refusal(
                Setting("holdout", share), "must be a share of the rows between 0 and 1"
            )
        if share is not None and self.folds is not None:
            raise refusal(
                Setting("folds", self.folds),
                ("with ", Setting("holdout", share)),
                "rows are held out once or in folds; leave out one of them",
            )

    @property
    def n_folds(self) -> int:
        """How many folds there are to be."""
        return USUAL_FOLDS if self.folds is None else int(self.folds)

    def __str__(self) -> str:
        if self.one_out:
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
            "leave_one_out": self.one_out,
            "repeats": int(self.repeats),
            "holdout": None if self.holdout is None else float(self.holdout),
            "seed": int(self.seed),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """One division of the rows; repeats and folds are counted from 1."""

    repeat: int
    fold: int
    train: Integers
    test: Integers


def with_possible_folds(scheme: Scheme, rows: EvaluationRows) -> Scheme:
    """Return a scheme with the folds that these rows can have.

    Where none were asked for, a small table leaves out one row at a time, and a larger
    one has 10 folds, or as many as its commonest class has rows.
    """
    if scheme.holdout is not None:
        return scheme
    small = rows.n_rows < MIN_ROWS_FOR_FOLDS and scheme.repeats == 1
    if scheme.folds in (ONE_OUT, rows.n_rows) or (scheme.folds is None and small):
        return _one_out(scheme, rows)
    if scheme.folds is not None:
        return scheme
    most, reason = rows.n_rows, f"there are {rows.n_rows} rows"
    if rows.classes is not None:
        most = int(np.bincount(rows.truth).max())
        reason = f"no class has more than {most} rows"
    if not 2 <= most < USUAL_FOLDS:
        return scheme
    warn(Setting("folds"), f": {most} are taken and not {USUAL_FOLDS}, since {reason}")
    return replace(scheme, folds=most)


def _one_out(scheme: Scheme, rows: EvaluationRows) -> Scheme:
    """Return the scheme that leaves out one row at a time; refuse where it cannot."""
    if scheme.repeats > 1:
        raise refusal(
            Setting("repeats", int(scheme.repeats)),
            "says nothing where one row is left out at a time: all is the same again",
            "leave it out, or use fewer folds",
        )
    if rows.classes is not None:
        counts = np.bincount(rows.truth, minlength=len(rows.classes))
        if counts.max() == 1:
            msg = (
                f"target {shown(rows.target)!r}: no class has two rows, and what is "
                "left out is of a class that the others are not: give more rows"
            )
            raise DataError(msg)
    return replace(scheme, folds=max(2, rows.n_rows), one_out=True)


def parts_of(rows: EvaluationRows, scheme: Scheme) -> list[Part]:
    """Return the parts, class shares kept where the target has classes."""
    if rows.n_rows < 2:
        msg = (
            f"target {shown(rows.target)!r}: there is one row to train and test on: "
            "give at least two"
        )
        raise DataError(msg)
    folds = 1 if scheme.holdout is not None else scheme.n_folds
    splitter = _held_out(rows, scheme) if folds == 1 else _folded(rows, scheme)
    return [
        Part(number // folds + 1, number % folds + 1, train, test)
        for number, (train, test) in enumerate(_split(splitter, rows))
    ]


def _split(splitter: Any, rows: EvaluationRows) -> list[tuple[Integers, Integers]]:
    with warnings.catch_warnings():
        # scikit-learn warns of rare classes at each repeat; ours names them, once.
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(np.zeros((rows.n_rows, 1)), rows.truth))


def _folded(rows: EvaluationRows, scheme: Scheme) -> Any:
    folds = scheme.n_folds
    if scheme.one_out:
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
        most = int(counts.max())
        remedy = f"use at most {most}" if most > 1 else "give more rows"
        raise refusal(
            Setting("folds", int(folds)),
            f"is more than the rows of any class, at most {most}",
            remedy,
        )
    rare = np.flatnonzero(counts < folds)
    if len(rare):
        _warn_of_rare(rows, rare, counts, f"fewer rows than the {folds} folds")
    from sklearn.model_selection import RepeatedStratifiedKFold

    return RepeatedStratifiedKFold(**settings)


def _held_out(rows: EvaluationRows, scheme: Scheme) -> Any:
    share = float(scheme.holdout or 0)
    settings: dict[str, Any] = {
        "n_splits": scheme.repeats,
        "test_size": share,
        "random_state": scheme.seed,
    }
    n_test = int(np.ceil(share * rows.n_rows))
    if n_test == rows.n_rows:
        raise refusal(
            Setting("holdout", share), f"leaves none of {rows.n_rows} rows to train on"
        )
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    if rows.classes is None:
        return ShuffleSplit(**settings)
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    rare = np.flatnonzero(counts < 2)
    if len(rare):
        _warn_of_rare(rows, rare, counts, "one row only")
        return ShuffleSplit(**settings)
    if min(n_test, rows.n_rows - n_test) < len(counts):
        warn(
            f"target {shown(rows.target)!r}: {n_test} of {rows.n_rows} rows cannot "
            f"hold all {len(counts)} classes: the rows are divided without regard to "
            "classes"
        )
        return ShuffleSplit(**settings)
    return StratifiedShuffleSplit(**settings)


def _warn_of_rare(
    rows: EvaluationRows, rare: Integers, counts: Integers, what: str
) -> None:
    """Say once which classes are too rare to be in every part."""
    names = rows.classes or ()
    counted = counted_text((names[code], counts[code]) for code in rare.tolist())
    noun, verb = ("class", "has") if len(rare) == 1 else ("classes", "have")
    warn(
        f"target {shown(rows.target)!r}: {noun} {counted} {verb} {what}: some "
        "parts are trained or tested without"
    )
