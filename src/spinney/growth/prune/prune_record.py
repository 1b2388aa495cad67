"""The record of pruning: the steps, and the error before and after each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import shown, signs_to_ascii, weight_text
from spinney._support.text_table import aligned
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.growth.prune.cost_complexity_sequence import PruningSequence


@dataclass(frozen=True, slots=True)
class PruneStep:
    """One node that pruning examined, and the effect of changing it.

    Parameters
    ----------
    node : int
        The number of the node before pruning.
    condition : str
        The branch that leads to the node.
    before, after : float
        The method's ``measure`` without and with the change. The change makes the node
        a leaf. For ``"pre-pruning"``, which is top-down, the change splits the node.
    pruned : bool
        Whether the node became a leaf.
    action : str
        The action of error-based pruning: "collapsed", "replaced", "raised" or "kept";
        empty for other methods.
    measure : str
        The name of the measure.
    risk_before, risk_after : float
        The training risk of the whole tree without and with the change: the weight of
        the rows in error, their cost, or the sum of squares. A row that a missing value
        divides counts by its fractions, while ``score`` uses its one label. NaN if
        unknown: the counts do not give the errors of linear models.
    """

    node: int
    condition: str
    before: float
    after: float
    pruned: bool
    action: str = ""
    measure: str = field(default="", compare=False)
    risk_before: float = field(default=nan, compare=False)
    risk_after: float = field(default=nan, compare=False)


class Steps(InNotebooks, Sequence[PruneStep]):
    """The steps of pruning in their order; ``print`` shows them as a table."""

    def __init__(self, steps: Iterable[PruneStep]) -> None:
        # An iterator is a record that nobody has read yet.
        self._source = steps if isinstance(steps, Iterator) else tuple(steps)

    @cached_property
    def _steps(self) -> tuple[PruneStep, ...]:
        return tuple(self._source)

    def __reduce__(self) -> tuple[Any, ...]:
        return Steps, (self._steps,)

    def __getitem__(self, index: Any) -> Any:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[PruneStep]:
        return iter(self._steps)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Steps):
            return self._steps == other._steps
        return self._steps == other

    def __hash__(self) -> int:
        return hash(self._steps)

    def __repr__(self) -> str:
        return f"<{len(self)} steps of pruning>"

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the steps as a table, a line each."""
        if not self._steps:
            return "no node was examined"
        header = ("node", "before", "after", "risk", "after", "", "branch")
        lines = [
            (
                str(step.node),
                _measure_text(step.before),
                _measure_text(step.after),
                _measure_text(step.risk_before),
                _measure_text(step.risk_after),
                _action_text(step),
                shown(step.condition) or "(root)",
            )
            for step in self._steps
        ]
        measures = ", ".join(dict.fromkeys(step.measure for step in self._steps))
        title = f"before, after: {measures}; risk: on the training rows"
        text = "\n".join([title, *aligned([header, *lines], left=(5, 6))])
        return signs_to_ascii(text) if ascii_only else text

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the steps as plain data."""
        return [
            {
                "node": step.node,
                "branch": step.condition,
                "measure": step.measure,
                "before": _none_if_nan(step.before),
                "after": _none_if_nan(step.after),
                "training_risk_before": _none_if_nan(step.risk_before),
                "training_risk_after": _none_if_nan(step.risk_after),
                "pruned": step.pruned,
                "action": _action_text(step),
            }
            for step in self._steps
        ]


def _action_text(step: PruneStep) -> str:
    """Return the action of a step: "pruned", "kept" or its method's word."""
    return step.action or ("pruned" if step.pruned else "kept")


def _none_if_nan(measure: float) -> float | None:
    """Return a measure, None for NaN: the risk of linear models is unknown."""
    return None if isnan(measure) else measure


def _measure_text(measure: float) -> str:
    return "" if isnan(measure) else weight_text(measure)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of pruning: the smaller tree and its steps.

    ``sequence`` is the table of subtrees of ``"cost-complexity"``, else None.
    """

    tree: Tree
    steps: Steps
    sequence: "PruningSequence | None" = None
