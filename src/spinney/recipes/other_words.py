"""Names of other programs for our settings and values.

A name is an alias only if it means the same. Other names are refused, and the error
says what to do instead.
"""

from collections.abc import Collection, Mapping
from typing import Any

from spinney.errors import ParameterError, Setting, Text, phrase, refusal

# scikit-learn's name of a setting, and ours.
ALIASES = {"max_leaf_nodes": "max_leaves"}

# scikit-learn's name of a value, and ours. Its "friedman_mse" is the decrease of the
# squared error too: n₁n₂/(n₁ + n₂) (m₁ − m₂)² is Σ(y − m)² less that of the branches.
VALUES: Mapping[str, Mapping[str, str]] = {
    "criterion": {
        "entropy": "gain",
        "log_loss": "gain",
        "friedman_mse": "squared_error",
    }
}

# Parameters of scikit-learn's trees and forests that have no equal here.
_ELSEWHERE: Mapping[str, Text] = {
    "min_impurity_decrease": phrase(
        "scikit-learn weights it by the node's fraction of all rows, and {} is the "
        "gain at the node itself; use that, or {} to prune",
        Setting("min_gain"),
        Setting("ccp_alpha"),
    ),
    "splitter": phrase(
        "a tree takes the best split; for random thresholds use a forest with {}",
        Setting("extra_random", True),
    ),
    "monotonic_cst": "Spinney has no monotonicity constraints; remove it",
    "ccp_alpha": phrase(
        "unpruned trees vote best; remove it, or limit the trees by {}",
        Setting("min_samples_leaf"),
    ),
    "max_features": "a tree searches all attributes; a forest samples them",
}


def our_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by our names for them; one that has both is refused.

    >>> our_names({"max_leaf_nodes": 8, "max_depth": 3})
    {'max_leaves': 8, 'max_depth': 3}
    >>> our_names({"max_leaf_nodes": 8, "max_leaves": 9})
    Traceback (most recent call last):
    spinney.errors.ParameterError: max_leaf_nodes=8 and max_leaves=9 are the same \
setting: give one of them
    """
    for name, ours in ALIASES.items():
        if name in settings and ours in settings:
            raise ParameterError(
                Setting(name, settings[name]),
                (
                    " and ",
                    Setting(ours, settings[ours]),
                    " are the same setting",
                ),
                remedy="give one of them",
            )
    return {ALIASES.get(name, name): value for name, value in settings.items()}


def our_values(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with our names for their values.

    >>> our_values({"criterion": "entropy", "max_depth": 3})
    {'criterion': 'gain', 'max_depth': 3}
    """
    return {
        name: VALUES.get(name, {}).get(value, value)
        if isinstance(value, str)
        else value
        for name, value in settings.items()
    }


def refuse_elsewhere(given: Mapping[str, Any], parameters: Collection[str]) -> None:
    """Refuse parameters of scikit-learn that Spinney does not have, with a remedy.

    ``parameters`` are those that Spinney has.

    >>> refuse_elsewhere({"splitter": "random"}, ["max_depth"])
    Traceback (most recent call last):
    spinney.errors.ParameterError: splitter='random' is a scikit-learn parameter \
that Spinney does not have: a tree takes the best split; for random thresholds use a \
forest with extra_random=True
    """
    for name, value in given.items():
        if name in _ELSEWHERE and name not in parameters:
            raise refusal(
                Setting(name, value),
                "is a scikit-learn parameter that Spinney does not have",
                _ELSEWHERE[name],
            )
