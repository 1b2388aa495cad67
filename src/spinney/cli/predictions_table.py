"""Predictions as columns after the columns that --keep copies from the table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.text import value_text
from spinney.cli.shell_output import as_json
from spinney.data import Table, Value
from spinney.data.readers import ModelBatches, type_of_values
from spinney.data.writers import Field, RowStream, json_form, json_objects
from spinney.errors import ParameterError, warn
from spinney.trees import labels_of

Batch = list[list[Any]]
MAX_UNSEEN = 1000  # distinct values of a column


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of a model for the rows of a table, as columns.

    Parameters
    ----------
    model : fitted model
    probabilities, leaf : bool
        Whether to add the probability of each class and the number of the leaf.
    """

    model: Any
    probabilities: bool = False
    leaf: bool = False

    def __post_init__(self) -> None:
        """Refuse columns that the model does not have."""
        target = self.model.schema.target
        if self.model.kind == "clusters":
            for name in ("probabilities", "leaf"):
                if getattr(self, name):
                    msg = f"--{name} needs a tree, but this file holds clusters"
                    raise ParameterError(msg, remedy="remove it")
        if self.leaf and self.model.kind == "forest":
            msg = "--leaf needs a single tree, but this file holds a forest: add --tree"
            raise ParameterError(msg)
        if target.is_numeric and self.probabilities:
            msg = f"--probabilities needs classes, but {target.name!r} is numeric"
            raise ParameterError(msg)

    @property
    def fields(self) -> list[Field]:
        """The columns: the label, class probabilities, the leaf or the distance."""
        target = self.model.schema.target
        label = "DOUBLE" if target.is_numeric else type_of_values(target.classes)
        fields = [Field(target.name, label)]
        if self.probabilities:
            names = (f"p({value_text(label)})" for label in target.classes)
            fields += [Field(name, "DOUBLE") for name in names]
        if self.leaf:
            fields.append(Field("leaf", "BIGINT"))
        if self.model.kind == "clusters":
            fields.append(Field("distance", "DOUBLE"))
        return fields

    @property
    def json_row(self) -> str:
        """The format string of a row of JSON."""
        form = json_form(["label"])[:-1]
        if self.probabilities:
            holes = ["%s"] * len(self.model.schema.target.classes)
            form += f', "probabilities": [{", ".join(holes)}]'
        if self.leaf:
            form += ', "leaf": %s'
        if self.model.kind == "clusters":
            form += ', "distance": %s'
        return form + "}"

    def columns(self, table: Table) -> Batch:
        """Return the cells of the columns for the rows of a table."""
        model, target = self.model, self.model.schema.target
        if model.kind == "clusters":
            return [column.tolist() for column in model.assign(table)]
        outputs = model.outputs(table)
        if target.is_numeric:
            columns = [outputs[:, 0].tolist()]
        else:
            classes = np.array([*target.classes, None], dtype=object)
            columns = [classes[labels_of(outputs, target.costs)].tolist()]
        if self.probabilities:
            columns += outputs.T.tolist()
        if self.leaf:
            columns.append(model.apply(table).tolist())
        return columns


def predicted_rows(predictions: Predictions, batches: ModelBatches) -> RowStream:
    """Return the columns of --keep, then the predictions.

    If a kept column has the name of a prediction, the prediction is called "predicted
    ...", as often as necessary.
    """
    kept = [Field(column.name, column.type) for column in batches.kept]
    used_names, fields = {field.name.lower() for field in kept}, list[Field]()
    for field in predictions.fields:
        name = field.name
        while name.lower() in used_names:
            name = f"predicted {name}"
        fields.append(Field(name, field.type))
    return RowStream((*kept, *fields), _cells(predictions, batches))


def predicted_json(predictions: Predictions, batches: ModelBatches) -> Iterator[str]:
    """Yield predictions as one JSON document, a row on a line."""
    target = predictions.model.schema.target
    whole = {"target": target.name, "classes": list(target.classes), "rows": []}
    start, end = as_json("predict", whole).rsplit("]", 1)
    form = predictions.json_row
    if batches.kept:
        kept = json_form(column.name for column in batches.kept)
        form = f'{{"kept": {kept}, {form[1:]}'
    for cells in _cells(predictions, batches):
        rows = ",\n    ".join(json_objects(cells, form))
        yield f"{start}\n    {rows}"
        start = ","
    yield f"\n  ]{end}\n"


def _cells(predictions: Predictions, batches: ModelBatches) -> Iterator[Batch]:
    """Yield kept cells and predictions; warn about unseen values at the end."""
    unseen = UnseenValues(predictions.model)
    for table, kept in batches.parts:
        unseen.add(table)
        yield [*kept, *predictions.columns(table)]
    unseen.warn()


class UnseenValues:
    """The values of a table that its model has not seen, for one warning each."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.values: dict[str, dict[Value, None]] = {}

    def add(self, table: Table) -> None:
        """Record the unseen values of a batch."""
        if self.model.kind == "clusters":
            return
        for name, values in self.model.unseen(table).items():
            recorded = self.values.setdefault(name, {})
            if len(recorded) < MAX_UNSEEN:
                recorded.update(dict.fromkeys(values[:MAX_UNSEEN]))

    def warn(self) -> None:
        """Warn of each column."""
        for name, values in self.values.items():
            warn(unseen_warning(name, list(values)))


def unseen_warning(name: str, values: Sequence[Value]) -> str:
    """Return the warning about values that the model has not seen."""
    examples = ", ".join(repr(value_text(value)) for value in values[:5])
    at_least = " at least" * (len(values) >= MAX_UNSEEN)
    others = f" and{at_least} {len(values) - 5} more" if len(values) > 5 else ""
    return (
        f"column {name!r} has values that the training rows lack, treated as missing: "
        f"{examples}{others}"
    )
