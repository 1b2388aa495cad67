"""The table of objects that are loaded by name: kind × name → "module:object".

The core imports no extension: it loads objects through this table when they are needed.
Other packages add entries by entry points of the group ``spinney.extensions``, called
``kind.name``, which refer to objects of the same form:

========= =================================================================
kind      what the object is
========= =================================================================
command   a Click command of the shell
export    a ``Format`` of :mod:`spinney.output.export_formats`
grower    a function from rows, a recipe and options to an unpruned tree
engine    a module whose ``opened_rows`` gives rows outside of memory
file      a ``Kind`` of :mod:`spinney.output.file.kind`
model     a class that wraps what a file of that kind holds, as ``FittedModel``
estimator a function from what a file holds to a fitted estimator
report    a function that prints a model of that kind in the shell
kernels   a function that runs kernels, so that ``spinney compile`` compiles them
page      a function from what a file holds to the data of its explorer page
plot      a function on Matplotlib's Axes
operation an operation of an extension, called by the core or other extensions
name      a name of the package ``spinney``
========= =================================================================
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from spinney.errors import missing_extension

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "spinney.extensions"
_PACKAGE = "spinney.extensions"

_CLI = "spinney.cli"
_CLUSTERING = f"{_PACKAGE}.clustering"
_DATABASES = f"{_PACKAGE}.databases"
_EVALUATION = f"{_PACKAGE}.evaluation"
_EXPORTS = f"{_PACKAGE}.exports.formats"

ENTRIES: dict[str, dict[str, str]] = {
    "command": {
        "look": f"{_CLI}.look_command:look",
        "grow": f"{_CLI}.grow_command:grow",
        "forest": f"{_CLI}.forest_command:forest",
        "cluster": f"{_CLUSTERING}.cluster_command:cluster",
        "show": f"{_CLI}.read_commands:show",
        "explore": f"{_PACKAGE}.explorer.explore_command:explore",
        "rules": f"{_CLI}.read_commands:rules",
        "explain": f"{_CLI}.read_commands:explain",
        "export": f"{_CLI}.export_command:export",
        "lesson": f"{_PACKAGE}.lessons.lesson_command:lesson",
        "prune": f"{_CLI}.prune_command:prune",
        "predict": f"{_CLI}.predict_command:predict",
        "score": f"{_EVALUATION}.score_command:score",
        "evaluate": f"{_EVALUATION}.evaluate_command:evaluate",
        "plot": f"{_PACKAGE}.plots.plot_command:plot",
        "recipes": f"{_CLI}.recipes_command:recipes",
        "info": f"{_CLI}.read_commands:info",
        "compile": f"{_CLI}.compile_command:compile_",
    },
    "export": {
        "html": f"{_PACKAGE}.explorer.page_file:HTML",
        "lesson": f"{_PACKAGE}.lessons.lesson_page:LESSON",
        "svg": f"{_PACKAGE}.pictures.picture_formats:SVG",
        "png": f"{_PACKAGE}.pictures.picture_formats:PNG",
        "pdf": f"{_PACKAGE}.pictures.picture_formats:PDF",
        "dot": f"{_EXPORTS}:DOT",
        "python": f"{_EXPORTS}:PYTHON",
        "javascript": f"{_EXPORTS}:JAVASCRIPT",
        "c": f"{_EXPORTS}:C",
        "onnx": f"{_EXPORTS}:ONNX",
        "pmml": f"{_EXPORTS}:PMML",
        "sql": f"{_EXPORTS}:SQL",
    },
    "grower": {
        "optimal": f"{_PACKAGE}.optimal.grow_optimal:grow",
        "hoeffding": f"{_PACKAGE}.streaming.growing_stream:grow_tree",
    },
    "engine": {
        "duckdb": _DATABASES,
        "postgres": _DATABASES,
        "sqlite": _DATABASES,
        "spark": _DATABASES,
        "dask": f"{_PACKAGE}.partitions",
        "partitions": f"{_PACKAGE}.partitions",
    },
    "file": {"clusters": f"{_CLUSTERING}.cluster_file:CLUSTERINGS"},
    "model": {"clusters": f"{_CLUSTERING}.models:FittedClusters"},
    "estimator": {"clusters": f"{_CLUSTERING}.estimators:estimator_of"},
    "report": {"clusters": f"{_CLUSTERING}.cluster_report:show_clusters"},
    "kernels": {
        "optimal trees": f"{_PACKAGE}.optimal.grow_optimal:compile_kernels",
        "streams": f"{_PACKAGE}.streaming.growing_stream:compile_kernels",
        "clusters": f"{_CLUSTERING}.compile_clusters:compile_kernels",
    },
    "page": {"clusters": f"{_CLUSTERING}.cluster_page:clusters_data"},
    "plot": {
        "by_k": f"{_CLUSTERING}.cluster_plots:by_k",
        "clusters": f"{_CLUSTERING}.cluster_plots:clusters",
        "iterations": f"{_CLUSTERING}.cluster_plots:iterations",
    },
    "operation": {
        "cluster": f"{_CLUSTERING}.models",
        "cluster lesson": f"{_CLUSTERING}.cluster_lesson:cluster_slides",
        "explore": f"{_PACKAGE}.explorer",
        "lesson": f"{_PACKAGE}.lessons",
        "names of predictions": f"{_EXPORTS}:prediction_names",
        "picture": f"{_PACKAGE}.pictures",
        "predict into": f"{_DATABASES}.predict_into:predict_into",
        "ruleset": f"{_PACKAGE}.rulesets",
        "stream": f"{_PACKAGE}.streaming.stream_model",
        "update": f"{_PACKAGE}.incremental.update_model",
    },
    "name": {
        "KMeans": f"{_CLUSTERING}.estimators:KMeans",
        "KPrototypes": f"{_CLUSTERING}.estimators:KPrototypes",
        "MiniBatchKMeans": f"{_CLUSTERING}.estimators:MiniBatchKMeans",
        "RuleSet": f"{_PACKAGE}.rulesets:RuleSet",
        "choose_k": f"{_CLUSTERING}.estimators:choose_k",
        "evaluate": f"{_EVALUATION}:evaluate",
        "explain_clusters": f"{_CLUSTERING}.explain_clusters:explain_clusters",
        "find_clusters": f"{_CLUSTERING}.find_clusters:find_clusters",
        "learning_curve": f"{_EVALUATION}:learning_curve",
        "plots": f"{_PACKAGE}.plots",
        "robustness": f"{_EVALUATION}:robustness",
        "scalability": f"{_EVALUATION}:scalability",
        "score": f"{_EVALUATION}:score",
    },
}

NEEDS = {
    "explorer": ("pictures",),
    "lessons": ("pictures",),
    "plots": ("evaluation", "pictures"),
}
"""The extensions that do nothing without another."""


def names(kind: str) -> tuple[str, ...]:
    """Return the names of a kind, those of other packages last.

    >>> "grow" in names("command")
    True
    """
    return (*ENTRIES.get(kind, {}), *others(kind))


def others(kind: str) -> tuple[str, ...]:
    """Return the names of a kind that only other packages have."""
    own = ENTRIES.get(kind, {})
    return tuple(name for name in _others(kind) if name not in own)


def installed(kind: str) -> tuple[str, ...]:
    """Return the names of a kind whose extensions are installed."""
    return tuple(
        name for name in names(kind) if all(map(_is_there, _needed_by(kind, name)))
    )


def is_known(kind: str, name: str) -> bool:
    """Return whether a kind has this name; other packages are searched last."""
    return name in ENTRIES.get(kind, {}) or name in _others(kind)


def load(kind: str, name: str) -> Any:
    """Import and return the object of a name.

    Raises
    ------
    MissingExtraError
        Its extension is not installed.
    KeyError
        There is no such name.

    Examples
    --------
    >>> load("command", "look").name
    'look'
    """
    own = ENTRIES.get(kind, {}).get(name)
    if own is None:
        return _others(kind)[name].load()
    module, _, attribute = own.partition(":")
    for extension in _needed_by(kind, name):
        if not _is_there(extension):
            raise missing_extension(kind, name, extension)
    home = import_module(module)
    return getattr(home, attribute) if attribute else home


def extension_of(kind: str, name: str) -> str | None:
    """Return the extension that offers a name, None where the core does.

    >>> extension_of("command", "cluster"), extension_of("command", "grow")
    ('clustering', None)
    """
    module = ENTRIES[kind][name].partition(":")[0]
    if not module.startswith(f"{_PACKAGE}."):
        return None
    return module.removeprefix(f"{_PACKAGE}.").partition(".")[0]


def _needed_by(kind: str, name: str) -> tuple[str, ...]:
    """Return the extensions that a name needs; other packages need none of ours."""
    if name not in ENTRIES.get(kind, {}):
        return ()
    own = extension_of(kind, name)
    return () if own is None else (own, *NEEDS.get(own, ()))


def _is_there(extension: str) -> bool:
    try:
        return find_spec(f"{_PACKAGE}.{extension}") is not None
    except ModuleNotFoundError:  # who hides it says so
        return False


@cache
def _others(kind: str) -> "dict[str, EntryPoint]":
    """Return the entry points of other packages of a kind."""
    from importlib.metadata import entry_points  # which takes a while to import

    found = entry_points(group=GROUP)
    start = f"{kind}."
    return {e.name.removeprefix(start): e for e in found if e.name.startswith(start)}
