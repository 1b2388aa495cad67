"""The tool as a process: streams, encodings, interrupts, and what it imports."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import spinney
from spinney import cli as shell

HEAVY = ("sklearn", "scipy", "pandas", "numba", "polars", "pyarrow", "matplotlib")
unix = pytest.mark.skipif(os.name != "posix", reason="signals and files of Unix")


def imported(code):
    """Return the packages that a process has imported after some code."""
    told = "; import sys; print(sorted({n.partition('.')[0] for n in sys.modules}))"
    return subprocess.run(
        [sys.executable, "-c", code + told],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def test_help_imports_nothing_heavy():
    found = imported("from spinney.cli import run; run(['--help'])")
    for name in (*HEAVY, "numpy", "duckdb", "narwhals"):
        assert repr(name) not in found


def test_commands_import_nothing_heavy(melons, model):
    commands = [
        ["grow", str(melons), "--target", "ripe", "--recipe", "c4.5"],
        ["predict", str(model), str(melons)],
        *([name, str(model)] for name in ("show", "rules", "explain", "info")),
    ]
    code = f"from spinney.cli import run; assert not any(map(run, {commands}))"
    found = imported(code)
    assert "'numpy'" in found
    for name in HEAVY:
        assert repr(name) not in found


def test_predicting_loads_neither_what_grows_nor_duckdb(model, melons):
    command = ["predict", str(model), str(melons)]
    code = f"from spinney.cli import run; assert run({command}) == 0"
    modules = (
        "; import sys; print({'spinney.growth', 'spinney.search'} & {*sys.modules})"
    )
    found = imported(code + modules)
    assert "{'spinney.growth'}" in found
    assert "'duckdb'" not in found


def test_the_default_recipe_imports_neither_scikit_learn_nor_a_compiler(melons):
    """Its folds are ours at any size, and small trees grow sooner than loops load."""
    command = ["grow", str(melons), "--target", "ripe"]
    found = imported(f"from spinney.cli import run; assert not run({command})")
    for name in ("numba", "sklearn", "scipy.stats", "pandas", "pyarrow", "matplotlib"):
        assert repr(name) not in found


def test_standard_input(process, model, melons):
    text = melons.read_text()
    given = ("--target", "ripe", "--recipe", "c4.5", "--ignore", "id")
    grown = process("grow", "-", *given, stdin=text)
    expected = spinney.grow(melons, "ripe", recipe="c4.5", ignore=["id"])
    assert grown.out == f"{expected}\n"
    assert grown.err == (
        "spinney: importance: texture 60 %, density 40 %\n"
        "spinney: accuracy 94.1 % on training rows; new rows not measured: "
        "`spinney evaluate`\n"
    )
    predicted = process("predict", model, "-", "--json", stdin=text)
    labels = [row["label"] for row in json.loads(predicted.out)["rows"]]
    assert labels == spinney.load(model).predict(melons).tolist()
    row = process("explain", model, "--row", "-", "--row-number", "2", stdin=text)
    assert "ripe = " in row.out


def test_an_error_of_a_process(process):
    outcome = process("grow", "gone.csv", "--target", "ripe", "-o", "x.spinney")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("spinney: error: there is no file 'gone.csv'")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_our_signs(process, write, encoding):
    write("t.csv", "größe,y\n1,ä\n2,😀\n1,ä\n2,😀\n")
    given = ("grow", "t.csv", "--target", "y", "--recipe", "cart")
    there = {"PYTHONIOENCODING": encoding}
    text = process(*given, environment=there)
    assert text.code == 0
    assert "`-- " in text.out
    assert "\\U0001f600" in text.out
    assert "\\u2514" not in text.out
    data = process(*given, "--json", environment=there)
    assert json.loads(data.out)["classes"] == ["ä", "😀"]


@unix
def test_a_reader_that_leaves(melons):
    # The pipe has no reader at all, so the first line we write fails.
    reader, writer = os.pipe()
    os.close(reader)
    grow = ["grow", str(melons), "--target", "ripe", "--recipe", "cart"]
    grow += ["--ignore", "id"]
    for arguments in (grow, ["--help"]):
        found = subprocess.run(
            [sys.executable, "-m", "spinney", *arguments],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
        assert (found.returncode, found.stderr) == (0, b"")
    os.close(writer)


@unix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_disk_that_is_full(process, model):
    with open("/dev/full", "wb") as full:
        outcome = process("show", model, stdout=full)
    assert outcome.code == 1
    assert outcome.err == (
        "spinney: error: cannot write to standard output: No space left on device\n"
    )


def test_a_closed_standard_output(tool, model, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    outcome = tool("show", model)
    assert outcome.code == 1
    assert "standard output is closed" in outcome.err


@unix
def test_an_interrupt_while_reading(folder):
    command = [sys.executable, "-m", "spinney", "grow", "-", "--target", "y"]
    with subprocess.Popen(
        [*command, "-o", "x.spinney"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        # Once a pipe has taken more than it holds, the tool is at work.
        running.stdin.write(b"x,y\n" + b"1,a\n" * 200_000)
        running.stdin.flush()
        time.sleep(0.3)  # and now it waits for more
        running.send_signal(signal.SIGINT)
        begin = time.monotonic()
        code = running.wait(timeout=30)
        assert time.monotonic() - begin < 5
        assert code == 130
        assert running.stdout.read() == b""
        assert running.stderr.read().strip() == b"spinney: interrupted"
    assert list(folder.iterdir()) == []


@pytest.fixture
def usual_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interrupts")
@pytest.mark.parametrize("as_error", [False, True])
def test_an_interrupt_while_growing(tool, melons, monkeypatch, folder, as_error):
    def interrupted(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if as_error:  # as DuckDB does
                raise RuntimeError("Query interrupted") from None
            raise

    monkeypatch.setattr("spinney.models.grow_from", interrupted)
    outcome = tool("grow", melons, "--target", "ripe", "-o", "x.spinney")
    assert outcome.code == 130
    assert outcome.err.strip() == "spinney: interrupted"
    assert list(folder.iterdir()) == []


@unix
@pytest.mark.usefixtures("usual_interrupts")
def test_an_interrupt_that_a_finalizer_swallows_is_heard(monkeypatch, capsys):
    class Finalized:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # the handler runs here, and its exception is dropped

    def drop(*_, **__):
        del locals_of_test["object"]
        return 0

    locals_of_test = {"object": Finalized()}
    monkeypatch.setattr(shell.cli, "main", drop)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    assert shell.run(["recipes"]) == 130
    assert capsys.readouterr().err == "spinney: interrupted\n"
