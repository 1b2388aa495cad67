"""Every parameter refuses a wrong type and a wrong value, and says its own name.

Parameters come from signatures and commands: a new one is tried without a line here. A
parameter that names a column, a file or a table is known by what it was given, which
the message quotes.
"""

import inspect

import click
import pytest

import spinney
from spinney import SpinneyError
from spinney.cli import cli, run

ROWS = {
    "x": [0.5, 1.5, 2.5, 3.5] * 3,
    "word": ["u", "v", "u", "w"] * 3,
    "y": ["a", "a", "b", "b"] * 3,
}
ASKED = {name: ROWS[name] for name in ("x", "word")}
NUMBERS = {"x": ROWS["x"], "z": [float(i) for i in range(12)]}
NOTHING = "no such thing"


class Odd:
    """What no parameter takes."""

    def __repr__(self):
        return "<odd>"


WRONG = {"a wrong type": Odd(), "a wrong text": NOTHING, "a wrong number": -1}
WRONG["not a number"] = float("nan")

# Numbers of threads count back from all cores; a weight of -1 is no name of a column.
RIGHT = {("n_jobs", "a wrong number")}
# Tables, columns and files are quoted.
QUOTED = {"data", "X", "target", "weight", "validation", "path", "rows"}
# What is no text, no number and no table at all is known by its type.
TYPED = {"data", "X", "validation", "rows", "model", "labels", "values"}


def parameters_of(function):
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    given = inspect.signature(function).parameters
    return [name for name, each in given.items() if each.kind not in kinds]


def check_refused(call, parameter, case):
    """Assert that a call with a wrong value is refused in words that name it."""
    value = WRONG[case]
    with pytest.raises(SpinneyError) as caught:
        call(value)
    words = str(caught.value)
    known = [parameter]
    if parameter in QUOTED:
        known.append(repr(value))
    if parameter in TYPED:
        known += [type(value).__name__, "array", "pass one"]
    # Several recipes are refused one by one.
    known += [parameter.removesuffix("s")] if parameter == "recipes" else []
    assert any(word in words for word in known), words


ESTIMATORS = [
    name
    for name in spinney.__all__
    if inspect.isclass(getattr(spinney, name))
    and hasattr(getattr(spinney, name), "fit")
]


def fit(name, **settings):
    """Fit an estimator to rows of its kind."""
    model = getattr(spinney, name)(**settings)
    if name.endswith(("Classifier", "Regressor")):
        return model.fit(ASKED, ROWS["y" if "Class" in name else "x"])
    return model.fit(ASKED if name == "KPrototypes" else NUMBERS)


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize(
    "name, parameter",
    [(n, p) for n in ESTIMATORS for p in parameters_of(getattr(spinney, n))],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_parameters_of_estimators(name, parameter, case):
    if (parameter, case) not in RIGHT:
        check_refused(lambda value: fit(name, **{parameter: value}), parameter, case)


TABLE = {"data": ROWS, "target": "y"}
FUNCTIONS = {
    "grow": {**TABLE, "recipe": "id3"},
    "grow_forest": {**TABLE, "n_estimators": 2},
    "evaluate": {**TABLE, "recipes": "id3", "folds": 2},
    "learning_curve": {**TABLE, "recipes": "id3", "folds": 2},
    "robustness": {**TABLE, "recipes": "id3", "folds": 2},
    "scalability": {**TABLE, "recipes": "id3"},
    "look": {"data": ROWS},
    "read_table": {"data": ROWS},
    "association": {"data": ROWS},
    "discretise": {"values": ROWS["x"]},
    "choose_k": {"data": NUMBERS},
    "find_clusters": {"data": NUMBERS, "n_clusters": 2},
    "explain_clusters": {"data": NUMBERS, "labels": [0, 1] * 6},
    "score": {"model": None, "data": ROWS},
    "load": {"path": NOTHING},
}


@pytest.fixture(scope="module")
def tree():
    """Return a small tree."""
    return spinney.grow(ROWS, "y", recipe="id3")


def test_every_function_is_tried():
    functions = {n for n in spinney.__all__ if inspect.isfunction(getattr(spinney, n))}
    assert functions == set(FUNCTIONS)


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize(
    "name, parameter",
    [(n, p) for n in FUNCTIONS for p in parameters_of(getattr(spinney, n))],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_parameters_of_functions(name, parameter, case, tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if (parameter, case) in RIGHT:
        return
    given = dict(FUNCTIONS[name])
    if name == "score":
        given["model"] = tree

    def call(value):
        return getattr(spinney, name)(**{**given, parameter: value})

    check_refused(call, parameter, case)


METHODS = {
    "predict": {},
    "predict_proba": {},
    "apply": {},
    "outputs": {},
    "score": {},
    "save": {"path": "m"},
    "export": {"format": "sql", "table": "t"},
    "plot": {},
}
# What scikit-learn passes and nobody reads; names that may be any text.
UNREAD = {
    *(("score", "y"), ("export", "table"), ("save", "path"), ("export", "path")),
    ("plot", "title"),
}


@pytest.mark.parametrize("case", ["a wrong type", "a wrong text"])
@pytest.mark.parametrize(
    "name, parameter",
    [
        (n, p)
        for n in METHODS
        for p in parameters_of(getattr(spinney.TreeClassifier, n))
    ],
)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_parameters_of_methods(name, parameter, case, tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if parameter == "self" or ((name, parameter) in UNREAD and case == "a wrong text"):
        return
    given = dict(METHODS[name])
    for each in parameters_of(getattr(tree, name)):
        if each == "X":
            given["X"] = ROWS
    if (name, parameter) == ("score", "y"):
        return
    check_refused(
        lambda value: getattr(tree, name)(**{**given, parameter: value}),
        parameter,
        case,
    )


# A command that works, to which a wrong option is added.
COMMANDS = {
    "look": ["t.csv"],
    "grow": ["t.csv", "--target", "y"],
    "forest": ["t.csv", "--target", "y"],
    "cluster": ["t.csv", "--columns", "x"],
    "show": ["m"],
    "explore": ["m"],
    "rules": ["m"],
    "explain": ["m", "--node", "0"],
    "export": ["m", "--format", "json"],
    "lesson": ["t.csv", "--target", "y"],
    "prune": ["m", "--validation", "t.csv", "-o", "p"],
    "predict": ["m", "t.csv"],
    "score": ["m", "t.csv"],
    "evaluate": ["t.csv", "--target", "y", "--recipe", "id3"],
    "plot": ["tree", "m", "-o", "x.svg"],
    "recipes": [],
    "info": ["m"],
    "compile": [],
}
# Options that take any text: what stands for a missing cell, where to write, the words
# of a picture and the name of a table in SQL.
ANY_TEXT = {"missing_values", "output", "model", "plot", "elbow", "title", "table"}


def options():
    context = click.Context(cli)
    for name in cli.list_commands(context):
        for each in cli.get_command(context, name).params:
            free = each.name in ANY_TEXT or {o.strip("-") for o in each.opts} & ANY_TEXT
            if isinstance(each, click.Option) and not each.is_flag and not free:
                yield name, max(each.opts, key=len)


def test_every_command_is_tried():
    assert set(COMMANDS) == set(cli.list_commands(click.Context(cli)))


@pytest.fixture
def folder(tree, tmp_path, monkeypatch):
    """Be in a folder with a table and a model."""
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(ROWS), *lines]) + "\n")
    tree.save("m")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command, option", list(options()))
def test_options_of_commands(command, option, capsys):
    code = run([command, *COMMANDS[command], option, NOTHING])
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert code in (2, 3), last
    assert option in last or NOTHING in last
    assert "bug in Spinney" not in last
