"""The command that says what recipes there are, and what is in them."""

from textwrap import wrap
from typing import Any

import click

from spinney._support.text_table import GAP, aligned
from spinney.cli.shell_options import examples, json_option
from spinney.cli.shell_output import as_json, line_width, write_data, write_text
from spinney.cli.shell_settings import text_of

NARROWEST = 24  # a column of words that can be read


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
    from spinney.recipes import RECIPE_TEXTS, RECIPES, SETTINGS, Recipe, setting_texts

    facts: dict[str, Any]
    if name is None:
        lines = [(each, RECIPE_TEXTS[each]) for each in RECIPES]
        facts = {"recipes": [{"name": n, "description": text} for n, text in lines]}
        rows = [[each, text] for each, text in lines]
    else:
        recipe, texts = Recipe.named(name), setting_texts()
        values = {each: getattr(recipe, each) for each in SETTINGS}
        facts = {
            "recipe": recipe.name,
            "description": RECIPE_TEXTS[recipe.name],
            "settings": [
                {"name": each, "value": value, "description": texts[each]}
                for each, value in values.items()
            ],
        }
        rows = [[n, text_of(value), texts[n]] for n, value in values.items()]
    if json_:
        write_data(as_json("recipes" if name is None else "recipe", facts))
    else:
        write_text(lambda _: _in_lines(rows, line_width()))


def _in_lines(rows: list[list[str]], width: int | None) -> str:
    """Return rows as lines; a description that is too long goes on under its column."""
    names = [row[:-1] for row in rows]
    heads = aligned([[*cells, ""] for cells in names], left=range(len(rows[0])))
    start = max(map(len, heads)) + GAP
    room = None if width is None or width < start + NARROWEST else width - start
    lines = []
    for head, row in zip(heads, rows, strict=True):
        parts = [row[-1]] if room is None else wrap(row[-1], room) or [""]
        lines += [f"{head.ljust(start)}{parts[0]}".rstrip()]
        lines += [" " * start + part for part in parts[1:]]
    return "\n".join(lines)
