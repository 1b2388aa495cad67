"""Settings of recipes: parsed from ``--set NAME=VALUE`` and other options."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from spinney.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from spinney.recipes import Recipe

CHOICES = {"true": True, "false": False}
# The settings of recipes that are also options of commands.
OPTIONS = (
    *("criterion", "missing_policy", "max_depth", "max_leaves", "min_samples_leaf"),
    *("pruning", "seed"),
)
TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false"}


def parse_setting(name: str, text: str) -> Any:
    """Return the value of a setting from its text, by the type of the setting.

    >>> parse_setting("folds", "5"), parse_setting("exhaustive", "true")
    (5, True)
    >>> parse_setting("max_depth", "none"), parse_setting("rule", "1-se")
    (None, '1-se')
    """
    from spinney.recipes import SETTINGS, Recipe

    if name not in SETTINGS:
        msg = f"a recipe has no setting {name!r}: {did_you_mean(name, SETTINGS)}"
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
        msg = f"{name}={text!r} must be {TYPE_NAMES[kind]}{none}"
        raise ParameterError(msg) from None


def format_setting(value: object) -> str:
    """Return the text of a setting, as ``--set`` reads it.

    >>> [format_setting(value) for value in (None, True, "k-means", 0.5)]
    ['none', 'true', 'k-means', '0.5']
    """
    plain = value is None or isinstance(value, bool)
    return str(value).lower() if plain else str(value)


def parse_value(text: str) -> Any:
    """Return the number or boolean that a text stands for, else the text.

    >>> parse_value("3"), parse_value("0.5"), parse_value("true"), parse_value("sqrt")
    (3, 0.5, True, 'sqrt')
    """
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return CHOICES.get(text, text)


def parse_pairs(texts: Iterable[str], label: str, form: str) -> dict[str, str]:
    """Return NAME=VALUE texts as a mapping; ``form`` is an example for messages."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            msg = f"{label}: {text!r} must be {form}"
            raise ParameterError(msg)
        name = name.replace("-", "_")
        if name in pairs:
            msg = f"{label}: {name} is set twice: set it once"
            raise ParameterError(msg)
        pairs[name] = value
    return pairs


def parse_settings(
    texts: tuple[str, ...], options: Collection[str] = ()
) -> dict[str, Any]:
    """Return the settings of ``--set``, by name.

    A name that is not a setting but one of these options is refused with the option.
    """
    from spinney.cli.shell_words import matching_option
    from spinney.recipes import SETTINGS

    settings: dict[str, Any] = {}
    pairs = parse_pairs(texts, "--set", "NAME=VALUE, such as --set min_step=0")
    for name, text in pairs.items():
        option = None if name in SETTINGS else matching_option(name, options)
        if option is not None:
            msg = f"--set {name}={text}: {name!r} is no recipe setting: use {option}"
            raise ParameterError(msg)
        try:
            settings[name] = parse_setting(name, text)
        except ParameterError as error:
            see = " See" if str(error).endswith("?") else "; see"
            msg = f"--set {name}={text}: {error}{see} spinney recipes NAME"
            raise ParameterError(msg) from None
    return settings


def chosen_recipe(
    options: Mapping[str, Any], default: "Recipe | None" = None
) -> tuple[Any, dict[str, Any]]:
    """Return the recipe in the options, and the settings that change it."""
    single = {**options, "recipe": (options["recipe"],)}
    recipes, settings = chosen_recipes(single, default=default)
    return recipes[0], settings


def chosen_recipes(
    options: Mapping[str, Any], default: "Recipe | str | None" = None
) -> tuple[list[Any], dict[str, Any]]:
    """Return the recipes in the options, and the settings that change them all."""
    from spinney.cli.shell_words import matching_option, option_name
    from spinney.recipes import Recipe

    values = {name: options.get(name) for name in OPTIONS}
    values["seed"] = options.get("random_state")
    settings = {name: value for name, value in values.items() if value is not None}
    names = [option_name(option.rstrip("_")) for option in options]
    set_by_name = parse_settings(options["set"], names)
    recipes = list(options["recipe"]) or [default]
    for name in set_by_name:
        if name in settings:
            option = matching_option(name, names)
            msg = f"{option} and --set {name} are the same setting: remove one"
            raise ParameterError(msg)
    empty: dict[str, Any] = {
        n: None for n, value in set_by_name.items() if value is None
    }
    if empty:  # Recipe.changed ignores None
        named = [Recipe.named(recipe or default or "") for recipe in recipes]
        recipes = [
            replace(recipe, **empty, given=recipe.given.union(empty))
            for recipe in named
        ]
    return recipes, {**settings, **set_by_name}
