"""What can be compared, and what is refused before a row is read."""

import pytest

from spinney.api import _tree_parameters
from spinney.errors import ParameterError
from spinney.extensions.evaluation.candidates import GROW_PARAMETERS, study_candidates
from spinney.recipes import RECIPES

STUMP = {"recipe": "cart", "max_depth": 1}


@pytest.mark.parametrize(
    "recipes, labels",
    [
        ("id3", ["id3"]),
        (RECIPES["cart"], ["cart"]),
        (("id3", "cart"), ["id3", "cart"]),
        (["id3", ("stump", STUMP)], ["id3", "stump"]),
        (
            {"one": "id3", "two": STUMP, "three": RECIPES["cart"]},
            ["one", "two", "three"],
        ),
        ((name for name in ("id3", "c4.5")), ["id3", "c4.5"]),
    ],
)
def test_ways_to_say_it(recipes, labels):
    assert [candidate.label for candidate in study_candidates(recipes, {})] == labels


def test_settings_hold_for_all_unless_a_variant_says_otherwise():
    one, other = study_candidates(["id3", ("stump", STUMP)], {"max_depth": 4})
    assert one.arguments == {"recipe": "id3", "max_depth": 4}
    assert other.arguments == STUMP


@pytest.mark.parametrize(
    "recipes, settings, said",
    [
        ([], {}, "recipes is empty"),
        (7, {}, "recipes: 7 is no recipe"),
        ([7], {}, "recipes: 7 is no recipe"),
        ([STUMP], {}, "is no recipe"),
        ([("a", "b", "c")], {}, "is no recipe"),
        ([("a", 3)], {}, "is no recipe"),
        ("id4", {}, "did you mean 'id3'"),
        ([("a", {"recipe": "id4"})], {}, "did you mean 'id3'"),
        (["id3", "id3"], {}, "'id3' is there twice"),
        (["cart", RECIPES["cart"].changed(max_depth=1)], {}, "'cart' is there twice"),
        ([("a", {"nominal": ["x"]})], {}, "nominal cannot be set for one recipe"),
        ("id3", {"engine": "duckdb"}, "engine cannot be set"),
        ("id3", {"recipe": "cart"}, "use recipes="),
    ],
)
def test_what_is_refused(recipes, settings, said):
    with pytest.raises(ParameterError, match=said):
        study_candidates(recipes, settings)


def test_a_parameter_that_growing_does_not_have():
    message = "'stump': there is no parameter 'max_depht': did you mean 'max_depth'"
    with pytest.raises(ParameterError, match=message):
        study_candidates([("stump", {"recipe": "cart", "max_depht": 1})], {})
    with pytest.raises(ParameterError, match="'cart': there is no parameter 'leafs'"):
        study_candidates("cart", {"leafs": 1})


def test_the_parameters_are_those_of_grow():
    assert set(GROW_PARAMETERS) == {*_tree_parameters(), "recipe"}


@pytest.mark.parametrize("entry", ["oak", ("mine", {"recipe": "oak"})])
def test_an_unknown_recipe_is_refused_with_the_forest_among_others(entry):
    with pytest.raises(ParameterError, match=r"'oak' is unknown: known: .*'forest'"):
        study_candidates([entry], {})
