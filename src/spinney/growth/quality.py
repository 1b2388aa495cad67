"""How well a tree predicts: rows that were held out, and the rows it was grown on."""

from dataclasses import dataclass
from math import floor, log10, sqrt

from spinney._support.text import figure, percent_text

MAX_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Quality:
    """The error of a tree on held-out rows and on its training rows.

    Errors are error rates of classes and mean squared errors of numbers. Class weights
    and costs do not count; row weights do.

    Parameters
    ----------
    training_error : float
        The error on the training rows.
    variance : float, optional
        The variance of a numeric target in the training rows; None for classes.
    n_rows : int
        How many rows were held out; 0 if the error on new rows was not measured.
    n_folds : int
        The folds that held out each row once; 1 if some of the rows were held out once.
    error, standard_error : float, optional
        The error on held-out rows, and its standard error. The trees that predict them
        are grown, pruned and chosen like the tree, by the other rows.

    Examples
    --------
    >>> quality = Quality(0.1, None, 200, 5, 0.15, 0.025)
    >>> print(quality)
    accuracy 85.0 % ± 2.5 % in 5-fold cross-validation, 90.0 % on training rows
    >>> quality.n_right, quality.accuracy
    (170, 0.85)
    """

    training_error: float
    variance: float | None = None
    n_rows: int = 0
    n_folds: int = 0
    error: float | None = None
    standard_error: float | None = None

    @property
    def accuracy(self) -> float | None:
        """The proportion of held-out rows that are predicted correctly."""
        if self.variance is not None or self.error is None:
            return None
        return 1 - self.error

    @property
    def n_right(self) -> int | None:
        """How many held-out rows are predicted correctly."""
        accuracy = self.accuracy
        return None if accuracy is None else round(accuracy * self.n_rows)

    @property
    def rmse(self) -> float | None:
        """The root mean squared error on held-out rows, in the unit of the target."""
        is_known = self.variance is not None and self.error is not None
        return sqrt(self.error or 0.0) if is_known else None

    @property
    def r2(self) -> float | None:
        """The coefficient of determination on held-out rows."""
        return None if self.error is None else self._r2(self.error)

    @property
    def training_accuracy(self) -> float | None:
        """The proportion of training rows that are predicted correctly."""
        return None if self.variance is not None else 1 - self.training_error

    @property
    def training_rmse(self) -> float | None:
        """The root mean squared error on training rows."""
        return None if self.variance is None else sqrt(self.training_error)

    @property
    def training_r2(self) -> float | None:
        """The coefficient of determination on training rows."""
        return self._r2(self.training_error)

    def _r2(self, error: float) -> float | None:
        return 1 - error / self.variance if self.variance else None

    @property
    def method(self) -> str | None:
        """The origin of the held-out error, in words; None if it was not measured."""
        if self.error is None:
            return None
        if self.n_folds > 1:
            return f"in {self.n_folds}-fold cross-validation"
        return f"on {self.n_rows:,} held-out rows"

    def figures(self) -> dict[str, float | int]:
        """Return all figures that are known, by name, as plain data."""
        names = (
            *("accuracy", "rmse", "r2", "n_right", "n_rows", "n_folds"),
            *("error", "standard_error"),
            *("training_accuracy", "training_rmse", "training_r2"),
        )
        known = {name: getattr(self, name) for name in names}
        if self.error is None:
            known = {n: v for n, v in known.items() if n.startswith("training")}
        return {name: value for name, value in known.items() if value is not None}

    def __str__(self) -> str:
        if self.error is None:
            figures = self._text(self.training_error, None, "RMSE ", "accuracy ")
            return (
                f"{figures} on training rows; new rows not measured: `spinney evaluate`"
            )
        figures = self._text(self.error, self.standard_error, "RMSE ", "accuracy ")
        training = self._text(self.training_error, None)
        return f"{figures} {self.method}, {training} on training rows"

    def _text(
        self,
        error: float,
        deviation: float | None,
        rmse_name: str = "",
        accuracy_name: str = "",
    ) -> str:
        """Return an accuracy, or a root mean squared error and R²."""
        if self.variance is None:
            spread = "" if deviation is None else f" ± {percent_text(deviation, 1)}"
            return f"{accuracy_name}{percent_text(1 - error, 1)}{spread}"
        rmse = sqrt(error)
        # The square root halves a relative error.
        rmse_deviation = None if deviation is None else deviation / (2 * rmse or 1.0)
        text = rmse_name + error_text(rmse, rmse_deviation)
        r2 = self._r2(error)
        return text if r2 is None else f"{text} (R² {r2:.3f})"


def error_text(number: float, deviation: float | None = None) -> str:
    """Return a number with its standard error, both to the latter's second digit.

    >>> error_text(2.3124, 0.1187), error_text(24812.3, 1310.2), error_text(2.3124)
    ('2.31 ± 0.12', '24,812 ± 1,310', '2.312')
    """
    if not deviation:
        return f"{number:,.0f}" if number >= 1000 else figure(number, digits=4)
    decimals = max(0, 1 - floor(log10(deviation)))
    if decimals > MAX_DECIMALS:
        return f"{figure(number, digits=4)} ± {figure(deviation, digits=2)}"
    return f"{number:,.{decimals}f} ± {deviation:,.{decimals}f}"
