"""Peers without scikit-learn's methods, given them: ``fit``, ``predict`` and so on."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from io import StringIO
from typing import Any, Self

import numpy as np

__all__ = ["Chefboost", "YdfClassifier", "YdfPrepared", "YdfRegressor"]

LABEL = "label of the row"


class YdfClassifier:
    """One of YDF's learners, for classes that are whole numbers from 0."""

    numeric = False

    def __init__(self, learner: str, **parameters: Any) -> None:
        self.learner = learner
        self.parameters = parameters

    def fit(self, cells: Any, labels: np.ndarray) -> Self:
        """Learn from an array or a data frame."""
        return self.train({**_columns(cells), LABEL: labels})

    def train(self, table: Any) -> Self:
        """Learn from what YDF takes."""
        import ydf

        task = ydf.Task.REGRESSION if self.numeric else ydf.Task.CLASSIFICATION
        learner = getattr(ydf, self.learner)(label=LABEL, task=task, **self.parameters)
        self.model = learner.train(table, verbose=0)
        return self

    def predict_proba(self, cells: Any) -> np.ndarray:
        """Return the shares of the classes, in the order of their numbers."""
        predicted = np.asarray(self.model.predict(_columns(cells)))
        if predicted.ndim == 1:
            predicted = np.column_stack([1 - predicted, predicted])
        return predicted[
            :, np.argsort([_number(n) for n in self.model.label_classes()])
        ]

    def predict(self, cells: Any) -> np.ndarray:
        """Return classes, or numbers."""
        if self.numeric:
            return np.asarray(self.model.predict(_columns(cells)))
        return np.asarray(np.argmax(self.predict_proba(cells), axis=1))


class YdfRegressor(YdfClassifier):
    """One of YDF's learners, for numbers."""

    numeric = True


class YdfPrepared(YdfClassifier):
    """YDF on a table of its own kind, made once and not timed."""

    @staticmethod
    def prepare(cells: Any, labels: np.ndarray) -> Any:
        """Return YDF's table."""
        import ydf

        # Without a learner that knows better, whole numbers would be taken as numbers.
        columns = {**_columns(cells), LABEL: _named(labels)}
        return ydf.create_vertical_dataset(columns, label=LABEL)

    def fit(self, cells: Any, labels: np.ndarray) -> Self:
        """Learn from the table that was made; it holds the labels."""
        return self.train(cells)


class Chefboost:
    """A C4.5 tree by chefboost, which writes it as a file of Python and runs that.

    It tells rows one at a time. ``fit`` includes that it tells the training rows.
    """

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm

    def fit(self, cells: Any, labels: np.ndarray) -> Self:
        """Learn from a data frame; chefboost takes text as nominal."""
        import pandas
        from chefboost.Chefboost import fit

        frame = _texts(cells)
        frame["Decision"] = pandas.Series(_named(labels), dtype=object)
        config = {"algorithm": self.algorithm, "enableParallelism": False}
        with _scratch(), redirect_stdout(StringIO()):
            self.model = fit(frame, config=config, silent=True)
        return self

    def predict(self, cells: Any) -> np.ndarray:
        """Return classes; -1 where chefboost finds no branch."""
        from chefboost.Chefboost import predict

        rows = _texts(cells).itertuples(index=False)
        predicted = [predict(self.model, list(row)) for row in rows]
        return np.array([_number(name) if name else -1 for name in predicted])


@contextmanager
def _scratch() -> Iterator[None]:
    """Give chefboost a folder: it writes rules there, and imports them."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        sys.path.insert(0, folder)
        try:
            yield
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.startswith("outputs")]:
                del sys.modules[name]


def _named(labels: np.ndarray) -> np.ndarray:
    """Return classes as text, for those who take numbers as numbers."""
    names = [f"class {label}" for label in range(labels.max() + 1)]
    return np.take(np.array(names, dtype=object), labels)


def _number(name: Any) -> int:
    """Return the number of a class that was named."""
    return int(str(name).split()[-1])


def _columns(cells: Any) -> dict[str, np.ndarray]:
    """Return columns by name; YDF takes text as nominal and empty text as missing."""
    if isinstance(cells, np.ndarray):
        return {f"x{place}": cells[:, place] for place in range(cells.shape[1])}
    columns = {}
    for name in cells.columns:
        column = cells[name]
        if hasattr(column, "cat"):
            texts = np.append(np.asarray(column.cat.categories, dtype=object), "")
            columns[name] = texts[column.cat.codes.to_numpy()]
        else:
            columns[name] = column.to_numpy()
    return columns


def _texts(cells: Any) -> Any:
    """Return a data frame whose nominal columns are text, a missing cell a value."""
    frame = cells.copy()
    for name in frame.columns:
        if hasattr(frame[name], "cat"):
            column = frame[name].astype(object)
            frame[name] = column.where(column.notna(), "missing")
    return frame
