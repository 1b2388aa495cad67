"""``spinney rules --simplify``."""

import json

import pytest

import spinney


def test_the_rules_of_a_tree_simplified(works, model, melons):
    ruleset = spinney.load(model).ruleset(melons)
    assert works("rules", model, "--simplify", melons) == f"{ruleset}\n"
    assert works("rules", model, "--simplify", melons, "--ascii").isascii()


def test_json_reads_back(works, model, melons):
    text = works("rules", model, "--simplify", melons, "--json")
    ruleset = spinney.load(model).ruleset(melons)
    assert spinney.RuleSet.from_json(text) == ruleset
    assert json.loads(text)["format"] == "spinney-ruleset"


def test_output_goes_to_a_file(works, model, melons, folder):
    ruleset = spinney.load(model).ruleset(melons)
    simplify = ("rules", model, "--simplify", melons)
    assert works(*simplify, "-o", "rules.txt") == ""
    assert (folder / "rules.txt").read_text(encoding="utf-8") == f"{ruleset}\n"
    assert works(*simplify, "--json", "-o", "rules.json") == ""
    text = (folder / "rules.json").read_text(encoding="utf-8")
    assert spinney.RuleSet.from_json(text) == ruleset
    assert works(*simplify, "-o", "-") == f"{ruleset}\n"
    assert works("rules", model, "-o", "plain.txt") == ""
    plain = (folder / "plain.txt").read_text(encoding="utf-8")
    assert plain == f"{spinney.load(model).rules()}\n"


def test_confidence(works, model, melons):
    loaded = spinney.load(model)
    wanted = loaded.ruleset(melons, confidence=0.05)
    found = works("rules", model, "--simplify", melons, "--confidence", "0.05")
    assert found == f"{wanted}\n"
    assert wanted != loaded.ruleset(melons)


def test_a_column_of_weights(works, write, tool):
    lines = [f"{x},{'ab'[x > 3]},{1 + x % 3}" for x in range(8)]
    table = write("t.csv", "\n".join(["x,y,w", *lines]) + "\n")
    grow = ("grow", table, "--target", "y", "--weight", "w", "--quiet")
    works(*grow, "-o", "m.spinney")
    outcome = tool("rules", "m.spinney", "--simplify", table, "--weight", "w")
    assert outcome.code == 0
    assert outcome.err == ""
    assert "support 7" in outcome.out
    assert "not the one" in tool("rules", "m.spinney", "--simplify", table).err
    none = tool("rules", "m.spinney", "--simplify", table, "--weight", "v")
    assert none.code == 3
    assert "no column 'v'" in none.err


def test_another_table_is_told(tool, model, melons, write):
    lines = melons.read_text(encoding="utf-8").splitlines(keepends=True)
    outcome = tool("rules", model, "--simplify", write("few.csv", "".join(lines[:12])))
    assert outcome.code == 0
    assert "not the one that the tree was grown on" in outcome.err


@pytest.mark.parametrize(
    ("code", "words", "arguments"),
    [
        (2, "--confidence 0.3 needs", ["--confidence", "0.3"]),
        (2, "--weight w needs", ["--weight", "w"]),
        (2, "--dates dayfirst needs", ["--dates", "dayfirst"]),
        (2, "--confidence 2.0 must be", ["--simplify", "t.csv", "--confidence", "2"]),
        (3, "no-such.csv", ["--simplify", "no-such.csv"]),
        (3, "the model needs the columns", ["--simplify", "t.csv"]),
        (2, "there is no folder", ["--simplify", "t.csv", "-o", "none/rules.txt"]),
        (2, "file exists", ["--simplify", "t.csv", "-o", "t.csv"]),
    ],
)
def test_what_is_refused(refused, model, write, code, words, arguments):
    write("t.csv", "a,b\n1,2\n")
    assert words in refused(code, "rules", model, *arguments)
