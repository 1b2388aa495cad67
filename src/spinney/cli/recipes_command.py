"""The command that says what recipes there are, and what is in them."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import click

from spinney._support.text_table import GAP, aligned
from spinney.cli.shell_options import examples, json_option
from spinney.cli.shell_output import as_json, line_width, write_data, write_text
from spinney.cli.shell_settings import text_of

NARROWEST = 24  # a column of words that can be read
INDENT = 4  # of words that have no column of their own


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
    """Print the recipes that there are; of the recipe NAME, every setting.

    A setting without an option of its own is changed by --set NAME=VALUE.
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
        lines = [(each, RECIPE_TEXTS[each]) for each in RECIPES]
        facts = {"recipes": [{"name": n, "description": text} for n, text in lines]}
        rows = [[each, text] for each, text in lines]
    else:
        recipe, texts, choices = Recipe.named(name), setting_texts(), setting_choices()
        values = {each: getattr(recipe, each) for each in SETTINGS}
        facts = {
            "recipe": recipe.name,
            "description": RECIPE_TEXTS[recipe.name],
            "settings": [
                {"name": each, "value": value, "description": texts[each]}
                | ({"choices": choices[each]} if each in choices else {})
                for each, value in values.items()
            ],
        }
        rows = [
            [each, text_of(value), texts[each] + _among(choices.get(each, ()))]
            for each, value in values.items()
        ]
    if json_:
        write_data(as_json("recipes" if name is None else "recipe", facts))
    else:
        write_text(lambda _: _in_lines(rows, line_width()))


def _among(choices: Sequence[str]) -> str:
    """Return the names that a setting may have, after what it is."""
    return f" ({', '.join(choices[:-1])} or {choices[-1]})" if choices else ""


def _in_lines(rows: list[list[str]], width: int | None) -> str:
    """Return rows as lines; a description that is too long goes on under its column.

    Where that column would be too narrow to read, descriptions stand below the names.
    """
    names = [row[:-1] for row in rows]
    heads = aligned([[*cells, ""] for cells in names], left=range(len(rows[0])))
    start = max(map(len, heads)) + GAP
    below = width is not None and width < start + NARROWEST
    if below:
        start = INDENT
    lines = []
    for head, row in zip(heads, rows, strict=True):
        parts = [row[-1]] if width is None else _wrapped(row[-1], width - start)
        if below:
            lines.append(head.rstrip())
        else:
            lines.append(f"{head.ljust(start)}{parts.pop(0)}".rstrip())
        lines += [" " * start + part for part in parts]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines; names stay whole."""
    return wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
