"""The values of settings of a recipe that are names.

Groupings are implemented in ``search``, pruning methods in ``growth.prune``; a test
checks that their names are these.
"""

from dataclasses import dataclass
from typing import Any

from spinney import registry
from spinney._support.checks import is_real
from spinney.errors import Setting, phrase, refusal
from spinney.trees import OBJECTIVES

GROUPINGS = ("multiway", "binary", "merge", "ordered")

MISSING_POLICIES = (
    "fractional",
    "most-common",
    "own-category",
    "branch",
    "mean",
    "surrogate",
    "drop",
)

BUCKETINGS = ("equal-width", "equal-frequency", "k-means", "entropy-mdl")
MAX_BUCKETS = 100_000

# Pruning methods that may use a validation set; the first two need one.
BY_VALIDATION = ("reduced-error", "pre-pruning", "cost-complexity")


@dataclass(frozen=True, slots=True)
class GrowerTraits:
    """The requirements of a grower; ``registry`` has its module.

    Parameters
    ----------
    needs_rows : bool
        Whether the grower needs rows in memory rather than count tables.
    streams : bool
        Whether the grower learns each row once, in order, and stores none.
    seeks_whole_trees : bool
        Whether all splits are optimised together, so that only a few levels are
        possible.
    """

    needs_rows: bool = True
    streams: bool = False
    seeks_whole_trees: bool = False


# By the names of ``search``; those of other packages need rows.
GROWERS = {
    "greedy": GrowerTraits(needs_rows=False),
    "optimal": GrowerTraits(seeks_whole_trees=True),
    "hoeffding": GrowerTraits(streams=True),
}

CHOICES = {
    "thresholds": ("midpoint", "observed"),
    "pruning": (
        "none",
        "collapse",
        "error-based",
        "cost-complexity",
        "pessimistic",
        "mdl",
        "simplify",
        "adjusted-error",
        "reduced-error",
        "pre-pruning",
    ),
    "search": ("greedy", *registry.ENTRIES["grower"]),
    "objective": OBJECTIVES,
    "rule": ("1-se", "half-se", "minimum"),
    "leaves": ("mean", "linear", "adaptive"),
    "probability": ("frequency", "laplace", "m-estimate"),
}


def known_names(setting: str, value: object) -> tuple[str, ...]:
    """Return the allowed names of a setting; extensions may add growers."""
    known: tuple[str, ...] = CHOICES[setting]
    if setting == "search" and value not in known:
        return (*known, *registry.names("grower"))
    return known


def check_alphas(merge: Any, resplit: Any) -> None:
    """Refuse invalid levels of merging and of splitting again.

    >>> check_alphas(0.05, 0.06)
    Traceback (most recent call last):
    spinney.errors.ParameterError: alpha_resplit=0.06: give a number below \
alpha_merge=0.05, or 0 to leave merged groups whole
    """
    if not (is_real(merge) and 0 < merge <= 1):
        raise refusal(Setting("alpha_merge", merge), remedy="give a number in (0, 1]")
    if not (is_real(resplit) and 0 <= resplit < merge):
        raise refusal(
            Setting("alpha_resplit", resplit),
            remedy=phrase(
                "give a number below {}, or 0 to leave merged groups whole",
                Setting("alpha_merge", merge),
            ),
        )
