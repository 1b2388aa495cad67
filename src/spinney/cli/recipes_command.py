"""The command ``recipes``: the recipes and their settings."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import click

from spinney._support.text_table import GAP, aligned
from spinney.cli.shell_options import examples, json_option
from spinney.cli.shell_output import as_json, line_width, write_data, write_text
from spinney.cli.shell_settings import format_setting

MIN_WIDTH = 24  # of a column of descriptions
INDENT = 4  # of descriptions below the names


@click.command(
    epilog=examples(
        "spinney recipes",
        "spinney recipes c4.5",
        "spinney grow melons.csv --target ripe --recipe c4.5 --set min_step=0",
    ),
    short_help="Print the recipes, or every setting of one.",
)
@click.argument("name", required=False)
@json_option
def recipes(name: str | None, *, json_: bool) -> None:
    """Print the recipes, or every setting of the recipe NAME.

    --set NAME=VALUE changes any setting.
    """
    from spinney.recipes import (
        RECIPE_TEXTS,
        RECIPES,
        SETTINGS,
        Recipe,
        setting_choices,
        setting_texts,
    )

    facts: dict[str, Any]
    if name is None:
        rows = [[recipe_name, RECIPE_TEXTS[recipe_name]] for recipe_name in RECIPES]
        facts = {"recipes": [{"name": n, "description": text} for n, text in rows]}
    else:
        recipe, texts, choices = Recipe.named(name), setting_texts(), setting_choices()
        values = {setting: getattr(recipe, setting) for setting in SETTINGS}
        facts = {
            "recipe": recipe.name,
            "description": RECIPE_TEXTS[recipe.name],
            "settings": [
                {"name": setting, "value": value, "description": texts[setting]}
                | ({"choices": choices[setting]} if setting in choices else {})
                for setting, value in values.items()
            ],
        }
        rows = [
            [
                setting,
                format_setting(value),
                texts[setting] + _choices_text(choices.get(setting, ())),
            ]
            for setting, value in values.items()
        ]
    if json_:
        write_data(as_json("recipes" if name is None else "recipe", facts))
    else:
        write_text(lambda _: _table_text(rows, line_width()))


def _choices_text(choices: Sequence[str]) -> str:
    """Return the values that a setting may have, after its description."""
    return f" ({', '.join(choices[:-1])} or {choices[-1]})" if choices else ""


def _table_text(rows: list[list[str]], width: int | None) -> str:
    """Return rows as lines, with descriptions wrapped in the last column.

    If that column would be too narrow to read, descriptions stand below the names.
    """
    names = [row[:-1] for row in rows]
    heads = aligned([[*cells, ""] for cells in names], left=range(len(rows[0])))
    start = max(map(len, heads)) + GAP
    below = width is not None and width < start + MIN_WIDTH
    if below:
        start = INDENT
    lines = []
    for head, row in zip(heads, rows, strict=True):
        parts = [row[-1]]
        if width is not None and row[-1]:
            size = width - start
            parts = wrap(row[-1], size, break_long_words=False, break_on_hyphens=False)
        if below:
            lines.append(head.rstrip())
        else:
            lines.append(f"{head.ljust(start)}{parts.pop(0)}".rstrip())
        lines += [" " * start + part for part in parts]
    return "\n".join(lines)
