"""Which parts of a source a recipe needs; a source that lacks one is refused."""

from spinney.errors import Setting, phrase, refusal
from spinney.recipes import Recipe
from spinney.search import policy_named
from spinney.sources import Counts, Formulas, Surrogates


def refuse_lacking_source(source: Counts, recipe: Recipe) -> None:
    """Refuse a recipe that asks questions which a source cannot answer."""
    numeric = source.schema.target.is_numeric
    surrogates = policy_named(recipe.missing).surrogates
    needs = (
        ("missing", surrogates, Surrogates, "branch"),
        ("linear_terms", recipe.linear_terms > 1, Formulas, 0),
        ("construct", recipe.construct > 0, Formulas, 0),
        ("leaves", numeric and recipe.leaves == "linear", Formulas, "mean"),
        ("pruning", numeric and fits_models(recipe), Formulas, "none"),
    )
    for name, is_needed, part, instead in needs:
        if is_needed and not isinstance(source, part):
            asked, engine = part.__name__.lower(), type(source).__name__
            raise refusal(
                Setting(name, getattr(recipe, name)),
                f"(recipe {recipe.name!r}) asks for {asked}, which {engine} does not "
                "answer",
                phrase(
                    "take {}, or read the rows ({})",
                    Setting(name, instead),
                    Setting("source", "memory"),
                ),
            )


def fits_models(recipe: Recipe) -> bool:
    """Return whether the nodes of a tree of numbers are fitted by linear models."""
    return (
        recipe.leaves == "linear"
        or recipe.pruning == "adjusted-error"
        or recipe.smoothing > 0
    )
