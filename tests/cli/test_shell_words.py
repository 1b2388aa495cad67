"""What users set, as the shell says it."""

import click
import pytest

from spinney.cli import cli
from spinney.cli.shell_words import ShellWords
from spinney.errors import PythonOnly, Setting, Step, refusal


def words(name):
    return ShellWords(cli.get_command(click.Context(cli), name), commands=cli)


@pytest.mark.parametrize(
    "command, setting, text",
    [
        ("grow", Setting("max_depth", 3), "--max-depth 3"),
        ("grow", Setting("max_depth"), "--max-depth"),
        ("grow", Setting("missing_policy", "mean"), "--missing-policy 'mean'"),
        (
            "grow",
            Setting("missing_values", ["?", "n a"]),
            "--missing-values '?' --missing-values 'n a'",
        ),
        ("grow", Setting("forced_splits", {"x": 1}), "--forced-split x=1"),
        ("grow", Setting("test_costs", {"x": -1}), "--test-cost x=-1"),
        ("grow", Setting("raising", False), "--set raising=false"),
        ("prune", Setting("raising", False), "--no-raising"),
        ("prune", Setting("raising", True), "--raising"),
        ("grow", Setting("random_state", 7), "--random-state 7"),
        ("grow", Setting("bootstrap", False), "bootstrap=False"),
        ("forest", Setting("bootstrap", False), "--no-bootstrap"),
        ("forest", Setting("replace", False), "--no-replace"),
        ("forest", Setting("n_estimators", 0), "--n-estimators 0"),
        ("cluster", Setting("n_clusters"), "--n-clusters"),
        ("cluster", Setting("standardise", True), "--standardise"),
        ("evaluate", Setting("recipe", "id4"), "--recipe 'id4'"),
        ("evaluate", Setting("recipes"), "--recipe"),
        ("evaluate", Setting("missing_rate", [0.1]), "--missing-rate 0.1"),
        ("evaluate", Setting("max_depth", 3), "max_depth=3"),
        ("prune", Setting("data", ...), "--data TABLE"),
        ("prune", Setting("nodes", [3, 7]), "--node 3 --node 7"),
    ],
)
def test_settings(command, setting, text):
    assert words(command)(setting) == text


def test_settings_that_have_no_option_of_their_own():
    command = click.Command("grow", params=[click.Option(["--set"])])
    assert ShellWords(command)(Setting("min_step", 0.5)) == "--set min_step=0.5"
    assert ShellWords(command)(Setting("buckets", None)) == "--set buckets=none"
    assert ShellWords(command)(Setting("rule", "a b")) == "--set 'rule=a b'"
    assert ShellWords(command)(Setting("n_buckets", ...)) == "--set n_buckets=VALUE"
    assert ShellWords(command)(Setting("smoothing")) == "--set smoothing"
    assert ShellWords(command)(Setting("progress", 0.5)) == "progress=0.5"


def test_without_a_command_it_is_said_as_in_python():
    assert ShellWords()(Setting("max_depth", 3)) == "max_depth=3"
    assert ShellWords()(Step("prune")) == "model.prune()"


def test_steps_and_words_of_python():
    step = Step("prune", (Setting("pruning", "manual"), Setting("nodes", [3])))
    assert words("grow")(step) == "spinney prune MODEL --pruning 'manual' --node 3"
    assert words("grow")(PythonOnly(", or None")) == ""


def test_a_message():
    error = refusal(Setting("m", 3), ("needs ", Setting("probability", "m-estimate")))
    assert error.text(words("grow")) == "--set m=3 needs --set probability=m-estimate"
