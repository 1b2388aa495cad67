"""One-line descriptions of recipes and their settings.

The descriptions are taken from the docstring of :class:`spinney.Recipe`.
"""

import re
from functools import cache
from inspect import getdoc

from spinney.recipes.recipe import Recipe

RECIPE_TEXTS = {
    "id3": "Quinlan 1986: information gain, one branch per value, no pruning",
    "c4.5": "Quinlan 1993, as J48: gain ratio, error-based pruning",
    "cart": "Breiman et al. 1984: Gini index, two branches, surrogates; not pruned",
    "chaid": "Kass 1980: significance tests, merged values",
    "auto": "best of cart by gini, cart by gain and c4.5 by cross-validation; for "
    "regression, of m5 and cart",
    "optimal": "the tree with the least training error of depth 3, proven",
    "hoeffding": "Domingos and Hulten 2000: data streams; each row is learned once",
    "m5": "Quinlan 1992, as M5P: linear models at the leaves; regression only",
}


@cache
def setting_texts() -> dict[str, str]:
    """Return the first sentence of the description of each field of a recipe.

    >>> setting_texts()["min_gain"]
    'Minimum gain of a split'
    """
    texts: dict[str, str] = {}
    for head, body in _entries():
        for name in head.partition(" : ")[0].split(", "):
            texts[name] = _sentence(body)
    return texts


@cache
def setting_choices() -> dict[str, tuple[str, ...]]:
    """Return the names that a field of a recipe may have, of those that take names.

    >>> setting_choices()["leaves"]
    ('mean', 'linear', 'adaptive')
    """
    choices: dict[str, tuple[str, ...]] = {}
    for head, _ in _entries():
        name, _, kind = head.partition(" : {")
        if kind:
            choices[name] = tuple(re.findall(r'"([^"]*)"', kind.partition("}")[0]))
    choices["criterion"] += choices["numeric_criterion"]
    return choices


def _entries() -> list[tuple[str, str]]:
    """Return each setting's name with type, and its description."""
    doc = getdoc(Recipe) or ""
    parameters = doc.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.split(r"\n(?=\S)", parameters)
    return [(head, body) for head, _, body in (e.partition("\n") for e in entries)]


def _sentence(body: str) -> str:
    """Return the first sentence of a description, without marks and references."""
    text = " ".join(body.split())
    text = re.sub(r"[;,] see :mod:`[^`]*`", "", text)
    text = re.sub(r":\w+:`([^`]*)`|``([^`]*)``", r"\1\2", text)
    return re.split(r"\.(?:\s+(?=[A-Z0-9])|$)", text)[0]
