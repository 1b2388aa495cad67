"""The command ``lesson``: a page that steps through the growth of a tree."""

import warnings
from pathlib import Path
from typing import Any

import click

from spinney import registry
from spinney.cli.engine_options import table_input
from spinney.cli.shell_options import (
    GroupedCommand,
    combined_options,
    examples,
    file_arguments,
    in_group,
    limit_options,
    parameter_names,
    reading_options,
    recipe_options,
    refuse_options,
)
from spinney.cli.shell_output import show_status
from spinney.cli.shell_settings import chosen_recipe
from spinney.errors import ParameterError, SpinneyNote
from spinney.extensions.pictures.page_output import page_options, page_path, write_page

RECIPE = "id3"  # the first of the textbooks
ROWS_TRACED = 40

tree_options = combined_options(
    click.option(
        "--recipe", help=f"id3, c4.5, cart, chaid or m5.  [default: {RECIPE}]"
    ),
    recipe_options,
    limit_options,
)
pruning_options = combined_options(
    click.option(
        "--pruning", metavar="METHOD", help="Pruning method, such as reduced-error."
    ),
    click.option(
        "--validation", metavar="DATA", help="The validation set for pruning."
    ),
)
cluster_options = combined_options(
    click.option("--columns", multiple=True, metavar="A,B", help="Only these columns."),
    click.option("--init", metavar="FILE", help="Initial centroids, one row each."),
    click.option("--random-state", type=int, default=0, show_default=True),
)


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney lesson melons.csv --target ripe --ignore id --open",
        "spinney lesson melons.csv --target ripe --ignore id --recipe c4.5 -o c45.html",
        "spinney lesson train.csv --target ripe --pruning reduced-error "
        "--validation valid.csv",
        "spinney lesson points.csv --columns attr1,attr2 -k 2",
    ),
    short_help="Write a page that steps through the growth of a tree.",
)
@in_group(
    "Data",
    click.argument("data"),
    click.option("--target", metavar="COLUMN", help="The column to predict."),
    reading_options,
)
@in_group("Recipe", tree_options)
@in_group("Pruning", pruning_options)
@in_group(
    "Clusters",
    click.option(
        "-k",
        "--n-clusters",
        type=click.IntRange(min=1),
        help="Number of clusters, for k-means.",
    ),
    cluster_options,
)
@in_group("Output", page_options)
def lesson(data: str, **options: Any) -> None:
    """Write a page that steps through the growth of a tree on the rows of DATA.

    One slide is one step: the training set, the candidate splits with their arithmetic,
    the best split and the reason. Pruning and the rules come last. With -k
    instead of --target, the slides show k-means. Arrow keys change slides.
    """
    if (options["target"] is None) == (options["n_clusters"] is None):
        msg = "a lesson needs --target COLUMN for a tree, or -k NUMBER for clusters"
        raise ParameterError(msg)
    path = page_path(f"{Path(data).stem}_lesson", options)
    with show_status("preparing the lesson"):
        page = (
            _cluster_lesson(data, options)
            if options["n_clusters"]
            else _tree_lesson(data, options)
        )
    by = "" if options["n_clusters"] else f" by recipe {options['recipe'] or RECIPE}"
    contains = f"{len(page.slides)} slides{by}, with rows of {data}"
    write_page(page, path, options, contains)


def _tree_lesson(data: str, options: dict[str, Any]) -> Any:
    from spinney.models import FittedTree, grow_from
    from spinney.recipes import Recipe

    refuse_options(
        parameter_names(cluster_options),
        "needs -k NUMBER, the number of clusters",
    )
    # The tree is pruned afterwards, to show it before and after.
    recipe_options = {**options, "pruning": None}
    recipe, settings = chosen_recipe(recipe_options, Recipe.named(RECIPE))
    recipe = RECIPE if recipe is None else recipe
    grown = grow_from(table_input(data, options), recipe=recipe, settings=settings)
    model = FittedTree(grown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyNote)  # reported before
        rows = model.read(data, **file_arguments(options), whole=True)
    pruning, validation = options["pruning"], options["validation"]
    if pruning is None and validation is None:
        return model.lesson(rows)
    return model.lesson(rows, pruned=model.prune(pruning, validation=validation))


def _cluster_lesson(data: str, options: dict[str, Any]) -> Any:
    from spinney.extensions.lessons import LessonPage

    clustering = registry.load("operation", "cluster")
    cluster_slides = registry.load("operation", "cluster lesson")
    refuse_options(
        parameter_names(combined_options(tree_options, pruning_options)),
        "needs --target COLUMN, the column to predict",
    )
    start = options["init"]
    plan = clustering.Plan(
        n_clusters=options["n_clusters"],
        seed=options["random_state"],
        n_init=1,
        **({} if start is None else {"init": start}),
    )
    table = table_input(data, options)
    fit = clustering.cluster_in_memory(table, plan, options["columns"]).fit
    trace = fit.trace(ROWS_TRACED)
    if trace is None:
        msg = "a k-means lesson needs numeric columns: name them by --columns A,B"
        raise ParameterError(msg)
    return LessonPage.of(
        cluster_slides(trace), f"{options['n_clusters']} clusters by k-means"
    )
