"""A package of other people plugs into the same sockets, by its entry points."""

import os
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

import spinney
from spinney import registry
from spinney.errors import ModelFormatError

PACKAGE = Path(__file__).parent / "third_party"
MELONS = Path(__file__).parents[1] / "tables" / "watermelon_3.0.csv"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Lay the package out as an installer does, and return the folder."""
    site = tmp_path_factory.mktemp("site")
    for module in PACKAGE.glob("*.py"):
        shutil.copy(module, site)
    about = site / "spinney_outline-0.1.dist-info"
    about.mkdir()
    shutil.copy(PACKAGE / "entry_points.txt", about)
    metadata = "Metadata-Version: 2.1\nName: spinney-outline\nVersion: 0.1\n"
    (about / "METADATA").write_text(metadata)
    return site


def run_python(installed, *arguments, folder=None):
    """Run Python with the package installed, and return what it printed."""
    path = os.pathsep.join([str(installed), *filter(None, sys.path)])
    found = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_a_command_of_another_package_is_one_of_the_shell(installed):
    assert run_python(installed, "-m", "spinney", "echo", "two", "words") == (
        "two words\n"
    )
    assert "echo" in run_python(installed, "-m", "spinney", "--help")


def test_formats_growers_and_plots_of_another_package_are_found(installed):
    code = f"""
import spinney
recipe = spinney.Recipe.named("cart").changed(
    search="stump", pruning="none", missing_policy="branch")
stump = spinney.grow({str(MELONS)!r}, "ripe", ignore=["id"], recipe=recipe)
print(stump.export("outline"), end="")
print(spinney.plots.heights.__name__)
"""
    assert run_python(installed, "-c", code) == (
        "node 0\n  node 1\n  node 2\nheights\n"
    )


def test_every_socket_has_an_object():
    entries = ConfigParser()
    entries.read(PACKAGE / "entry_points.txt")
    kinds = {name.partition(".")[0] for name in entries[registry.GROUP]}
    assert kinds == {*registry.ENTRIES}


def test_names_and_operations_of_another_package_are_found(installed):
    code = """
import spinney
from spinney import registry
assert spinney.outline is registry.load("operation", "outline")
print(spinney.outline.__module__, hasattr(spinney, "no such name"))
"""
    assert run_python(installed, "-c", code) == "spinney_outline False\n"


def test_kernels_of_another_package_are_compiled_ahead(installed):
    code = """
from spinney.cli.compile_jobs import all_jobs, run_job
print(all_jobs()[-1])
run_job("outlines")
"""
    assert run_python(installed, "-c", code) == "outlines\nkernels of outlines\n"


def test_a_source_of_another_package_grows_the_same_trees(installed):
    code = """
from contextlib import nullcontext
from spinney.testing import check_source
from spinney_outline_engine import Ledger
check_source(lambda columns: nullcontext((columns, {"engine": "ledger"})), n_tables=1)
print(Ledger.asked > 100)
"""
    assert run_python(installed, "-W", "ignore", "-c", code) == "True\n"


def test_an_engine_of_another_package_is_one_of_the_shell(installed, tmp_path):
    code = f"""
import spinney
from spinney.cli import run
grow = ["grow", {str(MELONS)!r}, "--target", "ripe", "--ignore", "id"]
for engine in ("memory", "ledger"):
    assert run([*grow, "--recipe", "c4.5", "--engine", engine, "-o", engine]) == 0
by_memory, by_ledger = map(spinney.load, ("memory", "ledger"))
print(by_memory.export("text") == by_ledger.export("text"))
try:
    spinney.grow({str(MELONS)!r}, "ripe", engine="legder")
except spinney.ParameterError as error:
    print(error)
"""
    *_, are_equal, refusal = run_python(
        installed, "-c", code, folder=tmp_path
    ).splitlines()
    assert are_equal == "True"
    assert "did you mean 'ledger'" in refusal


NOTE_ONE = f"""
import spinney
from spinney_outline_notes import FittedNoted, Noted
tree = spinney.grow({str(MELONS)!r}, "ripe", ignore=["id"], recipe="c4.5")
FittedNoted(Noted(tree.model_, "the large one")).save("noted.spinney")
"""


def test_a_kind_of_model_of_another_package(installed, tmp_path):
    code = f"""{NOTE_ONE}
noted = spinney.load("noted.spinney")
assert list(noted.predict({str(MELONS)!r})) == list(tree.predict({str(MELONS)!r}))
assert type(noted).__name__ == "NotedTree"
noted.export("json", path="noted.json")
assert type(spinney.load("noted.json")).__name__ == "NotedTree"
assert '"title":"the large one"' in noted.explore().html
try:
    noted.export("dot")
except spinney.ParameterError as error:
    print(error)
"""
    refusal = run_python(installed, "-c", code, folder=tmp_path)
    assert "use 'text' or 'json' or 'outline'" in refusal


def test_the_shell_takes_a_kind_of_model_of_another_package(installed, tmp_path):
    code = f"""{NOTE_ONE}
from spinney.cli import run
for arguments in (
    ["show", "noted.spinney"],
    ["info", "noted.spinney"],
    ["export", "noted.spinney", "--format", "outline"],
    ["predict", "noted.spinney", {str(MELONS)!r}, "-o", "predicted.csv"],
    ["explore", "noted.spinney", "--rows", {str(MELONS)!r}, "-o", "noted.html"],
    ["show", "noted.spinney", "--max-depth", "1"],
):
    print(arguments[0], run(arguments))
"""
    said = run_python(installed, "-c", code, folder=tmp_path)
    assert said.startswith("the large one: ")
    for words in ("note  ", "  node 1", "predict 0", "explore 0", "show 2"):
        assert words in said
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 18
    assert '"title":"the large one"' in (tmp_path / "noted.html").read_text()


def test_without_the_package_its_file_is_refused(installed, tmp_path):
    """A reader that has no such kind refuses the file as one of the first it knows."""
    run_python(installed, "-c", NOTE_ONE, folder=tmp_path)
    with pytest.raises(ModelFormatError, match="not a Spinney model"):
        spinney.load(tmp_path / "noted.spinney")
