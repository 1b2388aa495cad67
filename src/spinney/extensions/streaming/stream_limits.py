"""What a stream can be told beside its recipe; asking loads no compiler."""

from collections.abc import Mapping
from typing import Any

from spinney.data import Schema
from spinney.errors import DataError, Setting, refusal

MOST_VALUES = 1000
"""The most values of a nominal attribute: a leaf counts each of them by class."""

ABSENT: tuple[Any, ...] = (None, (), [], {})


def refuse_options(given: Mapping[str, Any]) -> None:
    """Refuse what somebody has said that needs all rows at once, or rows again."""
    for name, value in given.items():
        if value in ABSENT or callable(value):
            continue
        raise refusal(
            Setting(name, value),
            "needs all rows at once, and recipe 'hoeffding' sees one after another",
            "leave it out, or take another recipe, such as 'c4.5'",
        )


def refuse_many_values(schema: Schema) -> None:
    """Refuse attributes of more values than a leaf can count."""
    for attribute in schema.attributes:
        if attribute.kind == "nominal" and len(attribute.values) > MOST_VALUES:
            name, n_values = attribute.name, len(attribute.values)
            msg = (
                f"column {name!r} has {n_values} values so far, and a stream counts "
                f"{MOST_VALUES} of a column at most"
            )
            raise DataError(
                msg, remedy=("leave it out (", Setting("ignore", [name]), ")")
            )
