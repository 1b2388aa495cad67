"""Settings without an option: --set, and the command that lists them."""

import json

import click
import pytest

from spinney.cli import cli
from spinney.cli.grow_command import grow
from spinney.cli.shell_options import RARE
from spinney.cli.shell_settings import OPTIONS
from spinney.recipes import RECIPE_TEXTS, RECIPES, SETTINGS


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
    options = ("--max-depth", "2", "--set", "probability=m-estimate", "--set", "m=5")
    works(*growing, *options, "-o", "m.spinney")
    assert (recipe_of(works)["max_depth"], recipe_of(works)["m"]) == (2, 5)


@pytest.mark.parametrize(
    "given, said",
    [
        (
            "min_stp=3",
            "a recipe has no setting 'min_stp': did you mean 'min_step'? See ",
        ),
        ("name=x", "a recipe has no setting 'name'"),
        ("min_step=x", "min_step='x' must be a number; see spinney recipes NAME"),
        ("folds=2.5", "folds='2.5' must be a whole number;"),
        ("max_depth=deep", "max_depth='deep' must be a whole number, or none;"),
        ("raising=maybe", "raising='maybe' must be true or false;"),
        ("min_step", "--set: 'min_step' must be NAME=VALUE"),
        ("min_step=", "--set: 'min_step=' must be NAME=VALUE"),
        ("rule=best", "--set rule=best is unknown: known: '1-se'"),
    ],
)
def test_what_means_nothing_is_refused_by_name_and_value(refused, growing, given, said):
    assert said in refused(2, *growing, "--set", given)


def test_a_setting_is_said_once(refused, growing):
    twice = refused(2, *growing, "--set", "min_step=1", "--set", "min-step=2")
    assert "min_step is set twice" in twice
    both = refused(2, *growing, "--max-depth", "3", "--set", "max_depth=2")
    assert "--max-depth and --set max_depth are the same setting" in both


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - set(OPTIONS)))
def test_a_setting_that_is_no_option_says_how_it_is_given(refused, growing, name):
    option = f"--{name.replace('_', '-')}"
    way = f"there is no option {option}: use --set {name}=4"
    assert way in refused(2, *growing, option, "4")
    assert way in refused(2, *growing, f"{option}=4")
    nothing = refused(2, *growing, option, "--quiet")
    assert f"use --set {name}=VALUE" in nothing


def test_so_does_a_flag_and_so_do_other_commands(refused, growing, melons):
    flag = refused(2, *growing, "--no-raising")
    assert "there is no option --no-raising: use --set raising=false" in flag
    line = refused(2, "forest", melons, "--target", "ripe", "--buckets", "k-means")
    assert "there is no option --buckets: use --set buckets=k-means" in line
    line = refused(2, "evaluate", melons, "--target", "ripe", "--max-depth", "3")
    assert "no option --max-depth: set it in a recipe, --recipe c4.5:max_dep" in line
    line = refused(2, "prune", "m.spinney", "--max-depth", "3")
    assert "there is no option '--max-depth': see spinney prune --help" in line


def test_names_of_python_are_told_as_options(refused, growing, melons):
    line = refused(2, *growing, "--seed", "3")
    assert "there is no option --seed: use --random-state 3" in line
    line = refused(2, "forest", melons, "--target", "ripe", "--no-bootstrap=2")
    assert "option '--no-bootstrap' does not take a value" in line
    line = refused(2, *growing, "--priors", "true=0.5")
    assert "there is no option --priors: use --prior true=0.5" in line
    for setting, option in [
        ("random_state=3", "--random-state"),
        ("class_weight=balanced", "--class-weight"),
        ("tie_break_order=root", "--tie-break-order"),
    ]:
        line = refused(2, *growing, "--set", setting)
        assert f"is no recipe setting: use {option}" in line


def test_the_seed_of_a_forest_is_no_setting(refused, melons):
    line = refused(2, "forest", melons, "--target", "ripe", "--set", "seed=3")
    assert "--set seed=3 applies to single trees: use --random-state" in line


def test_one_of_two_options_that_say_the_same(refused, growing):
    line = refused(2, *growing, "--class-weight", "balanced", "--prior", "true=0.5")
    assert "--prior and --class-weight say the same thing twice: give one" in line


def test_after_two_dashes_there_are_no_options(refused, write):
    write("t.csv", "x,y\n1,a\n2,b\n")
    line = refused(3, "grow", "--target", "y", "--", "--leaves")
    assert "--leaves" in line
    assert "--set" not in line


def test_a_forest_is_set_too(works, melons):
    given = (
        "forest",
        melons,
        "--target",
        "ripe",
        "--n-estimators",
        "3",
        "-o",
        "m.spinney",
    )
    works(*given, "--set", "buckets=k-means", "--set", "n_buckets=3")
    assert recipe_of(works)["n_buckets"] == 3


@pytest.mark.parametrize(
    "name, most, in_all, groups",
    [
        ("grow", 18, 46, ["Data", "Recipe", "Limits", "Pruning", "Output", "Other"]),
        ("forest", 25, 43, ["Data", "Forest", "Recipe", "Limits", "Output", "Other"]),
        (
            "evaluate",
            19,
            38,
            ["Data", "Recipes", "Rows", "Experiments", "Output", "Other"],
        ),
        ("prune", 15, 24, ["Rows", "Pruning", "Output", "Other"]),
        ("cluster", 24, 40, ["Data", "Clusters", "Output", "Other"]),
    ],
)
def test_the_options_can_be_taken_in(works, name, most, in_all, groups):
    lines = works(name, "--help").splitlines()
    titles = [line[:-1] for line in lines if line.endswith(":") and line[0] > " "]
    assert titles == groups
    shown = [line for line in lines if line.startswith("  -")]
    assert len(shown) <= most + 2  # --help and --help-all
    whole = works(name, "--help-all")
    options = cli.get_command(click.Context(cli), name).params[1:]  # without DATA
    assert len(options) <= in_all
    for option in options:
        assert option.opts[-1] in whole


def test_few_options_are_shown_at_once(works):
    lines = works("predict", "--help").splitlines()
    titles = [line[:-1] for line in lines if line.endswith(":") and line[0] > " "]
    assert titles == ["Data", "Columns", "Output", "Other"]
    shown = [line for line in lines if line.startswith("  -")]
    options = cli.get_command(click.Context(cli), "predict").params[2:]
    common = [option for option in options if option.name not in RARE]
    assert len(shown) == len(common) + 2 <= 13  # with --help and --help-all
    assert len(options) <= 19


def test_options_of_the_recipe_are_settings_and_options_of_grow():
    names = {option.name for option in grow.params}
    assert set(OPTIONS) <= set(SETTINGS)
    assert set(OPTIONS) - {"seed"} <= names


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


def test_names_that_a_setting_may_have(works):
    (line,) = (s for s in works("recipes", "cart").splitlines() if s[:5] == "rule ")
    assert line.endswith(" (1-se, half-se or minimum)")
    settings = json.loads(works("recipes", "cart", "--json"))["settings"]
    choices = {s["name"]: s["choices"] for s in settings if "choices" in s}
    assert choices["leaves"] == ["mean", "linear", "adaptive"]
    assert "m" not in choices


def test_in_a_narrow_terminal_no_word_is_lost(works, monkeypatch):
    wide = works("recipes", "c4.5")
    for width in (20, 40, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        narrow = works("recipes", "c4.5")
        assert narrow.split() == wide.split()
        assert max(map(len, narrow.splitlines())) <= max(width, 40)


def test_a_recipe_that_is_not_there(refused):
    assert "did you mean 'c4.5'" in refused(2, "recipes", "c45")
