"""What only a terminal gets: bars where it takes long, the top of large trees."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.helpers.strategies import TABLES
from tests.helpers.terminal import on_a_terminal

import spinney

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a terminal of Unix")

BAR = """
import time
from spinney.cli.shell_output import progress_bar
with progress_bar("growing", after={after}) as move:
    if move is None:
        print("no terminal")
    else:
        for done in range({moves}):
            move(done, 4)
            time.sleep(0.2)
print("done")
"""
GROW = """
import spinney.cli.grow_command as command
command.STATUS_DELAY = {after}
from spinney.cli import main
main()
"""


def run_script(script, *arguments, out_too=False):
    """Run a script that must succeed; return what it shows on a terminal, and out."""
    command = [sys.executable, "-c", script, *arguments]
    told, code, out = on_a_terminal(command, out_too=out_too)
    assert code == 0, told
    return told, out


def test_a_bar_comes_after_a_while_though_nothing_moves():
    told, out = run_script(BAR.format(after=0.01, moves=1))
    assert "growing" in told
    assert "0/4" in told
    assert out == "done\n"


def test_no_bar_where_work_is_done_sooner():
    told, out = run_script(BAR.format(after=60, moves=2))
    assert told == ""
    assert out == "done\n"


WORK = """
import time
from spinney.cli.shell_output import show_status
with show_status("measuring", after={after}):
    time.sleep(0.4)
print("done")
"""


@pytest.mark.parametrize("after, seen", [(0.01, True), (60, False)])
def test_work_of_unknown_length_is_told_after_a_while(after, seen):
    told, out = run_script(WORK.format(after=after))
    assert ("measuring" in told) == seen
    assert out == "done\n"


@pytest.mark.parametrize("after", [0, 0.01])
def test_no_bar_where_nothing_moves(after):
    told, out = run_script(BAR.format(after=after, moves=0))
    assert (told, out) == ("", "done\n")


def test_no_bar_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-c", BAR.format(after=0, moves=2)],
        capture_output=True,
        check=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("no terminal\ndone\n", "")


def test_grow_shows_one(tmp_path):
    table = TABLES / "iris.csv"
    given = ["grow", table, "--target", "class", "--quiet", "-o", tmp_path / "m"]
    told, _ = run_script(GROW.format(after=1e-9), *given)
    assert "growing" in told
    told, _ = run_script(GROW.format(after=600), *given, "--overwrite")
    assert "growing" not in told


PRUNE = """
import spinney.cli.shell_output as output
output.show_progress.__wrapped__.__kwdefaults__["after"] = 1e-9
from spinney.cli import main
main()
"""


def test_folds_that_prune_are_counted(tmp_path):
    model = tmp_path / "m"
    spinney.grow(TABLES / "iris.csv", "class", recipe="cart").save(model)
    given = ["prune", model, "--pruning", "cost-complexity", "--data"]
    told, _ = run_script(PRUNE, *given, TABLES / "iris.csv", "--folds", "3")
    assert "pruning" in told
    assert "/3" in told


def test_grow_shows_none_where_nobody_looks(tool, tmp_path):
    given = ["grow", TABLES / "iris.csv", "--target", "class", "--quiet"]
    assert tool(*given, "-o", tmp_path / "m").err == f"spinney: saved to {tmp_path}/m\n"


@pytest.fixture
def noise(tmp_path):
    """Return a table of which nothing can be told but by a large tree."""
    random = np.random.default_rng(0)
    lines = [
        f"{a:.5f},{b:.5f},{random.choice(['no', 'yes'])}"
        for a, b in random.random((800, 2))
    ]
    path = tmp_path / "noise.csv"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_a_large_tree_is_one_screen(noise, tmp_path, tool, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    given = ["grow", noise, "--target", "y", "--recipe", "id3"]
    model = tmp_path / "m"
    texts = [tool(*given), tool(*given, "-o", model, "--overwrite")]
    texts.append(tool("show", model))
    for text in texts:
        *lines, last = text.out.splitlines()
        assert 20 < len(lines) < 40
        assert max(map(len, [*lines, last])) <= int(columns)
        assert last.startswith("… ")
        assert "--max-lines 0" in last
    n_hidden = int(last.split()[1])
    assert (
        n_hidden + sum("→" in line for line in lines)
        == spinney.load(model).tree.n_leaves
    )
    whole = tool("show", model, "--max-lines", "0").out
    assert len(whole.splitlines()) > 200
    assert "more leaves" not in whole
    some = tool("show", model, "--max-lines", "10").out.splitlines()
    assert 5 < len(some) <= 10
    assert str(spinney.load(model)).endswith("print(model.text()) shows all")


def test_a_tree_is_80_columns_wide_without_a_terminal(noise, tool, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    text = tool("grow", noise, "--target", "y", "--recipe", "id3").out
    assert max(map(len, text.splitlines())) <= 80
