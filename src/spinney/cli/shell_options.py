"""Options that several commands share, and checks of what they say."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spinney.cli.shell_output import STANDARD_OUTPUT
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.models import ReadableForest, ReadableTree
    from spinney.models.clusters import FittedClusters

Command = TypeVar("Command", bound=Callable[..., Any])

# Parameters of Python whose option is not just the name behind two dashes.
OPTION_NAMES = {
    "missing": "--missing-policy",
    "ties": "--tie",
    "force": "--split-by",
    "priors": "--prior",
    "test_costs": "--test-cost",
    "sizes": "--size",
    "recipes": "--recipe",
    "cost_matrix": "--costs",
    "nodes": "--node",
    "n_estimators": "--trees",
    "n_jobs": "--jobs",
    "n_clusters": "--k",
    "n_init": "--restarts",
    "ks": "--k",
    "init": "--start",
    "max_iter": "--max-iterations",
    "tol": "--tolerance",
}
# Beside the settings of recipes, which are called the same anyway.
SAME_NAMES = {
    "alpha",
    "class_weight",
    "data",
    "encoding",
    "extra_random",
    "format",
    "gamma",
    "holdout",
    "max_features",
    "max_samples",
    "measure",
    "method",
    "noise",
    "node",
    "ordinal",
    "recipe",
    "repeats",
    "shrinkage",
    "source",
    "standardise",
    "validation",
    "voting",
    "weight",
}


def load_any(path: str) -> "ReadableTree | ReadableForest | FittedClusters":
    """Load the tree, forest or clusters that a command is given."""
    from spinney.output.file import CLUSTERS, FOREST, format_name

    kind = format_name(path)
    if kind == FOREST:
        from spinney.models import ReadableForest
        from spinney.output.file import load_forest

        return ReadableForest(load_forest(path))
    if kind == CLUSTERS:
        from spinney.models.clusters import FittedClusters
        from spinney.output.file import load_clusters

        return FittedClusters(load_clusters(path))
    return load_readable(path)


def load_readable(path: str) -> "ReadableTree":
    """Load the tree that a command is given."""
    from spinney.models import ReadableTree
    from spinney.output.file import load_model

    if path == "-":
        msg = "a model is not read from standard input: name its file"
        raise ParameterError(msg)
    return ReadableTree(load_model(path))


def _all_of(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _many(name: str, meaning: str, *, metavar: str = "COLUMN") -> Any:
    return click.option(name, multiple=True, metavar=metavar, help=meaning)


file_options = _all_of(
    click.option(
        "--format", "format_", help="csv, tsv, parquet, jsonl or arff, for any suffix."
    ),
    click.option(
        "--encoding", default="utf-8", show_default=True, help="Of a text file."
    ),
)

reading_options = _all_of(
    _many("--nominal", "Take a column's values as names. Repeatable."),
    _many(
        "--ordinal",
        'Levels of an ordered column, low to high: "size:small<medium<large".',
        metavar="COLUMN:LOW<HIGH",
    ),
    _many("--numeric", "Take a column's values as numbers. Repeatable."),
    _many("--ignore", "Leave a column out. Repeatable."),
    _many(
        "--missing",
        "A text that stands for a missing cell, such as ? or NA. Repeatable.",
        metavar="TEXT",
    ),
    file_options,
)

table_options = _all_of(
    click.argument("data"),
    click.option("--target", required=True, metavar="COLUMN", help="What to predict."),
)

limit_options = _all_of(
    click.option("--max-depth", type=int, help="Most questions on a path."),
    click.option("--max-leaves", type=int, help="Most leaves of a tree."),
    click.option(
        "--min-samples-split", type=float, help="Least weight to split a node."
    ),
    click.option("--min-gain", type=float, help="Least gain of a split."),
)

costs_option = click.option(
    "--costs",
    metavar="FILE",
    help="What errors cost: a CSV file of actual, predicted, cost.",
)

weight_options = _all_of(
    click.option("--weight", metavar="COLUMN", help="The column of row weights."),
    _many(
        "--class-weight",
        'Multiply a class\'s weight; or "balanced". Repeatable.',
        metavar="CLASS=NUMBER",
    ),
    costs_option,
)

json_option = click.option(
    "--json", "json_", is_flag=True, help="Write plain data for programs."
)

text_options = _all_of(
    click.option("--ascii", "ascii_", is_flag=True, help="Use plain ASCII signs only."),
    json_option,
)

output_options = _all_of(
    click.option("-o", "--output", metavar="FILE", help="Write to this file."),
    click.option("--force", is_flag=True, help="Overwrite the output file."),
)


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def class_weight_of(given: tuple[str, ...]) -> Any:
    """Return class_weight as the library takes it."""
    if given == ("balanced",):
        return "balanced"
    form = 'CLASS=NUMBER, or be "balanced" and stand alone'
    return numbers_of(given, "--class-weight", form)


def cost_matrix_of(path: str | None) -> Any:
    """Return the costs of a file, if one is named."""
    from spinney.data.readers import read_costs

    return None if path is None else read_costs(path)


def numbers_of(given: tuple[str, ...], option: str, form: str) -> Any:
    """Return the numbers that a repeatable option gives to names; None if to none."""
    numbers: dict[str, float] = {}
    for text in given:
        name, sign, digits = text.rpartition("=")
        try:
            number = float(digits)
        except ValueError:
            sign = ""
        if not sign:
            msg = f"{option} {text!r} must read {form}"
            raise ParameterError(msg)
        if name in numbers:
            msg = f"{option} {text!r}: {name!r} has a number: give it once"
            raise ParameterError(msg)
        numbers[name] = number
    return numbers or None


def check_output(output: str | None, *, force: bool, option: str = "-o") -> None:
    """Refuse what cannot or must not be written, before any work is done."""
    if output is None or output == STANDARD_OUTPUT:
        return
    folder = Path(output).parent
    if not output or os.path.isdir(output):
        reason = "a folder; add the name of a file" if output else "name a file"
    elif os.path.exists(output) and not force:
        reason = "it exists; name another file, or overwrite it with --force"
    elif not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}; make it first"
    elif not os.access(folder, os.W_OK):
        reason = f"the folder {str(folder)!r} may not be written to; name another"
    else:
        return
    msg = f"{option} {output!r}: {reason}"
    raise ParameterError(msg)


def in_shell_words(message: str) -> str:
    """Return a message about a parameter of Python as one about an option.

    >>> in_shell_words("max_depth=-1 must be a whole number of at least 0, or None")
    '--max-depth -1 must be a whole number of at least 0'
    >>> in_shell_words("m=3 needs probability='m-estimate'")
    "--m 3 needs --probability 'm-estimate'"
    >>> in_shell_words("ks asks for 9 clusters of 5 different rows")
    '--k asks for 9 clusters of 5 different rows'
    """
    # A remedy is given both ways: "(ignore=['x'], --ignore x)", "(data=, --data)".
    message = re.sub(r"\(\w+=(?:\[[^][]*\]|'[^']*')?, (?=--)", "(", message)
    found = re.match(r"(\w+)(=|: | '| asks | holds )", message)
    if found is None:
        return message
    name, sign = found.groups()
    option = _option(name)
    if option is None:
        return message
    rest = message[found.end() :].removesuffix(", or None")
    # Where it is about one setting, so are the others that it needs.
    if sign == "=":
        rest = rest.removeprefix("True ")  # a flag has no value
        rest = re.sub(r"(?<=\s)(\w+)=(True\b|(?=['\w]))", _as_option, rest)
    return f"{option}{' ' if sign == '=' else sign}{rest}"


def _as_option(found: re.Match[str]) -> str:
    option = _option(found[1])
    if option is None:
        return found[0]
    return option if found[2] else f"{option} "


def _option(name: str) -> str | None:
    """Return the option of a parameter of Python, if it has one."""
    from spinney.recipes import SETTINGS

    if name in OPTION_NAMES:
        return OPTION_NAMES[name]
    known = name in SAME_NAMES or name in SETTINGS
    return f"--{name.replace('_', '-')}" if known else None
