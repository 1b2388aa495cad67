"""A refusal of settings that do not go together."""

from spinney.errors import ParameterError
from spinney.trees.criteria import Criterion

__all__ = ["check_branches"]


def check_branches(criterion: Criterion, grouping: str) -> None:
    """Refuse a criterion of two branches where there may be more.

    Thresholds have two anyway, but whether a recipe can be used must not depend on
    the table that it meets.
    """
    if criterion.binary and grouping != "binary":
        msg = (
            f"criterion={criterion.name!r} compares two branches, and "
            f"grouping={grouping!r} makes more of a nominal attribute: set "
            'grouping="binary" (the recipe "cart" has it), or take another criterion'
        )
        raise ParameterError(msg)
