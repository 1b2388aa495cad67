"""Options that several commands share, and checks of what they say."""

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spinney.cli.shell_output import STANDARD_OUTPUT
from spinney.cli.shell_words import option_of
from spinney.errors import ModelFormatError, ParameterError

if TYPE_CHECKING:
    from spinney.data import Declarations, TextFormat
    from spinney.models import FittedTree

Command = TypeVar("Command", bound=Callable[..., Any])

# Where the value of an option comes from, if a person has given it.
GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)

# Options of before, and what there is instead.
LEFT = {"--raw": "cells are written as they are, unless --spreadsheet guards them"}


def load(path: str, *kinds: str) -> Any:
    """Load the fitted model that a command is given: any, or one of these kinds."""
    from spinney.models import load_model

    if path == STANDARD_OUTPUT:
        msg = "a model is not read from standard input: name its file"
        raise ParameterError(msg)
    try:
        return load_model(path, kinds=kinds) if kinds else load_model(path)
    except ModelFormatError:
        _refuse_table(path)
        raise


def _refuse_table(path: str) -> None:
    """Say how a table becomes a model, where a model is wanted."""
    from spinney.data.readers import SUFFIXES

    file = Path(path.lower().removesuffix(".gz"))
    if file.suffix not in SUFFIXES or not Path(path).exists():
        return
    model = shlex.quote(f"{file.stem}.spinney")
    msg = (
        f"{path!r} is a table, and no model: grow one of it by spinney grow "
        f"{shlex.quote(path)} --target COLUMN -o {model}, and name that file"
    )
    raise ModelFormatError(msg) from None


def load_tree(path: str) -> "FittedTree":
    """Load the tree that a command is given; other models are refused."""
    tree: FittedTree = load(path, "tree")
    return tree


def load_member(path: str, number: int | None) -> "FittedTree":
    """Load the tree that a command is given, or one of the trees of a forest."""
    model = load(path, "tree", "forest")
    if model.kind == "forest" and number is None:
        raise ParameterError(which_tree(model, path))
    tree: FittedTree = member_of(model, path, number)
    return tree


def member_of(model: Any, path: str, number: int | None) -> Any:
    """Return a tree of a forest by its number; without one, the model as it is."""
    if number is None:
        return model
    if model.kind != "forest":
        noun = "a single tree" if model.kind == "tree" else model.kind
        msg = f"--tree {number}: {path!r} holds {noun}, and no forest: leave it out"
        raise ParameterError(msg)
    if number >= len(model.trees):
        msg = f"--tree {number}: {which_tree(model, path)}"
        raise ParameterError(msg)
    return model.trees[number]


def which_tree(model: Any, path: str) -> str:
    """Return how to name one of the trees of a forest."""
    n, typical = len(model.trees), model.forest_.typical
    best = f"; --tree {typical.number} agrees most with the forest" if typical else ""
    every = "--tree 0" if n == 1 else f"--tree 0 to --tree {n - 1}"
    trees = "one tree" if n == 1 else f"{n} trees"
    return f"{path!r} holds a forest of {trees}: name one, {every}{best}"


# Of a command with more options than these, --help leaves out the rare ones.
MOST_SHOWN = 20
RARE = frozenset(
    {"format_", "encoding", "decimal", "thousands", "dates", "skip", "engine"}
    | {
        "criterion",
        "missing_policy",
        "set",
        "prior",
        "cost_matrix",
        "test_cost",
        "tie_break_order",
    }
    | {
        "forced_split",
        "random_state",
        "n_jobs",
        "ascii_",
        "quiet",
        "weight",
        "ordinal",
        "values",
    }
    | {"missing_in_test", "repeats", "sizes"}
    | {"table", "memory_limit", "keep_rows", "update", "remove"}
)
ALL = "all options"


def _help_all(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - what Click calls with
    """Show the help with all options, and leave."""
    if wanted and not context.resilient_parsing:
        context.meta[ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class GroupedCommand(click.Command):
    """A command whose help lists options in groups, and that knows what has left.

    Options of :func:`in_group` stand under its title, the others under "Other". Of many
    options ``--help`` shows the common ones, and ``--help-all`` all.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, and the option that shows all where there are many."""
        params = super().get_params(ctx)
        if len(self.params) > MOST_SHOWN:
            params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_help_all,
                    help="Show the rarer options, too.",
                )
            )
        return params

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options of each group under its title."""
        every = ctx.meta.get(ALL) or len(self.params) <= MOST_SHOWN
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or not isinstance(param, click.Option):
                continue
            if every or param.name not in RARE:
                title = getattr(param, "group", "Other")
                groups.setdefault(title, []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse options of before, with what they have become."""
        known = {name for param in self.params for name in param.opts}
        options = args[: args.index("--")] if "--" in args else args
        for index, argument in enumerate(options):
            option, sign, value = argument.partition("=")
            if option in LEFT and option not in known:
                msg = f"there is no option {option}: {LEFT[option]}"
                raise ParameterError(msg)
            if option.startswith("--") and option not in {*known, "--help"}:
                following = "".join(args[index + 1 : index + 2])
                _refuse_setting(option, value if sign else following, known)
        return super().parse_args(ctx, args)


def _refuse_setting(option: str, value: str, known: Collection[str]) -> None:
    """Refuse an option of another name, or a setting of recipes, with the way."""
    from spinney.recipes import SETTINGS

    name = option.removeprefix("--").replace("-", "_")
    here = option_of(name, known)
    if here is not None:
        given = "" if not value or value.startswith("--") else f" {shlex.quote(value)}"
        msg = f"there is no option {option}: give {here}{given}"
        raise ParameterError(msg)
    if name.removeprefix("no_") in SETTINGS and name not in SETTINGS:
        name, value = name.removeprefix("no_"), "false"
    if name not in SETTINGS:
        return
    setting = f"{name}={'VALUE' if not value or value.startswith('--') else value}"
    if "--set" in known:
        msg = f"there is no option {option}: give --set {shlex.quote(setting)}"
        raise ParameterError(msg)
    if "--recipe" in known:
        msg = f"there is no option {option}: give it to a recipe, --recipe c4.5:"
        raise ParameterError(msg + shlex.quote(setting))


def in_group(
    title: str, *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options under a title of the command's help."""

    def decorate(command: Command) -> Command:
        decorated = all_of(*options)(command)
        for param in getattr(decorated, "__click_params__", []):
            if not hasattr(param, "group"):
                param.group = title
        return decorated

    return decorate


def all_of(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _many(name: str, meaning: str, *, metavar: str = "COLUMN") -> Any:
    return click.option(name, multiple=True, metavar=metavar, help=meaning)


file_options = all_of(
    click.option(
        "--format",
        "format_",
        help="csv, tsv, parquet, jsonl, arff or xlsx, for any suffix.",
    ),
    click.option(
        "--encoding", help="Of a text file.  [default: found by what is in it]"
    ),
    click.option("--decimal", help="Before the fraction of a number: . or ,"),
    click.option(
        "--thousands", help="Between groups of digits: , or . or ' or a space."
    ),
    click.option(
        "--dates", help="dayfirst or monthfirst: the order of dates such as 3/4/2026."
    ),
    click.option(
        "--skip", type=int, help="Lines above the one that names the columns."
    ),
)

reading_options = all_of(
    _many("--nominal", "Take a column's values as names. Repeatable."),
    _many(
        "--ordinal",
        'Levels of an ordered column, low to high: "size:small<medium<large".',
        metavar="COLUMN:LOW<HIGH",
    ),
    _many("--numeric", "Take a column's values as numbers. Repeatable."),
    _many("--ignore", "Leave a column out. Repeatable."),
    _many(
        "--values",
        'All that a column may hold, rows or not: "sky:sunny,rainy,cloudy".',
        metavar="COLUMN:ONE,OTHER",
    ),
    _many(
        "--missing-values",
        "A text that stands for a missing cell, such as ? or NA. Repeatable.",
        metavar="TEXT",
    ),
    file_options,
)

table_options = all_of(
    click.argument("data"),
    click.option("--target", required=True, metavar="COLUMN", help="What to predict."),
)

recipe_options = all_of(
    click.option(
        "--criterion",
        help="gain, gain_ratio, gini, misclassification, chi_square, g, mdl or "
        "hellinger; of two branches c_sep or twoing; for a number squared_error, "
        "variance, sdr, variance_root, f or poisson.",
    ),
    click.option(
        "--missing-policy",
        help="fractional, most-common, own-category, branch, mean, drop (which leaves "
        "rows out that lack a cell) or, of single trees, surrogate.",
    ),
    _many(
        "--set",
        "Any other setting of the recipe, such as min_gain=0.01; spinney recipes NAME "
        "lists them. Repeatable.",
        metavar="NAME=VALUE",
    ),
)

limit_options = all_of(
    click.option("--max-depth", type=int, help="Most questions on a path."),
    click.option("--max-leaves", type=int, help="Most leaves of a tree."),
    click.option(
        "--min-samples-leaf",
        type=float,
        help="Least weight of a branch; below 1, a share of that of all rows.",
    ),
)

costs_option = click.option(
    "--cost-matrix",
    metavar="FILE",
    help="What errors cost: a CSV file of actual, predicted, cost.",
)

weight_option = click.option(
    "--weight", metavar="COLUMN", help="The column of row weights."
)

table_option = click.option(
    "--table", metavar="NAME", help="The table of a database, or a SELECT."
)

# Of a table that a command can do without.
rows_options = all_of(weight_option, file_options)

class_weight_option = _many(
    "--class-weight",
    'Multiply a class\'s weight; or "balanced". Repeatable.',
    metavar="CLASS=NUMBER",
)

jobs_option = click.option(
    "--n-jobs", type=int, help="Most threads.  [default: one per core]"
)

json_option = click.option(
    "--json", "json_", is_flag=True, help="Write plain data for programs."
)

text_options = all_of(
    click.option("--ascii", "ascii_", is_flag=True, help="Use plain ASCII signs only."),
    json_option,
)

tree_option = click.option(
    "--tree",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Of a forest: this one of its trees; spinney info has their numbers.",
)

output_options = all_of(
    click.option("-o", "--output", metavar="FILE", help="Write to this file."),
    click.option("--overwrite", is_flag=True, help="Overwrite the output file."),
)


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def names_in(options: Callable[[Any], Any]) -> frozenset[str]:
    """Return the names under which a command gets the values of options.

    >>> sorted(names_in(text_options))
    ['ascii_', 'json_']
    """

    def command() -> None:
        """Do nothing: it holds the options."""

    params = options(command).__click_params__
    return frozenset(param.name for param in params)


def refuse_given(names: Collection[str], why: str) -> None:
    """Refuse those of these options of the running command that were given."""
    context = click.get_current_context()
    for param in context.command.params:
        name = param.name or ""
        if name in names and context.get_parameter_source(name) in GIVEN:
            value = context.params[name]
            value = value[0] if isinstance(value, tuple) else value
            words = param.opts[0] if value is True else f"{param.opts[0]} {value}"
            msg = f"{words} {why}"
            raise ParameterError(msg)


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


def declarations(options: Mapping[str, Any]) -> "Declarations":
    """Return what the options of :data:`reading_options` declare about columns."""
    from spinney.data import declarations_of

    kinds = ("nominal", "ordinal", "numeric", "ignore", "values")
    given = {kind: options[kind] for kind in kinds}
    return declarations_of(
        **given,
        missing_values=options["missing_values"],
        text_format=text_format_of(options),
    )


def file_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options of :data:`file_options` are to a model that reads."""
    return {
        "format": options["format_"],
        "encoding": options["encoding"],
        "text_format": text_format_of(options),
    }


def text_format_of(options: Mapping[str, Any]) -> "TextFormat":
    """Return what the options of :data:`file_options` say of how a table is written."""
    from spinney.data import TextFormat

    names = ("decimal", "thousands", "dates", "skip")
    return TextFormat(*(options[name] for name in names))


def check_model_output(options: Mapping[str, Any], noun: str = "model") -> None:
    """Refuse a file for a model that cannot or must not be written."""
    if options["output"] == STANDARD_OUTPUT:
        msg = f"-o '-': a {noun} does not go to standard output: name a file, or --json"
        raise ParameterError(msg)
    check_output(options["output"], overwrite=options["overwrite"])


def check_output(output: str | None, *, overwrite: bool, option: str = "-o") -> None:
    """Refuse what cannot or must not be written, before any work is done."""
    if output is None or output == STANDARD_OUTPUT:
        return
    folder = Path(output).parent
    if not output or os.path.isdir(output):
        reason = "a folder; add the name of a file" if output else "name a file"
    elif os.path.exists(output) and not overwrite:
        reason = "it exists; name another file, or overwrite it with --overwrite"
    elif not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}; make it first"
    elif not os.access(folder, os.W_OK):
        reason = f"the folder {str(folder)!r} may not be written to; name another"
    else:
        return
    msg = f"{option} {output!r}: {reason}"
    raise ParameterError(msg)
