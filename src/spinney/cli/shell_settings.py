"""Settings of recipes that have no option of their own: ``--set NAME=VALUE``."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from spinney.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from spinney.recipes import Recipe

# What is asked for, and how it is read, by the type of a field of Recipe.
CHOICES = {"true": True, "false": False}
# The settings of recipes that have an option of their own in some command.
OPTIONS = (
    *("criterion", "missing_policy", "max_depth", "max_leaves", "min_samples_leaf"),
    *("pruning", "seed"),
)
WORDS = {int: "a whole number", float: "a number", bool: "true or false"}


def setting_of(name: str, text: str) -> Any:
    """Return the value of a setting from its text, by the type that it has.

    >>> setting_of("folds", "5"), setting_of("exhaustive", "true")
    (5, True)
    >>> setting_of("max_depth", "none"), setting_of("rule", "1-se")
    (None, '1-se')
    """
    from spinney.recipes import SETTINGS, Recipe

    if name not in SETTINGS:
        msg = f"a recipe has no {name!r}: {did_you_mean(name, SETTINGS)}"
        raise ParameterError(msg)
    hint = get_type_hints(Recipe)[name]
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and text.lower() == "none":
        return None
    kind = next(kind for kind in (bool, int, float, str) if kind in kinds)
    try:
        return CHOICES[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        none = ", or none" if type(None) in kinds else ""
        msg = f"{name}={text!r} must be {WORDS[kind]}{none}"
        raise ParameterError(msg) from None


def text_of(value: object) -> str:
    """Return a value of a setting as ``--set`` takes it.

    >>> text_of(None), text_of(True), text_of("k-means"), text_of(0.5)
    ('none', 'true', 'k-means', '0.5')
    """
    plain = value is None or isinstance(value, bool)
    return str(value).lower() if plain else str(value)


def plain_value(text: str) -> Any:
    """Return a text as the number, the truth or the text that it is.

    >>> plain_value("3"), plain_value("0.5"), plain_value("true"), plain_value("sqrt")
    (3, 0.5, True, 'sqrt')
    """
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return CHOICES.get(text, text)


def pairs_of(given: Iterable[str], label: str, form: str) -> dict[str, str]:
    """Return texts NAME=VALUE as names with values; ``form`` shows how they read."""
    pairs: dict[str, str] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            msg = f"{label}: {text!r} must read {form}"
            raise ParameterError(msg)
        name = name.replace("-", "_")
        if name in pairs:
            msg = f"{label}: {name} is set twice: set it once"
            raise ParameterError(msg)
        pairs[name] = value
    return pairs


def settings_of(
    given: tuple[str, ...], options: Collection[str] = ()
) -> dict[str, Any]:
    """Return the settings that ``--set`` gives, by name.

    What is no setting, but has one of these options, is refused with it.
    """
    from spinney.cli.shell_words import option_of
    from spinney.recipes import SETTINGS

    settings: dict[str, Any] = {}
    pairs = pairs_of(given, "--set", "NAME=VALUE, such as --set min_step=0")
    for name, text in pairs.items():
        option = None if name in SETTINGS else option_of(name, options)
        if option is not None:
            msg = (
                f"--set {name}={text}: {name!r} is no setting of a recipe: give it by "
                f"{option}"
            )
            raise ParameterError(msg)
        try:
            settings[name] = setting_of(name, text)
        except ParameterError as error:
            see = " See" if str(error).endswith("?") else "; see"
            msg = f"--set {name}={text}: {error}{see} spinney recipes NAME"
            raise ParameterError(msg) from None
    return settings


def recipe_of(
    options: Mapping[str, Any], default: "Recipe | None" = None
) -> tuple[Any, dict[str, Any]]:
    """Return the recipe that options name, and the settings that change it."""
    given = options["recipe"]
    recipes, settings = recipes_of({**options, "recipe": (given,)}, default=default)
    return recipes[0], settings


def recipes_of(
    options: Mapping[str, Any], default: "Recipe | str | None" = None
) -> tuple[list[Any], dict[str, Any]]:
    """Return the recipes that options name, and the settings that change them all."""
    from spinney.cli.shell_words import option_name, option_of
    from spinney.recipes import Recipe

    values = {name: options.get(name) for name in OPTIONS}
    values["seed"] = options.get("random_state")
    settings = {name: value for name, value in values.items() if value is not None}
    known = [option_name(option.rstrip("_")) for option in options]
    further = settings_of(options["set"], known)
    recipes = list(options["recipe"]) or [default]
    for name in further:
        if name in settings:
            option = option_of(name, known)
            msg = f"{option} and --set {name} are the same setting: leave one out"
            raise ParameterError(msg)
    empty: dict[str, Any] = {n: None for n, value in further.items() if value is None}
    if empty:  # for changes, None is what is not given
        named = [Recipe.named(recipe or default or "") for recipe in recipes]
        recipes = [
            replace(recipe, **empty, given=recipe.given.union(empty))
            for recipe in named
        ]
    return recipes, {**settings, **further}
