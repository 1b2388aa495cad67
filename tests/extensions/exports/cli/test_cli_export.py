"""The command ``export``."""

import pytest
from tests.helpers.strategies import TABLES

from spinney.cli import run

TABLE = str(TABLES / "watermelon_3.0.csv")


@pytest.fixture
def model(tmp_path):
    path = str(tmp_path / "m.spinney")
    arguments = ["grow", TABLE, "--target", "ripe", "--ignore", "id"]
    assert run([*arguments, "--recipe", "c4.5", "-o", path]) == 0
    return path


def test_a_program_goes_to_stdout_or_a_file(model, tmp_path, capsys):
    capsys.readouterr()
    assert run(["export", model, "--format", "python"]) == 0
    code, file = capsys.readouterr().out, tmp_path / "melons.py"
    assert run(["export", model, "--format", "python", "-o", str(file)]) == 0
    assert file.read_text("utf-8") == code
    names = {}
    exec(code, names)
    assert set(names["probabilities"](dict.fromkeys(("texture", "density")))) == {
        "false",
        "true",
    }
    assert run(["export", model, "--format", "python", "-o", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err


def test_a_query_is_of_a_table(model, capsys):
    capsys.readouterr()
    command = [
        "export",
        model,
        "--format",
        "sql",
        "--dialect",
        "spark",
        "--table",
        "a.b",
    ]
    assert run(command) == 0
    assert "FROM `a`.`b` AS t" in capsys.readouterr().out
    assert run([*command, "--keep", "id,day", "--keep", "leaf"]) == 0
    assert "SELECT t.`id`, t.`day`, t.`leaf`, t." in capsys.readouterr().out
    assert run([*command, "--keep", "p(true)"]) == 2
    assert "--keep 'p(true)' is the name of a prediction" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--format", "pyhton"],
            "--format 'pyhton' is unknown: did you mean 'python'?",
        ),
        (
            ["--format", "c", "--table", "t"],
            "--table 't' has no effect with --format 'c'",
        ),
        (["--format", "sql", "--dialect", "mysql"], "--dialect 'mysql' is unknown"),
    ],
)
def test_refusals_speak_of_options(model, capsys, options, message):
    assert run(["export", model, *options]) == 2
    assert message in capsys.readouterr().err
