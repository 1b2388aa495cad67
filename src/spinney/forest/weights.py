"""What class weights a user says, by the places of the classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spinney._support.checks import as_real
from spinney._support.text import value_text
from spinney.data.schema import Target
from spinney.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from spinney.data.table import Value

__all__ = ["class_weights_of"]


def class_weights_of(
    told: "Mapping[Value, float] | str | None", target: Target
) -> "dict[int, float] | str | None":
    """Return class weights by place; a name, or None, as it is.

    >>> class_weights_of({"no": 3}, Target("play", ("no", "yes")))
    {0: 3.0, 1: 1.0}
    """
    if told is None or isinstance(told, str):
        return told
    if not isinstance(told, Mapping):
        msg = (
            f"class_weight={told!r} must be a dict of weights by class, 'balanced', "
            "'balanced_subsample' or None"
        )
        raise ParameterError(msg)
    found = dict.fromkeys(range(len(target.classes)), 1.0)
    for label, weight in told.items():
        place = _place(label, target)
        number = as_real(weight)
        if not 0 < number < float("inf"):
            msg = f"class_weight: {label!r} has {weight!r}; it must be a number above 0"
            raise ParameterError(msg)
        found[place] = number
    return found


def _place(label: Any, target: Target) -> int:
    texts = [value_text(each) for each in target.classes]
    text = value_text(label) if isinstance(label, (str, int, float)) else str(label)
    if text not in texts:
        remedy = did_you_mean(text, texts)
        msg = f"class_weight: no class {label!r}: {remedy}"
        raise ParameterError(msg)
    return texts.index(text)
