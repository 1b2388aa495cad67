"""Command lines that cannot be used: exit code 2; models that cannot: 4."""

import errno
import os

import pytest

from spinney.cli import shell_output as output
from spinney.trees.criteria import CRITERIA

COMMANDS = ("grow", "show", "rules", "explain", "predict", "evaluate", "info")


@pytest.fixture
def usage(refused, melons):
    """Grow with these options, which must be refused; return the line of talk."""

    def misuse(*arguments):
        return refused(2, "grow", melons, "--target", "ripe", *arguments)

    return misuse


def test_a_command_that_is_not_there(refused):
    assert "no command 'gorw': did you mean 'grow'?" in refused(2, "gorw", "x.csv")


def test_a_command_that_nothing_resembles(refused):
    line = refused(2, "zzz")
    assert "no command 'zzz'" in line
    for name in COMMANDS:
        assert repr(name) in line


def test_an_option_that_is_not_there(usage):
    line = usage("--recipee", "cart")
    assert "no option '--recipee': did you mean '--recipe'" in line
    assert "spinney grow --help" in line


def test_an_option_that_nothing_resembles(usage):
    assert "no option '--zzzzzz': see spinney grow --help" in usage("--zzzzzz")


def test_no_target(refused, melons):
    line = refused(2, "grow", melons)
    assert "missing option '--target'; see spinney grow --help" in line


def test_no_data(refused, model):
    assert "missing argument 'DATA'" in refused(2, "predict", model)
    assert "missing argument 'DATA'" in refused(2, "grow", "--target", "ripe")


def test_too_many_arguments(usage):
    assert "extra argument (x.csv)" in usage("x.csv")


def test_nothing_at_all_shows_the_help(tool):
    outcome = tool()
    assert outcome.out == ""
    assert "Examples:" in outcome.err
    assert outcome.code == 2


def test_the_help_names_every_criterion(tool):
    words = tool("grow", "--help-all").out.replace(",", " ").replace(";", " ").split()
    assert {name.rstrip(".") for name in words} >= set(CRITERIA)


@pytest.mark.parametrize(
    "option, value, said",
    [
        ("--recipe", "c45", "did you mean 'c4.5'?"),
        ("--recipe", "zzz", "known: 'id3', 'c4.5', 'cart'"),
        ("--criterion", "ginni", "did you mean 'gini'"),
        ("--set", "grouping=multi-way", "did you mean 'multiway'?"),
        ("--missing-policy", "fraction", "did you mean 'fractional'?"),
        ("--engine", "oracle", "known: 'memory', 'duckdb'"),
        ("--format", "xml", "known: 'csv', "),
        ("--encoding", "klingon", "use 'utf-8'"),
        ("--max-depth", "-1", "at least 0"),
        ("--max-depth", "deep", "not a valid integer"),
        ("--max-leaves", "0", "at least 1"),
        ("--set", "min_samples_split=-1", "at least 0"),
        ("--min-samples-leaf", "nan", "at least 0"),
        ("--set", "min_weight_fraction_leaf=2", "at most 0.5"),
        ("--set", "min_gain=inf", "at least 0"),
        ("--class-weight", "true", "CLASS=NUMBER"),
        ("--class-weight", "true=heavy", "CLASS=NUMBER"),
        ("--class-weight", "ture=2", "did you mean 'true'?"),
        ("--class-weight", "true=-2", "above 0"),
        ("--tie-break-order", "textur", "did you mean 'texture'?"),
        ("--forced-split", "textur", "did you mean 'texture'?"),
        ("--forced-split", "texture=claer", "did you mean 'clear'?"),
        ("--ordinal", "color", "size:small<medium<large"),
        ("--ordinal", "color:dark", "size:small<medium<large"),
    ],
)
def test_a_value_that_an_option_does_not_take(usage, option, value, said):
    line = usage(option, value)
    assert option in line
    assert value.partition("=")[0] in line
    assert said in line


def test_options_that_contradict_each_other(usage, refused, model, melons):
    assert "'true=3'" in usage("--class-weight=true=2", "--class-weight=true=3")
    assert "'texture'" in usage("--forced-split=texture", "--forced-split=root")
    assert "'root'" in usage("--nominal=root", "--ignore=root")
    line = refused(2, "explain", model, "--node", 0, "--row", melons)
    assert "--node 0 cannot be used with --row" in line
    assert "--row-number 3" in refused(2, "explain", model, "--row-number", 3)
    line = refused(2, "show", model, "--max-depth", 1, "--json")
    assert "--max-depth 1 cannot be used with --json" in line


@pytest.mark.parametrize("number", [-1, 99])
def test_a_node_that_is_not_there(refused, model, number):
    line = refused(2, "explain", model, "--node", number)
    assert f"--node {number} is not a node: the tree has nodes 0 to" in line


@pytest.mark.parametrize("number", [0, 18])
def test_a_row_that_is_not_there(refused, model, melons, number):
    line = refused(2, "explain", model, "--row", melons, "--row-number", number)
    assert "--row-number" in line
    assert str(number) in line


def test_a_negative_depth(refused, model):
    assert "'--max-depth': -1" in refused(2, "show", model, "--max-depth", "-1")


# Outputs


@pytest.fixture(params=["grow", "predict"])
def writing(request, model, melons):
    """A command that writes a file, all but its name."""
    if request.param == "grow":
        return ("grow", melons, "--target", "ripe", "-o")
    return ("predict", model, melons, "-o")


def test_an_output_that_exists(refused, tool, write, writing):
    write("out.csv", "precious")
    line = refused(2, *writing, "out.csv")
    assert "-o 'out.csv': file exists" in line
    assert "--overwrite" in line
    assert tool(*writing, "out.csv", "--overwrite").code == 0
    assert os.path.getsize("out.csv") > len("precious")


def test_an_output_in_no_folder(refused, writing):
    line = refused(2, *writing, "gone/out")
    assert "-o 'gone/out': there is no folder 'gone': create it first" in line


def test_an_output_that_is_a_folder(refused, writing, folder):
    (folder / "out").mkdir()
    for flags in ((), ("--overwrite",)):
        line = refused(2, *writing, "out", *flags)
        assert "-o 'out': is a folder: add a file name" in line


def test_an_output_without_a_name(refused, writing):
    assert "-o '': name a file" in refused(2, *writing, "")


def test_an_output_in_a_folder_that_may_not_be_written_to(
    refused, writing, folder, monkeypatch
):
    (folder / "sealed").mkdir()
    # Root may write anywhere, so the system's answer is played.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    line = refused(2, *writing, "sealed/out")
    assert "-o 'sealed/out': the folder 'sealed' is not writable" in line


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_disk_that_is_full_leaves_nothing(
    refused, write, writing, failing, monkeypatch
):
    write("out.csv", "precious")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    line = refused(2, *writing, "out.csv", "--overwrite")
    assert "cannot write out.csv: No space left on device; make room" in line


def test_a_model_does_not_go_to_standard_output(usage):
    assert "-o '-'" in usage("-o", "-")


def test_an_output_that_appears_meanwhile_is_kept(
    refused, write, monkeypatch, model, melons
):
    write("out.csv", "precious")
    monkeypatch.setattr("spinney.cli.read_commands.check_output", lambda *_, **__: None)
    assert "exists" in refused(2, "predict", model, melons, "-o", "out.csv")
    line = refused(2, "grow", melons, "--target", "ripe", "-o", "out.csv")
    assert "exists" in line


# Models


@pytest.mark.parametrize("command", ["show", "rules", "explain", "predict", "info"])
def test_a_file_that_is_no_model(refused, write, melons, command):
    data = (melons,) if command == "predict" else ()
    write("x.spinney", "size,sort\n1,a\n" * 9)
    assert "cannot load x.spinney: " in refused(4, command, "x.spinney", *data)
    assert "check the path" in refused(4, command, "gone.spinney", *data)


def test_a_model_that_is_damaged(refused, write, model):
    whole = model.read_bytes()
    write("cut.spinney", whole[:-9])
    assert "cannot load cut.spinney: " in refused(4, "show", "cut.spinney")
    write("flipped.spinney", whole[:-9] + bytes([whole[-9] ^ 255]) + whole[-8:])
    assert "cannot load flipped.spinney: " in refused(4, "show", "flipped.spinney")


def test_a_folder_is_no_model(refused, folder):
    (folder / "x.spinney").mkdir()
    assert "it is a directory" in refused(4, "show", "x.spinney")


def test_a_model_is_not_read_from_standard_input(refused):
    assert "name a model file" in refused(2, "show", "-")


# Talk


def test_talk_escapes_control_characters(refused, write):
    write("table.csv", "a,b\n1,x\n2,y\n")
    hostile = "\x1b[31m[/x]\n\x9b\u2028"
    for arguments in (
        (2, hostile),
        (2, "grow", "table.csv", f"--{hostile}"),
        (2, "grow", "table.csv", "--target=b", f"--recipe={hostile}"),
        (2, "grow", "table.csv", "--target=b", "-o", f"{hostile}/x"),
        (3, "grow", "table.csv", f"--target={hostile}"),
        (3, "grow", f"{hostile}.csv", "--target=b"),
        (4, "show", hostile),
    ):
        line = refused(*arguments)
        assert line.isprintable()
        assert "[31m[/x]" in line


def test_a_fault_of_ours_is_said_to_be_one(tool, model, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(output, "write_bytes", fail)
    outcome = tool("show", model)
    assert outcome.code == 1
    assert outcome.err.startswith(
        r"spinney: error: unexpected RuntimeError: two\nlines. This is a bug in Spinney"
    )
    monkeypatch.setenv("SPINNEY_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        tool("show", model)


def test_memory_that_ends(tool, model, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(output, "write_bytes", fail)
    outcome = tool("show", model)
    assert outcome.code == 1
    assert outcome.err.startswith("spinney: error: out of memory: exclude columns")


def test_warnings_are_talk(tool, write):
    write("table.csv", "size,sort\n1,a\n2,b\n3,\n")
    given = ("--target", "sort", "--recipe", "id3", "--max-depth", "0")
    outcome = tool("grow", "table.csv", *given, "--forced-split", "q=1 -> size")
    assert outcome.code == 0
    assert outcome.out.startswith("sort → b  (2: ")
    first, second, third, _ = outcome.err.splitlines()
    assert first.startswith("spinney: warning: target 'sort' is missing in 1 of 3")
    assert second.startswith("spinney: warning: --forced-split: no node")
    assert third == "spinney: the tree is a single leaf: the depth limit"


def test_help_is_a_command_too(works, refused):
    assert works("help") == works("--help")
    assert works("help", "grow") == works("grow", "--help")
    assert "did you mean 'grow'?" in refused(2, "help", "gorw")
