"""The public names, pinned, and what importing the package costs."""

import json
import subprocess
import sys

import pytest

import spinney

HEAVY = (
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "narwhals",
    "rich",
)

SCRIPT = """
import json, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted(name for name in sys.modules if "." not in name)]))
"""


def modules_after(statement: str) -> tuple[float, set[str]]:
    """Return the seconds that a statement takes in a new process, and the modules."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(statement=statement)],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, modules = json.loads(done.stdout)
    return seconds, set(modules)


def test_public_names():
    assert spinney.__all__ == [
        "CellError",
        "CountTable",
        "DataError",
        "ForestClassifier",
        "ForestRegressor",
        "KMeans",
        "KPrototypes",
        "MiniBatchKMeans",
        "MissingExtraError",
        "ModelFormatError",
        "Node",
        "ParameterError",
        "Recipe",
        "RuleSet",
        "SpinneyError",
        "SpinneyNote",
        "SpinneyWarning",
        "TextFormat",
        "Tree",
        "TreeClassifier",
        "TreeRegressor",
        "__version__",
        "association",
        "choose_k",
        "discretise",
        "evaluate",
        "explain_clusters",
        "find_clusters",
        "grow",
        "grow_forest",
        "learning_curve",
        "load",
        "look",
        "plots",
        "read_table",
        "robustness",
        "scalability",
        "score",
    ]


def test_every_public_name_is_there():
    for name in spinney.__all__:
        assert getattr(spinney, name) is not None
    assert dir(spinney) == sorted(spinney.__all__)


def test_no_other_name():
    with pytest.raises(
        AttributeError, match="module 'spinney' has no attribute 'gorw'"
    ):
        _ = spinney.gorw


def test_errors_are_one_family():
    for name in spinney.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(spinney, name), spinney.SpinneyError)
    assert issubclass(spinney.DataError, ValueError)
    assert issubclass(spinney.CellError, TypeError)
    assert issubclass(spinney.ParameterError, ValueError)
    assert issubclass(spinney.ModelFormatError, ValueError)
    assert issubclass(spinney.MissingExtraError, ImportError)
    assert issubclass(spinney.SpinneyWarning, UserWarning)


def test_import_loads_no_heavy_library(record_property):
    seconds, modules = modules_after("import spinney")
    assert "spinney" in modules
    assert not modules & set(HEAVY)
    # Reported, never asserted: it says as much of the machine as of us.
    record_property("seconds to import", seconds)
    print(f"import spinney took {seconds:.3f} s; less than 0.5 s is wanted")


def test_errors_and_trees_need_no_heavy_library():
    _, modules = modules_after("import spinney; spinney.Tree; spinney.CountTable")
    assert not modules & set(HEAVY)
