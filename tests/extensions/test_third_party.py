"""A package of other people plugs into the same sockets, by its entry points."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "third_party"
MELONS = Path(__file__).parents[1] / "tables" / "watermelon_3.0.csv"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Lay the package out as an installer does, and return the folder."""
    site = tmp_path_factory.mktemp("site")
    shutil.copy(PACKAGE / "spinney_outline.py", site)
    about = site / "spinney_outline-0.1.dist-info"
    about.mkdir()
    shutil.copy(PACKAGE / "entry_points.txt", about)
    metadata = "Metadata-Version: 2.1\nName: spinney-outline\nVersion: 0.1\n"
    (about / "METADATA").write_text(metadata)
    return site


def run_python(installed, *arguments):
    """Run Python with the package installed, and return what it printed."""
    path = os.pathsep.join([str(installed), *filter(None, sys.path)])
    found = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
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
    search="stump", pruning="none", missing="branch")
stump = spinney.grow({str(MELONS)!r}, "ripe", ignore=["id"], recipe=recipe)
print(stump.export("outline"), end="")
print(spinney.plots.heights.__name__)
"""
    assert run_python(installed, "-c", code) == (
        "node 0\n  node 1\n  node 2\nheights\n"
    )
