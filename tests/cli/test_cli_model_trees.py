"""Model trees in the shell."""

import json

from tests.helpers.strategies import TABLES


def test_grow_shows_the_models(works, folder):
    (folder / "step.csv").write_text("x,y\n1,0.5\n2,0\n3,10\n4,10\n", "utf-8")
    text = works("grow", "step.csv", "--target", "y", "--recipe", "m5", "--ascii")
    assert "LM1: y = " in text
    assert text.isascii()


def test_prune_a_model_tree_by_hand(works, folder):
    arguments = "--target class --recipe m5 --quiet -o m5.spinney"
    works("grow", TABLES / "cpu_prp.csv", *arguments.split())
    text = works("prune", "m5.spinney", "--node", 0, "-o", "b.spinney")
    assert "nan" not in text
    assert text.splitlines()[2].split() == ["0", "pruned", "(root)"]
    found = json.loads(works("prune", "m5.spinney", "--node", 0, "--json"))
    (step,) = found["steps"]
    assert step["before"] is step["after"] is None
    assert found["leaves"]["after"] == 1


def test_no_file_is_left_where_the_report_fails(tool, folder, monkeypatch):
    (folder / "step.csv").write_text("x,y\n1,0.5\n2,0\n3,10\n4,10\n", "utf-8")
    arguments = "--target y --recipe cart --pruning none --quiet -o c.spinney"
    assert tool("grow", "step.csv", *arguments.split()).code == 0

    def fails(*_):
        raise ValueError

    for name, more in (("_facts", ["--json"]), ("_report", [])):
        monkeypatch.setattr(f"spinney.cli.prune_command.{name}", fails)
        found = tool("prune", "c.spinney", "--node", 0, "-o", "b.spinney", *more)
        assert found.code == 1
        assert not (folder / "b.spinney").exists()
