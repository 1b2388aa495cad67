"""The text of rules says all: read as text alone, it predicts what the model does.

That is promised of rows without a missing value, where no set of values is too long to
be listed; numbers are told to six digits. Of rule sets, which have an order and a
default, it is promised of all rows.
"""

import re

import numpy as np
import pytest
from tests.helpers.export_cases import CLASSES, HUES, LEVELS, NUMBERS, SORTS, table

import spinney
from spinney.recipes import Recipe

NAMES = {NUMBERS[1]: "width", "select": "length", "hue */ ??/": "hue"}
NAMES |= {"</script>": "sort"}
PLAIN = {text: f"h{at}" for at, text in enumerate(HUES)}
PLAIN |= {text: f"s{at}" for at, text in enumerate(SORTS)}
PLAIN |= {text: f"c{at}" for at, text in enumerate(CLASSES)}
KINDS = {"ordinal": {"level": LEVELS}, "nominal": ["grade"]}


def plain_table(missing, target):
    data = table(missing=missing)
    del data["value" if target == "class" else "class"]
    return {
        NAMES.get(name, name): [PLAIN.get(cell, cell) for cell in cells]
        for name, cells in data.items()
    }


FORMS = [
    (r"(?P<low>\S+) < (?P<name>\w+) ≤ (?P<high>\S+)", "between"),
    (r"(?P<low>\S+) ≤ (?P<name>\w+) < (?P<high>\S+)", "levels"),
    (r"(?P<name>\w+) ≤ (?P<high>\S+)", "between"),
    (r"(?P<name>\w+) > (?P<low>\S+)", "between"),
    (r"(?P<name>\w+) ≥ (?P<low>\S+)", "levels"),
    (r"(?P<name>\w+) < (?P<high>\S+)", "levels"),
    (r"(?P<name>\w+) = (?P<one>\S+)", "values"),
    (r"(?P<name>\w+) ∈ \{(?P<many>.*)\}", "values"),
    (r"(?P<name>\w+) is (?P<state>missing|known)", "state"),
]


def holds(condition, row):
    """Return whether a row satisfies a condition, given as text."""
    text = condition.removesuffix(" or missing")
    for form, kind in FORMS:
        if found := re.fullmatch(form, text):
            parts = found.groupdict()
            cell = row[parts["name"]]
            if kind == "state":
                return (cell is None) == (parts["state"] == "missing")
            if cell is None:
                return condition.endswith(" or missing")
            return satisfied(kind, parts, cell)
    raise AssertionError(condition)


def satisfied(kind, parts, cell):
    if kind == "values":
        values = [parts["one"]] if parts.get("one") else parts["many"].split(", ")
        return shown(cell) in values
    if kind == "levels":
        at = LEVELS.index(cell)
        low, high = parts.get("low"), parts.get("high")
        return (not low or at >= LEVELS.index(low)) and (
            not high or at < LEVELS.index(high)
        )
    low, high = parts.get("low"), parts.get("high")
    return (not low or cell > float(low)) and (not high or cell <= float(high))


def shown(cell):
    if isinstance(cell, bool):
        return str(cell).lower()
    whole = isinstance(cell, float) and cell == int(cell)
    return str(int(cell) if whole else cell)


def rules_in(text):
    """Return the conditions and the verdict of each line."""
    rules = []
    for line in text.splitlines():
        claim = line.split("  (")[0]
        head, _, verdict = claim.rpartition(" THEN ")
        asked = head.removeprefix("IF ").split(" AND ") if head else []
        rules.append((asked, verdict.split(" = ")[1]))
    return rules


def rows_around(data, text, target):
    """Return rows as they are, and with each number of the text, and beside it."""
    names = [name for name in data if name != target]
    cells = zip(*(data[name] for name in names), strict=True)
    rows = [dict(zip(names, line, strict=True)) for line in cells]
    for at, number in enumerate(re.findall(r"(?<=[≤>] )-?[\d.e-]+", text)):
        for way in (-np.inf, 0, np.inf):
            near = float(number)
            near = float(np.nextafter(near, way)) if way else near
            rows += [{**rows[at % 60], n: near} for n in ("size", "width", "length")]
    return rows


def as_table(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
@pytest.mark.parametrize("target", ["class", "value"])
def test_the_rules_of_a_tree_are_all_there_is_to_know(recipe, target):
    if target == "value" and recipe in ("id3", "c4.5"):
        return  # which predict classes only
    data = plain_table(0.0, target)
    # To surrogates a category that a node has not seen is a missing value.
    chosen = Recipe.named(recipe)
    chosen = chosen.changed(missing_policy="branch") if recipe == "cart" else chosen
    model = spinney.grow(data, target, recipe=chosen, **KINDS)
    text = model.export("rules")
    assert "more}" not in text
    rules, rows = rules_in(text), rows_around(data, text, target)
    said = []
    for row in rows:
        fired = [v for asked, v in rules if all(holds(each, row) for each in asked)]
        assert len(fired) == 1
        said.append(fired[0] if target == "class" else float(fired[0]))
    expected = model.predict(as_table(rows)).tolist()
    assert said == (expected if target == "class" else pytest.approx(expected, 1e-5))


@pytest.mark.parametrize("recipe", ["c4.5", "cart"])
def test_the_text_of_a_rule_set_predicts_every_row(recipe):
    data = plain_table(0.1, "class")
    model = spinney.grow(data, "class", recipe=recipe, **KINDS).ruleset(data)
    text = model.export("text")
    *lines, last = text.splitlines()
    rules, rows = rules_in("\n".join(lines)), rows_around(data, text, "class")
    default = re.search(r"class = (\S+)", last).group(1)
    said = []
    for row in rows:
        fired = [v for asked, v in rules if all(holds(each, row) for each in asked)]
        said.append(fired[0] if fired else default)
    assert said == model.predict(as_table(rows)).tolist()
