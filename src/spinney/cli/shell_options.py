"""Options that several commands share, and checks of their values."""

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spinney.cli.shell_output import STANDARD_OUTPUT
from spinney.cli.shell_words import matching_option
from spinney.errors import ModelFormatError, ParameterError

if TYPE_CHECKING:
    from spinney.data import Declarations, TextFormat
    from spinney.models import FittedTree

Command = TypeVar("Command", bound=Callable[..., Any])

# The origins of an option's value that a user has set.
SET_BY_USER = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)

# Former options, and their replacements.
REMOVED_OPTIONS = {
    "--raw": "cells are written as they are, unless --spreadsheet guards them"
}


def load(path: str, *kinds: str) -> Any:
    """Load the model of a command's argument: any, or one of these kinds."""
    from spinney.models import load_model

    if path == STANDARD_OUTPUT:
        msg = "models cannot be read from standard input: name a model file"
        raise ParameterError(msg)
    try:
        return load_model(path, kinds=kinds) if kinds else load_model(path)
    except ModelFormatError:
        _refuse_table(path)
        raise


def _refuse_table(path: str) -> None:
    """Refuse a table as a model, with the command that grows one on it."""
    from spinney.data.readers import SUFFIXES

    file = Path(path.lower().removesuffix(".gz"))
    if file.suffix not in SUFFIXES or not Path(path).exists():
        return
    model = shlex.quote(f"{file.stem}.spinney")
    msg = (
        f"{path!r} is a table, not a model: grow a model with spinney grow "
        f"{shlex.quote(path)} --target COLUMN -o {model}, and name that file"
    )
    raise ModelFormatError(msg) from None


def load_tree(path: str) -> "FittedTree":
    """Load a model that must be a single tree."""
    tree: FittedTree = load(path, "tree")
    return tree


def load_single_tree(path: str, number: int | None) -> "FittedTree":
    """Load a tree, or one of the trees of a forest."""
    model = load(path, "tree", "forest")
    if model.kind == "forest" and number is None:
        raise ParameterError(tree_choice_text(model, path))
    tree: FittedTree = select_tree(model, path, number)
    return tree


def select_tree(model: Any, path: str, number: int | None) -> Any:
    """Return a tree of a forest by its number; without one, the model as it is."""
    if number is None:
        return model
    if model.kind != "forest":
        noun = "a single tree" if model.kind == "tree" else model.kind
        msg = f"--tree {number}: {path!r} holds {noun}, not a forest: remove --tree"
        raise ParameterError(msg)
    if number >= len(model.trees):
        msg = f"--tree {number}: {tree_choice_text(model, path)}"
        raise ParameterError(msg)
    return model.trees[number]


def tree_choice_text(model: Any, path: str) -> str:
    """Return the request to choose one of the trees of a forest."""
    n, typical = len(model.trees), model.forest_.typical
    best = f"; --tree {typical.number} agrees most with the forest" if typical else ""
    every = "--tree 0" if n == 1 else f"--tree 0 to --tree {n - 1}"
    trees = "one tree" if n == 1 else f"{n} trees"
    return f"{path!r} holds a forest of {trees}: name one, {every}{best}"


# If a command has more options than these, --help hides the rare ones.
MAX_SHOWN = 20
RARE = frozenset(
    {"format_", "encoding", "decimal", "thousands", "dates", "skip", "engine", "sheet"}
    | {"criterion", "missing_policy", "set", "prior", "cost_matrix", "test_cost"}
    | {"tie_break_order", "forced_split", "random_state", "n_jobs", "ascii_"}
    | {"quiet", "weight", "ordinal", "values"}
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
    """A command that groups options in its help, and knows former options.

    Options of :func:`in_group` stand under its title, the others under "Other". If
    there are many, ``--help`` shows the common ones, and ``--help-all`` all.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; with many, --help-all is one of them."""
        params = super().get_params(ctx)
        if len(self.params) > MAX_SHOWN:
            params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_help_all,
                    help="Show the rarer options too.",
                )
            )
        return params

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options of each group under its title."""
        every = ctx.meta.get(ALL) or len(self.params) <= MAX_SHOWN
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
        """Refuse former and misspelt options, with the present ones."""
        known = {name for param in self.params for name in param.opts}
        options = args[: args.index("--")] if "--" in args else args
        for index, argument in enumerate(options):
            option, sign, value = argument.partition("=")
            if option in REMOVED_OPTIONS and option not in known:
                msg = f"there is no option {option}: {REMOVED_OPTIONS[option]}"
                raise ParameterError(msg)
            if option.startswith("--") and option not in {*known, "--help"}:
                following = "".join(args[index + 1 : index + 2])
                _refuse_setting(option, value if sign else following, known)
        return super().parse_args(ctx, args)


def _refuse_setting(option: str, value: str, known: Collection[str]) -> None:
    """Refuse an option of another name, or a recipe setting, with the remedy."""
    from spinney.recipes import SETTINGS

    name = option.removeprefix("--").replace("-", "_")
    has_value = bool(value) and not value.startswith("--")
    if similar := matching_option(name, known):
        typed = f" {shlex.quote(value)}" if has_value else ""
        msg = f"there is no option {option}: use {similar}{typed}"
        raise ParameterError(msg)
    if name.removeprefix("no_") in SETTINGS and name not in SETTINGS:
        name, value, has_value = name.removeprefix("no_"), "false", True
    if name not in SETTINGS:
        return
    setting = shlex.quote(f"{name}={value if has_value else 'VALUE'}")
    if "--set" in known:
        msg = f"there is no option {option}: use --set {setting}"
        raise ParameterError(msg)
    if "--recipe" in known:
        msg = (
            f"there is no option {option}: set it in a recipe, --recipe c4.5:{setting}"
        )
        raise ParameterError(msg)


def in_group(
    title: str, *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options under a title of the command's help."""

    def decorate(command: Command) -> Command:
        decorated = combined_options(*options)(command)
        for param in getattr(decorated, "__click_params__", []):
            if not hasattr(param, "group"):
                param.group = title
        return decorated

    return decorate


def combined_options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _repeatable(name: str, meaning: str, *, metavar: str = "COLUMN") -> Any:
    return click.option(name, multiple=True, metavar=metavar, help=meaning)


file_options = combined_options(
    click.option(
        "--format",
        "format_",
        help="File format for any suffix: csv, tsv, parquet, jsonl, arff or xlsx.",
    ),
    click.option("--encoding", help="Encoding of a text file.  [default: detected]"),
    click.option("--decimal", help="Decimal mark: . or ,"),
    click.option("--thousands", help="Thousands separator: , or . or ' or a space."),
    click.option(
        "--dates", help="dayfirst or monthfirst: the order in dates such as 3/4/2026."
    ),
    click.option("--skip", type=int, help="Number of lines above the header to skip."),
    click.option("--sheet", help="Sheet of an Excel workbook: its name or number."),
)

reading_options = combined_options(
    _repeatable(
        "--nominal",
        "Treat a column, or all of a pattern such as Q7_*, as categorical. Repeatable.",
    ),
    _repeatable(
        "--ordinal",
        'Ordered column and its levels, low to high: "size:small<medium<large".',
        metavar="COLUMN:LOW<HIGH",
    ),
    _repeatable("--numeric", "Treat a column as numeric. Repeatable."),
    _repeatable("--ignore", "Exclude a column. Repeatable."),
    _repeatable(
        "--values",
        'All values that a column may have: "sky:sunny,rainy,cloudy".',
        metavar="COLUMN:ONE,OTHER",
    ),
    _repeatable(
        "--missing-values",
        "Text that means a missing value, such as ? or NA. Repeatable.",
        metavar="TEXT",
    ),
    file_options,
)

table_options = combined_options(
    click.argument("data"),
    click.option(
        "--target", required=True, metavar="COLUMN", help="Column to predict."
    ),
)

recipe_options = combined_options(
    click.option(
        "--criterion",
        help="Split criterion: gain, gain_ratio, gini, misclassification, chi_square, "
        "g, mdl or hellinger; for binary splits c_sep or twoing. Numeric targets: "
        "squared_error, variance, sdr, variance_root, f or poisson.",
    ),
    click.option(
        "--missing-policy",
        help="Treatment of missing values: fractional, most-common, own-category, "
        "branch, mean, drop (excludes their rows) or, for single trees, surrogate.",
    ),
    _repeatable(
        "--set",
        "Any other setting of the recipe, such as min_gain=0.01; spinney recipes NAME "
        "lists them. Repeatable.",
        metavar="NAME=VALUE",
    ),
)

limit_options = combined_options(
    click.option("--max-depth", type=int, help="Maximum depth of a tree."),
    click.option("--max-leaves", type=int, help="Maximum number of leaves."),
    click.option(
        "--min-samples-leaf",
        type=float,
        help="Minimum total weight per branch; below 1, a fraction of all rows.",
    ),
)

costs_option = click.option(
    "--cost-matrix",
    metavar="FILE",
    help="Misclassification costs: a CSV file of actual, predicted, cost.",
)

weight_option = click.option("--weight", metavar="COLUMN", help="Row weights.")

table_option = click.option(
    "--table", metavar="NAME", help="Table of a database, or a SELECT."
)

# Options of an optional table.
rows_options = combined_options(weight_option, file_options)

class_weight_option = _repeatable(
    "--class-weight",
    'Factor for the weight of a class; or "balanced". Repeatable.',
    metavar="CLASS=NUMBER",
)

jobs_option = click.option(
    "--n-jobs", type=int, help="Maximum number of threads.  [default: one per core]"
)

json_option = click.option(
    "--json", "json_", is_flag=True, help="Write JSON for programs."
)

text_options = combined_options(
    click.option("--ascii", "ascii_", is_flag=True, help="Use ASCII characters only."),
    json_option,
)

max_lines_option = click.option(
    "--max-lines",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Maximum number of lines of the tree; 0 prints all.  [default: 40]",
)

tree_option = click.option(
    "--tree",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Number of a tree of a forest; spinney info lists them.",
)

output_options = combined_options(
    click.option("-o", "--output", metavar="FILE", help="Write to this file."),
    click.option("--overwrite", is_flag=True, help="Replace an existing output file."),
)


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def parameter_names(options: Callable[[Any], Any]) -> frozenset[str]:
    """Return the parameter names of options.

    >>> sorted(parameter_names(text_options))
    ['ascii_', 'json_']
    """

    def command() -> None:
        """Do nothing: it holds the options."""

    params = options(command).__click_params__
    return frozenset(param.name for param in params)


def refuse_options(names: Collection[str], why: str) -> None:
    """Refuse options of the running command that the user has set."""
    context = click.get_current_context()
    for param in context.command.params:
        name = param.name or ""
        if name in names and context.get_parameter_source(name) in SET_BY_USER:
            value = context.params[name]
            value = value[0] if isinstance(value, tuple) else value
            words = f"{param.opts[0]} {value}"
            if isinstance(value, bool):
                words = (param.opts if value else param.secondary_opts)[0]
            msg = f"{words} {why}"
            raise ParameterError(msg)


def parse_class_weight(texts: tuple[str, ...]) -> Any:
    """Return the ``class_weight`` parameter of Python."""
    if texts == ("balanced",):
        return "balanced"
    form = 'CLASS=NUMBER, or "balanced" alone'
    return parse_numbers(texts, "--class-weight", form)


def read_cost_matrix(path: str | None) -> Any:
    """Return the costs in a file; None without a path."""
    from spinney.data.readers import read_costs

    return None if path is None else read_costs(path)


def parse_numbers(texts: tuple[str, ...], option: str, form: str) -> Any:
    """Return the NAME=NUMBER pairs of a repeatable option; None without any."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, sign, digits = text.rpartition("=")
        try:
            number = float(digits)
        except ValueError:
            sign = ""
        if not sign:
            msg = f"{option} {text!r} must be {form}"
            raise ParameterError(msg)
        if name in numbers:
            msg = f"{option} {text!r}: {name!r} is set twice: set it once"
            raise ParameterError(msg)
        numbers[name] = number
    return numbers or None


def declarations(options: Mapping[str, Any]) -> "Declarations":
    """Return the declarations of columns in :data:`reading_options`."""
    from spinney.data import declarations_of

    kinds = ("nominal", "ordinal", "numeric", "ignore", "values", "missing_values")
    declared = {kind: options[kind] for kind in kinds}
    return declarations_of(**declared, text_format=build_text_format(options))


def file_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return :data:`file_options` as arguments of ``model.read``."""
    return {
        "format": options["format_"],
        "encoding": options["encoding"],
        "text_format": build_text_format(options),
    }


def build_text_format(options: Mapping[str, Any]) -> "TextFormat":
    """Return the format of numbers and dates in :data:`file_options`."""
    from spinney.data import TextFormat

    names = ("decimal", "thousands", "dates", "skip", "sheet")
    return TextFormat(*(options[name] for name in names))


def check_model_output(options: Mapping[str, Any], noun: str = "model") -> None:
    """Refuse an output path for a model that cannot be written."""
    if options["output"] == STANDARD_OUTPUT:
        msg = f"-o '-': standard output takes no {noun}: name a file, or use --json"
        raise ParameterError(msg)
    check_output(options["output"], overwrite=options["overwrite"])


def check_output(output: str | None, *, overwrite: bool, option: str = "-o") -> None:
    """Refuse an output path that cannot be written, before any work is done."""
    if output is None or output == STANDARD_OUTPUT:
        return
    folder = Path(output).parent
    if not output or os.path.isdir(output):
        reason = "is a folder: add a file name" if output else "name a file"
    elif os.path.exists(output) and not overwrite:
        reason = "file exists: name another, or replace it with --overwrite"
    elif not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}: create it first"
    elif not os.access(folder, os.W_OK):
        reason = f"the folder {str(folder)!r} is not writable: name another"
    else:
        return
    msg = f"{option} {output!r}: {reason}"
    raise ParameterError(msg)
