"""What recipes and settings are, in a line each."""

from pathlib import Path

from spinney.recipes import (
    RECIPE_TEXTS,
    RECIPES,
    SETTINGS,
    setting_choices,
    setting_texts,
)
from spinney.recipes.vocabulary import BUCKETINGS, CHOICES, GROUPINGS, MISSING_POLICIES
from spinney.trees.criteria import CRITERIA

PAGE = Path(__file__).parents[2] / "docs" / "growing.md"


def test_every_recipe_has_a_line():
    assert list(RECIPE_TEXTS) == list(RECIPES)
    assert all(RECIPE_TEXTS.values())


def test_every_setting_has_a_line_of_its_own():
    texts = {name: setting_texts()[name] for name in SETTINGS}
    assert all(texts.values())
    assert len(set(texts.values())) == len(texts)
    assert "`" not in "".join(texts.values())


def test_the_page_has_the_same_lines():
    rows = PAGE.read_text("utf-8").splitlines()
    for name, text in setting_texts().items():
        if name in SETTINGS:
            start, end = f"| `{name}` | ", f" | {text} |"
            assert any(row.startswith(start) and row.endswith(end) for row in rows), (
                name
            )


def test_the_names_that_settings_take_are_all_there():
    known = {
        "criterion": CRITERIA,
        "grouping": GROUPINGS,
        "missing_policy": MISSING_POLICIES,
        "buckets": BUCKETINGS,
        **CHOICES,
    }
    choices = {n: c for n, c in setting_choices().items() if n in SETTINGS}
    assert {n: set(c) for n, c in choices.items()} == {
        n: set(c) for n, c in known.items()
    }
