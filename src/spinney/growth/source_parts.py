"""Which parts of a source a recipe needs; a source that lacks one is refused."""

from spinney.errors import ParameterError
from spinney.recipes import Recipe
from spinney.search import policy_named
from spinney.sources import Counts, Formulas, Surrogates


def refuse_lacking_source(source: Counts, recipe: Recipe) -> None:
    """Refuse a recipe that asks questions which a source cannot answer."""
    numeric = source.schema.target.is_numeric
    surrogates = policy_named(recipe.missing).surrogates
    needs = (
        ("missing", surrogates, Surrogates, "'branch'"),
        ("linear_terms", recipe.linear_terms > 1, Formulas, "0"),
        ("construct", recipe.construct > 0, Formulas, "0"),
        ("leaves", numeric and recipe.leaves == "linear", Formulas, "'mean'"),
        ("pruning", numeric and fits_models(recipe), Formulas, "'none'"),
    )
    for name, is_needed, part, instead in needs:
        if is_needed and not isinstance(source, part):
            msg = (
                f"{name}={getattr(recipe, name)!r} (recipe {recipe.name!r}) asks for "
                f"{part.__name__.lower()}, which {type(source).__name__} does not "
                f"answer: take {name}={instead}, or read the rows (source='memory')"
            )
            raise ParameterError(msg)


def fits_models(recipe: Recipe) -> bool:
    """Return whether the nodes of a tree of numbers are fitted by linear models."""
    return (
        recipe.leaves == "linear"
        or recipe.pruning == "adjusted-error"
        or recipe.smoothing > 0
    )
