"""Every option of the shell has the name of the Python parameter that it sets."""

from dataclasses import fields
from inspect import signature

import click
import pytest

import spinney
from spinney import (
    ForestClassifier,
    ForestRegressor,
    KMeans,
    KPrototypes,
    Recipe,
    RuleSet,
    TextFormat,
    TreeClassifier,
    TreeRegressor,
    plots,
)
from spinney.cli import cli
from spinney.cli.shell_words import matching_option

# What a command calls; an option that turns on a function has that function's name.
RECIPE = [Recipe]
TREE = [spinney.grow, TreeClassifier, TreeRegressor, *RECIPE]
CLUSTERS = [spinney.find_clusters, KMeans, KPrototypes, spinney.choose_k]
STUDY = [spinney.evaluate, TreeClassifier]
CALLED = {
    "look": [spinney.look, spinney.association],
    "grow": [*TREE, TreeClassifier.updated],
    "forest": [
        *(spinney.grow_forest, ForestClassifier, ForestRegressor, *RECIPE),
        *(
            ForestClassifier.permutation_importances,
            ForestClassifier.grouped_importances,
        ),
    ],
    "cluster": [*CLUSTERS, KMeans.plot],
    "show": [TreeClassifier.plot, TreeClassifier.node_errors, TreeClassifier.read],
    "explore": [TreeClassifier.explore, TreeClassifier.read],
    "rules": [TreeClassifier.ruleset, TreeClassifier.read],
    "explain": [TreeClassifier.explain, TreeClassifier.read],
    "export": [TreeClassifier.export],
    "lesson": [*TREE, TreeClassifier.prune, *CLUSTERS],
    "prune": [TreeClassifier.prune, TreeClassifier.read],
    "predict": [TreeClassifier.read, TreeClassifier.batches, TreeClassifier.export],
    "score": [spinney.score],
    "evaluate": [
        *(*STUDY, spinney.learning_curve, spinney.scalability, spinney.robustness),
        spinney.score,
    ],
    "recipes": [],
    "info": [],
    "compile": [],
    "plot tree": [TreeClassifier.plot],
    "plot importances": [plots.importances],
    "plot pruning": [TreeClassifier.prune],
    "plot regions": [plots.regions],
    "plot confusion": [plots.confusion, TreeClassifier.read],
    "plot roc": [plots.roc, TreeClassifier.read],
    "plot calibration": [plots.calibration, TreeClassifier.read],
    "plot learning-curve": [*STUDY, spinney.learning_curve, plots.learning_curve],
    "plot robustness": [*STUDY, spinney.robustness, plots.robustness],
    "plot buckets": [spinney.discretise, spinney.evaluate],
    "plot clusters": CLUSTERS,
    "plot iterations": CLUSTERS,
    "plot elbow": CLUSTERS,
}

# Options without a parameter of Python, and why.
OUTPUT = {
    "--output": "where a result is written; Python returns it",
    "--overwrite": "the parameter of save; any output may be overwritten",
    "--json": "the form of the output; Python has as_dict",
    "--ascii": "the form of the output; Python has text(ascii_only=True)",
    "--quiet": "whether a result is printed",
    "--open": "whether a page is shown in a browser",
    "--svg": "where a picture is written; Python's has save",
    "--spreadsheet": "the form of the output",
    "--output-format": "the form of the output",
    "--numbers": "the form of the output",
}
SHELL_ONLY = {
    "--max-lines": "how much is printed; Python has model.text",
    "--set": "any setting of a recipe; Python has Recipe.changed",
    "--tree": "one tree of a forest; Python has forest.trees",
    "grow --update": "the model whose method is called",
    "cluster --model": "where the clusters are saved; Python has save",
    "cluster --elbow": "a picture; Python has plots.by_k",
    "cluster --explain": "what is printed; Python has KMeans.explain",
    "cluster --explain-rows": "the parameter rows of KMeans.explain",
    "cluster --method": "the class in Python: KMeans or KPrototypes",
    "rules --simplify": "the data of ruleset, which rules has not",
    "explain --row-number": "which row of a table; Python has the row itself",
    "predict --probabilities": "a column; Python has predict_proba",
    "predict --leaf": "a column; Python has apply",
    "predict --append": "short for --keep all",
    "predict --into": "the table that a database makes",
    "evaluate --measure": "which columns are printed; Python has text(measures=)",
    "plot buckets --column": "the values in Python",
}


def parameters_of(function):
    if function is Recipe:
        return {field.name for field in fields(Recipe)}
    return {*signature(function).parameters}


def commands():
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        kinds = getattr(command, "commands", None)
        if kinds is None:
            yield name, command
        else:
            yield from ((f"{name} {kind}", each) for kind, each in kinds.items())


COMMANDS = dict(commands())


def test_every_command_is_listed():
    assert COMMANDS.keys() == CALLED.keys()


def long_options(command):
    for param in command.params:
        if isinstance(param, click.Option):
            yield [name for name in param.opts if name.startswith("--")]


@pytest.mark.parametrize("name", CALLED)
def test_options_have_the_names_of_parameters(name):
    called = [*CALLED[name], TextFormat]
    parameters = set().union(*map(parameters_of, called))
    parameters |= {function.__name__ for function in called}
    for names in long_options(COMMANDS[name]):
        first = names[0]
        if {first, f"{name} {first}"} & {*OUTPUT, *SHELL_ONLY}:
            continue
        assert any(matching_option(each, names) for each in parameters), first


def test_no_exception_is_left_over():
    known = set()
    for name, command in COMMANDS.items():
        for names in long_options(command):
            known |= {names[0], f"{name} {names[0]}"}
    assert {*OUTPUT, *SHELL_ONLY} <= known


def test_rule_sets_and_tables_are_saved_alike():
    assert "overwrite" in signature(RuleSet.save).parameters
