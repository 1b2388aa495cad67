"""Predictions as columns, beside columns of the table that are kept."""

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
MOST_UNSEEN = 1000  # values of a column that are told apart


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says of the rows of a table, as columns.

    Parameters
    ----------
    model : fitted model
    probabilities, leaf : bool
        Whether the share of each class and the number of the leaf are wanted.
    """

    model: Any
    probabilities: bool = False
    leaf: bool = False

    def __post_init__(self) -> None:
        """Refuse what the model does not have."""
        target = self.model.schema.target
        if self.model.kind == "clusters":
            for name in ("probabilities", "leaf"):
                if getattr(self, name):
                    msg = f"--{name} is of trees, and this file holds clusters"
                    raise ParameterError(msg, remedy="leave it out")
        if self.leaf and self.model.kind == "forest":
            msg = "--leaf: a forest has a leaf in each of its trees; leave it out"
            raise ParameterError(msg)
        if target.is_numeric and self.probabilities:
            msg = f"--probabilities: {target.name!r} is a number and has no classes"
            raise ParameterError(msg)

    @property
    def fields(self) -> list[Field]:
        """The columns: the label, the classes' shares, the leaf or the distance."""
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
        """The form of a row of JSON, to be filled by the cells of the columns."""
        form = json_form(["label"])[:-1]
        if self.probabilities:
            shares = ["%s"] * len(self.model.schema.target.classes)
            form += f', "probabilities": [{", ".join(shares)}]'
        if self.leaf:
            form += ', "leaf": %s'
        if self.model.kind == "clusters":
            form += ', "distance": %s'
        return form + "}"

    def of(self, table: Table) -> Batch:
        """Return the cells of the columns for the rows of a table."""
        model, target = self.model, self.model.schema.target
        if model.kind == "clusters":
            return [each.tolist() for each in model.assign(table)]
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
    """Return kept columns with the predictions beside them.

    A prediction whose name a kept column has is called "predicted ...", and "predicted
    predicted ..." beside the column of an earlier run.
    """
    kept = [Field(column.name, column.type) for column in batches.kept]
    taken, fields = {field.name.lower() for field in kept}, list[Field]()
    for field in predictions.fields:
        name = field.name
        while name.lower() in taken:
            name = f"predicted {name}"
        fields.append(Field(name, field.type))
    return RowStream((*kept, *fields), _cells(predictions, batches))


def predicted_json(predictions: Predictions, batches: ModelBatches) -> Iterator[str]:
    """Yield predictions as one document of JSON, a row on a line.

    Shares are in the order of the classes.
    """
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
    """Yield kept cells and predictions, and warn in the end of values never seen."""
    unseen = UnseenValues(predictions.model)
    for table, kept in batches.parts:
        unseen.look_at(table)
        yield [*kept, *predictions.of(table)]
    unseen.warn()


class UnseenValues:
    """The values of a table that a model has not seen, to be warned of once."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.values: dict[str, dict[Value, None]] = {}

    def look_at(self, table: Table) -> None:
        """Note the values of some rows."""
        if self.model.kind == "clusters":
            return
        for name, values in self.model.unseen(table).items():
            noted = self.values.setdefault(name, {})
            if len(noted) < MOST_UNSEEN:
                noted.update(dict.fromkeys(values[:MOST_UNSEEN]))

    def warn(self) -> None:
        """Warn of each column."""
        for name, values in self.values.items():
            warn(unseen_warning(name, list(values)))


def unseen_warning(name: str, values: Sequence[Value]) -> str:
    """Return the warning about values that the model has not seen."""
    examples = ", ".join(repr(value_text(value)) for value in values[:5])
    at_least = " at least" * (len(values) >= MOST_UNSEEN)
    more = f" and{at_least} {len(values) - 5} more" if len(values) > 5 else ""
    return (
        f"column {name!r} holds {examples}{more}, not seen when the model was grown: "
        "treated as missing"
    )
