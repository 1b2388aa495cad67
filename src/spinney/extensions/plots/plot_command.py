"""``spinney plot KIND``: plots of :mod:`spinney.extensions.plots` as files."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney.cli.engine_options import table_input
from spinney.cli.picture_options import style_options, tree_style
from spinney.cli.shell_options import (
    check_output,
    combined_options,
    declarations,
    examples,
    file_arguments,
    load,
    reading_options,
    rows_options,
    select_tree,
    table_options,
    tree_option,
    weight_option,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, STATUS_DELAY, progress_bar, say
from spinney.errors import ParameterError
from spinney.extensions.evaluation.study_options import (
    RATE,
    candidate_from_text,
    fold_options,
    parse_size,
    recipes_option,
    size_option,
    study_arguments,
)
from spinney.extensions.pictures.figures import check_pictures, picture_suffix
from spinney.extensions.plots.plot_pictures import Drawing, drawing, elbow_picture

if TYPE_CHECKING:
    from spinney.extensions.pictures import Picture

MAX_TRACED_ROWS = 2000  # rows drawn with the paths of centroids


class _Kinds(click.Group):
    """Kinds of plots, each with ``-o`` and ``--overwrite``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kinds in the order of this module."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Record the kind that runs, so that messages name its options."""
        name, command, arguments = super().resolve_command(ctx, args)
        if isinstance(ctx.obj, list):
            ctx.obj.append(command)
        return name, command, arguments

    def kind(
        self,
        name: str,
        *decorators: Callable[[Any], Any],
        example: str,
        check_paths: Callable[[list[str]], None] = check_pictures,
    ) -> Callable[[Callable[..., Drawing]], click.Command]:
        """Return a decorator that makes a function a kind of plot.

        The function returns a function from a path to the bytes of its picture;
        ``check_paths`` refuses paths that cannot be drawn to.
        """

        def decorate(function: Callable[..., Drawing]) -> click.Command:
            def run(output: str | None, **options: Any) -> None:
                from spinney._support.atomic_file import write_whole  # loads NumPy

                path = output or f"{name}.png"
                if path == STANDARD_OUTPUT:
                    msg = "-o '-': a plot cannot go to standard output: name a file"
                    raise ParameterError(msg)
                check_output(path, overwrite=options.pop("overwrite"))
                check_paths([path])

                write_whole(path, [function(**options)(path)], overwrite=True)
                say(f"drawn to {path}")

            run.__doc__ = function.__doc__
            decorated = combined_options(
                *decorators, _output_options(name), _overwrite
            )(run)
            epilog = examples(f"spinney plot {example}")
            return self.command(name, epilog=epilog)(decorated)

        return decorate


_overwrite = click.option("--overwrite", is_flag=True, help="Overwrite the file.")


def _output_options(name: str) -> Any:
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        help=f"The .png, .svg or .pdf file.  [default: {name}.png]",
    )


def _check_drawn(paths: list[str]) -> None:
    """Refuse paths that need Matplotlib if it is missing; an .svg does not."""
    check_pictures([path for path in paths if picture_suffix(path) != "svg"])


@click.group(
    cls=_Kinds,
    epilog=examples(
        "spinney plot tree melons.spinney",
        "spinney plot regions iris.spinney iris.csv --x petallength --y petalwidth",
        "spinney plot roc credit.spinney test.csv -o roc.pdf",
        "spinney plot learning-curve iris.csv --target class --recipe c4.5",
        "spinney plot elbow points.csv --columns density,sugar",
    ),
    short_help="Plot trees, decision regions, curves, confusion matrices, clusters.",
)
def plot() -> None:
    """Draw a plot of some KIND by Matplotlib, to a .png, .svg or .pdf file."""


_model = click.argument("model")
_data = click.argument("data")
_on_table = combined_options(_model, _data, rows_options)


# Plots of a model


@plot.kind(
    "tree",
    _model,
    tree_option,
    style_options,
    click.option("--max-depth", type=click.IntRange(min=0), help="Hide deeper nodes."),
    example="tree melons.spinney --style teaching -o melons.pdf",
    check_paths=_check_drawn,
)
def _tree(model: str, **options: Any) -> Drawing:
    """Draw the tree of MODEL; for a forest, importances and a typical tree."""
    fitted = select_tree(load(model, "tree", "forest"), model, options["tree"])
    picture: Picture = fitted.plot(**tree_style(options, options["max_depth"]))
    return picture.content


@plot.kind(
    "importances",
    _model,
    click.option("--most", type=click.IntRange(min=1), default=30, show_default=True),
    example="importances forest.spinney -o forest.svg",
    check_paths=_check_drawn,
)
def _importances(model: str, most: int) -> Drawing:
    """Draw the variable importance of MODEL, a tree or a forest."""
    from spinney.extensions.plots import importances
    from spinney.extensions.plots.plot_svg import importances_svg

    fitted = load(model, "tree", "forest")
    return drawing(
        lambda axes: importances(fitted, axes, most=most),
        lambda: importances_svg(fitted, most=most),
    )


@plot.kind(
    "pruning",
    _model,
    click.option("--data", help="The training table, to cross-validate the sequence."),
    click.option("--folds", type=click.IntRange(min=2), help="10 by default."),
    weight_option,
    example="pruning melons.spinney --data melons.csv",
)
def _pruning(
    model: str, data: str | None, folds: int | None, weight: str | None
) -> Drawing:
    """Draw relative error by number of leaves, along the cost-complexity sequence."""
    from spinney.extensions.plots import pruning_path

    fitted = load(model, "tree")
    if data is None and (folds is not None or weight is not None):
        msg = "--folds and --weight need --data, the training table: give it"
        raise ParameterError(msg)
    if data is not None:
        with progress_bar("growing", after=STATUS_DELAY) as progress:
            fitted = fitted.prune(
                "cost-complexity",
                data=data,
                folds=folds,
                weight=weight,
                progress=progress,
            )
    return drawing(lambda axes: pruning_path(fitted, axes))


# Plots of a model on a table


@plot.kind(
    "regions",
    _model,
    _data,
    click.option("--x", metavar="COLUMN", help="The horizontal axis."),
    click.option("--y", metavar="COLUMN", help="The vertical axis."),
    click.option(
        "--fixed",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Fix another attribute at a value. Repeatable.",
    ),
    example="regions iris.spinney iris.csv --x petallength --y petalwidth",
)
def _regions(model: str, data: str, x: str, y: str, fixed: tuple[str, ...]) -> Drawing:
    """Draw decision regions of MODEL over two numeric columns, and DATA's rows."""
    from spinney.cli.shell_settings import parse_pairs
    from spinney.extensions.plots import regions

    fitted = load(model, "tree", "forest")
    values = parse_pairs(list(fixed), "--fixed", "COLUMN=VALUE, as in color=green")
    return drawing(lambda axes: regions(fitted, data, axes, x=x, y=y, fixed=values))


def _add_table_plot(name: str, meaning: str) -> None:
    """Add a kind of plot for a model and a table with the target."""

    def drawn(model: str, data: str, weight: str | None, **options: Any) -> Any:
        from spinney import plots
        from spinney.extensions.plots import plot_svg

        fitted = load(model, "tree", "forest")
        table = fitted.read(data, weight=weight, **file_arguments(options))
        function, svg = getattr(plots, name), getattr(plot_svg, f"{name}_svg", None)
        return drawing(
            lambda axes: function(fitted, table, axes, weight=weight),
            svg and (lambda: svg(fitted, table, weight=weight)),
        )

    drawn.__doc__ = meaning
    check_paths = check_pictures if name == "calibration" else _check_drawn
    example = f"{name} credit.spinney test.csv"
    plot.kind(name, _on_table, example=example, check_paths=check_paths)(drawn)


_add_table_plot("confusion", "Draw the confusion matrix of MODEL on DATA.")
_add_table_plot("roc", "Draw the ROC curves of MODEL on DATA, with their AUC.")
_add_table_plot(
    "calibration", "Draw observed frequencies in DATA by predicted probability."
)


# Plots of a table


_study = combined_options(
    table_options,
    reading_options,
    recipes_option,
    fold_options,
    click.option("--measure", help="The measure, such as accuracy or auc."),
)


@plot.kind(
    "learning-curve",
    _study,
    size_option,
    example="learning-curve iris.csv --target class --recipe cart --recipe c4.5",
)
def _learning_curve(sizes: tuple[str, ...], **options: Any) -> Drawing:
    """Draw learning curves of recipes: a measure by the number of training rows."""
    from spinney.extensions import evaluation, plots

    further = {"sizes": [parse_size(text) for text in sizes]} if sizes else {}
    curve = _run_study(evaluation.learning_curve, options, further)
    measure = options["measure"]
    return drawing(lambda axes: plots.learning_curve(curve, axes, measure=measure))


@plot.kind(
    "robustness",
    _study,
    click.option("--noise", type=RATE, multiple=True, default=(0, 0.1, 0.2)),
    click.option("--missing-rate", type=RATE, multiple=True, default=(0, 0.1, 0.2)),
    click.option("--outliers", type=RATE, multiple=True, help="As of evaluate."),
    example="robustness iris.csv --target class --recipe cart --noise 0 --noise 0.3",
)
def _robustness(
    noise: tuple[float, ...],
    missing_rate: tuple[float, ...],
    outliers: tuple[float, ...],
    **options: Any,
) -> Drawing:
    """Draw the robustness of recipes against noise, missing values and outliers."""
    from spinney.extensions import evaluation, plots

    further = {"noise": noise, "missing_rate": missing_rate, "outliers": outliers}
    study = _run_study(evaluation.robustness, options, further)
    measure = options["measure"]
    return drawing(lambda axes: plots.robustness(study, axes, measure=measure))


def _run_study(
    function: Callable[..., Any], options: dict[str, Any], further: dict[str, Any]
) -> Any:
    """Return the study of the user's recipes, or of the default ones."""
    recipes = [candidate_from_text(text) for text in options["recipes"]]
    with progress_bar("growing") as progress:
        return function(
            options["data"],
            options["target"],
            *([recipes] if recipes else []),
            **study_arguments(options),
            **further,
            progress=progress,
        )


@plot.kind(
    "buckets",
    _data,
    click.option("--column", required=True, help="The numeric column."),
    click.option("--method", default="k-means", show_default=True),
    click.option("--n-buckets", type=int, help="The number of buckets."),
    reading_options,
    example="buckets iris.csv --column petallength --method equal-width --n-buckets 4",
)
def _buckets(
    data: str, column: str, method: str, n_buckets: int | None, **options: Any
) -> Drawing:
    """Draw the thresholds of a column's buckets over its histogram."""
    from spinney.data.readers import read_table
    from spinney.errors import DataError, did_you_mean
    from spinney.extensions.plots import buckets

    table = read_table(
        data,
        declarations=declarations(options),
        format=options["format_"],
        encoding=options["encoding"],
    )
    if column not in table.names:
        msg = f"no column {column!r}: {did_you_mean(column, table.names)}"
        raise DataError(msg)
    if table[column].kind != "numeric":
        msg = f"column {column!r} is {table[column].kind}: choose a numeric column"
        raise DataError(msg)
    cells = table[column].cells
    return drawing(
        lambda axes: buckets(
            cells, axes, method=method, n_buckets=n_buckets, name=column
        )
    )


_rows = combined_options(
    _data,
    click.option("--columns", multiple=True, metavar="A,B", help="Only these columns."),
    click.option("--standardise", is_flag=True, help="Scale columns to equal spread."),
    click.option("--random-state", type=int, default=0, show_default=True),
    reading_options,
)
_k = click.option(
    "-k", "--n-clusters", type=int, required=True, help="The number of clusters."
)


@plot.kind("clusters", _rows, _k, example="clusters iris.csv --ignore class -k 3")
def _clusters(n_clusters: int, **options: Any) -> Drawing:
    """Draw the rows of DATA by cluster."""
    clusters = registry.load("plot", "clusters")
    fit = _fit_clusters(n_clusters, options)
    return drawing(lambda axes: clusters(fit, axes))


@plot.kind("iterations", _rows, _k, example="iterations iris.csv --ignore class -k 3")
def _iterations(n_clusters: int, **options: Any) -> Drawing:
    """Draw the paths of the centroids of k-means among the rows of DATA."""
    iterations = registry.load("plot", "iterations")
    trace = _fit_clusters(n_clusters, options).trace(MAX_TRACED_ROWS)
    if trace is None:
        msg = "iterations need numeric columns: name them by --columns A,B"
        raise ParameterError(msg)
    return drawing(lambda axes: iterations(trace, axes))


@plot.kind("elbow", _rows, example="elbow iris.csv --ignore class")
def _elbow(**options: Any) -> Drawing:
    """Draw inertia and silhouette by the number of clusters of DATA."""
    choice = _fit_clusters("auto", options).curve()
    return lambda path: elbow_picture(choice, choice.k, path)


def _fit_clusters(n_clusters: Any, options: dict[str, Any]) -> Any:
    """Return the clusters of the rows that the options name."""
    clustering = registry.load("operation", "cluster")
    standardise, seed = options["standardise"], options["random_state"]
    plan = clustering.Plan(n_clusters=n_clusters, standardise=standardise, seed=seed)
    table = table_input(options["data"], options)
    columns = options["columns"]
    with progress_bar("clustering") as progress:
        return clustering.cluster_in_memory(table, plan, columns, progress=progress).fit
