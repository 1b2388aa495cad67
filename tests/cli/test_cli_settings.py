"""Settings without an option: --set, and the command that lists them."""

import json

import pytest

from spinney.cli.grow_command import grow
from spinney.recipes import COMMON_SETTINGS, RECIPE_TEXTS, RECIPES, SETTINGS


@pytest.fixture
def growing(melons):
    return ("grow", melons, "--target", "ripe", "--ignore", "id", "--recipe", "c4.5")


def recipe_of(works):
    return json.loads(works("info", "m.spinney", "--json"))["recipe"]


def test_any_setting_is_set_by_the_type_that_it_has(works, growing):
    values = {"min_step": "0.5", "raising": "false", "thresholds": "midpoint"}
    options = [f"--set={name}={value}" for name, value in values.items()]
    works(*growing, *options, "-o", "m.spinney")
    recipe = recipe_of(works)
    assert [recipe[name] for name in values] == [0.5, False, "midpoint"]


def test_none_takes_a_limit_away(works, melons):
    given = ("grow", melons, "--target", "ripe", "--recipe", "chaid", "-o", "m.spinney")
    works(*given, "--set", "alpha_split=none", "--set", "min-samples-split=2")
    assert recipe_of(works)["alpha_split"] is None
    assert recipe_of(works)["min_samples_split"] == 2


def test_settings_and_options_are_taken_together(works, growing):
    options = ("--probability", "m-estimate", "--set", "m=5", "-o", "m.spinney")
    works(*growing, *options)
    assert recipe_of(works)["m"] == 5


@pytest.mark.parametrize(
    "given, said",
    [
        ("min_stp=3", "--set min_stp=3: a recipe has no 'min_stp': did you mean"),
        ("name=x", "a recipe has no 'name'"),
        ("min_step=x", "min_step='x' must be a number; spinney recipes"),
        ("folds=2.5", "folds='2.5' must be a whole number;"),
        ("max_depth=deep", "max_depth='deep' must be a whole number, or none;"),
        ("raising=maybe", "raising='maybe' must be true or false;"),
        ("min_step", "--set: 'min_step' must read NAME=VALUE"),
        ("min_step=", "--set: 'min_step=' must read NAME=VALUE"),
        ("rule=best", "'best' is unknown"),
    ],
)
def test_what_means_nothing_is_refused_by_name_and_value(refused, growing, given, said):
    assert said in refused(2, *growing, "--set", given)


def test_a_setting_is_said_once(refused, growing):
    twice = refused(2, *growing, "--set", "min_step=1", "--set", "min-step=2")
    assert "min_step is set twice" in twice
    both = refused(2, *growing, "--max-depth", "3", "--set", "max_depth=2")
    assert "--max-depth and --set max_depth say the same setting" in both


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - {*COMMON_SETTINGS, "seed"}))
def test_an_option_that_has_left_says_what_it_has_become(refused, growing, name):
    option = f"--{name.replace('_', '-')}"
    assert f"{option} has become --set {name}=" in refused(2, *growing, option, "1")
    assert f"{option} has become --set {name}=" in refused(2, *growing, f"{option}=1")


def test_so_does_a_flag_and_the_command_of_forests(refused, growing, melons):
    assert "--no-raising has become --set raising=false" in refused(
        2, *growing, "--no-raising"
    )
    line = refused(2, "forest", melons, "--target", "ripe", "--buckets", "k-means")
    assert "--buckets has become --set buckets=" in line


def test_a_forest_is_set_too(works, melons):
    given = ("forest", melons, "--target", "ripe", "--trees", "3", "-o", "m.spinney")
    works(*given, "--set", "buckets=k-means", "--set", "n_buckets=3")
    assert recipe_of(works)["n_buckets"] == 3


def test_the_options_can_be_taken_in(works):
    assert len(grow.params) <= 43
    text = works("grow", "--help")
    titles = [
        line for line in text.splitlines() if line.endswith(":") and line[0] > " "
    ]
    groups = ["Data:", "Recipe:", "Limits:", "Pruning:", "Output:", "Other:"]
    assert titles == groups
    options = {option for param in grow.params for option in param.opts}
    for name in COMMON_SETTINGS:
        name = {"missing": "missing_policy"}.get(name, name)
        assert f"--{name.replace('_', '-')}" in options


def test_the_recipes(works):
    lines = works("recipes").splitlines()
    assert [line.split()[0] for line in lines] == list(RECIPES) == list(RECIPE_TEXTS)
    listed = json.loads(works("recipes", "--json"))["recipes"]
    assert [entry["name"] for entry in listed] == list(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_with_every_setting(works, name):
    lines = works("recipes", name).splitlines()
    assert [line.split()[0] for line in lines] == list(SETTINGS)
    data = json.loads(works("recipes", name, "--json"))
    assert data["recipe"] == name
    assert {s["name"]: s["value"] for s in data["settings"]} == {
        setting: getattr(RECIPES[name], setting) for setting in SETTINGS
    }


def test_a_recipe_that_is_not_there(refused):
    assert "did you mean 'c4.5'" in refused(2, "recipes", "c45")
