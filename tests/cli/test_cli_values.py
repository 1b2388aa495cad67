"""Names and labels of every kind come through whole, and do no harm."""

import csv
import io
import json
import sys

import pytest

import spinney
from spinney._support.text_table import cells

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "[/x]",
    "[bold]",
    '"quoted", twice',
    "</script><img src=x onerror=alert(1)>",
    "größe → 😀",
    "c1 \x9b2J \u202e",
    "n" * 300,
)
FORMULAS = ("=1+1", "+x", "-y", "@z", "\tt")


def table_of(labels, *, target="sort", name="size", values=None):
    """Return a CSV in which every label has two rows and its own number."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([name, "kind", target])
    for number, label in enumerate(labels):
        kind = values[number] if values else "k"
        writer.writerows([[number, kind, label]] * 2)
    return text.getvalue()


@pytest.fixture
def grown(works, write):
    """Grow a CART tree on a table and return what was printed."""

    def grow_table(content, target="sort", *options):
        write("t.csv", content)
        given = ("--recipe", "cart", "-o", "m.spinney", "--overwrite")
        return works("grow", "t.csv", f"--target={target}", *given, *options)

    return grow_table


def printed(text):
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_come_through_and_never_reach_the_terminal(works, grown, name):
    labels = (f"{name} a", f"{name} b")
    texts = [grown(table_of(labels, target=f"t {name}", name=name), f"t {name}")]
    texts += [works(command, "m.spinney") for command in ("show", "rules", "info")]
    texts += [works("explain", "m.spinney")]
    texts += [works("explain", "m.spinney", "--row", "t.csv")]
    for text in texts:
        assert text.replace("\n", "").isprintable()
        assert text.count("\n") == len(text.splitlines())
    if name.isprintable():
        assert all(name in text for text in texts[2:])
        assert name in spinney.load("m.spinney").text()
        for tree in texts[:2]:  # no line is wider than 80
            assert max(map(cells, tree.splitlines())) <= 80
            assert (name in tree) == (len(name) < 80)
    for arguments in (["show"], ["rules"], ["explain"], ["info"], ["predict", "t.csv"]):
        command, *data = arguments
        text = works(command, "m.spinney", *data, "--json")
        assert text.replace("\n", "").isprintable()
        assert f"{name} a" in json.dumps(json.loads(text), ensure_ascii=False).replace(
            '\\"', '"'
        ).replace("\\u001b", "\x1b")
    expected = spinney.load("m.spinney").predict("t.csv").tolist()
    assert printed(works("predict", "m.spinney", "t.csv")) == expected


def test_json_in_ascii_says_the_same(works, grown):
    grown(table_of(("größe", "😀"), name="→"))
    for command in ("show", "rules", "explain"):
        plain = works(command, "m.spinney", "--json", "--ascii")
        assert plain.isascii()
        assert json.loads(plain) == json.loads(works(command, "m.spinney", "--json"))


def test_labels_are_written_as_they_are_unless_a_spreadsheet_reads_them(works, grown):
    grown(table_of(FORMULAS, target="=cmd"), "=cmd")
    expected = [label for label in FORMULAS for _ in range(2)]
    text = works("predict", "m.spinney", "t.csv")
    assert text.startswith("=cmd\n")
    assert printed(text) == expected
    asked = ("predict", "m.spinney", "t.csv", "--probabilities", "--spreadsheet")
    spreadsheet_safe = works(*asked)
    assert spreadsheet_safe.startswith("'=cmd,")
    assert printed(spreadsheet_safe) == [f"'{label}" for label in expected]


def test_negative_numbers_are_no_formulas(works, grown):
    grown(table_of(("-1", "+2.5", "-1e3x"), values="abc"), "sort", "--nominal=sort")
    found = printed(works("predict", "m.spinney", "t.csv", "--spreadsheet"))
    assert found == ["-1", "-1", "+2.5", "+2.5", "'-1e3x", "'-1e3x"]


def test_a_terminal_gets_no_control_characters_of_predictions(
    works, grown, monkeypatch
):
    grown(table_of(("a\x1b[31m", "b"), target="t\x1b[0m"), "t\x1b[0m")
    plain = works("predict", "m.spinney", "t.csv")
    assert plain.startswith("t\x1b[0m\na\x1b[31m\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    seen = works("predict", "m.spinney", "t.csv")
    assert seen.startswith("t\\x1b[0m\na\\x1b[31m\n")


def test_zero_and_false_are_labels(works, grown, write):
    tree = grown(table_of((0, 1)))
    assert "→ 0" in tree
    assert printed(works("predict", "m.spinney", "t.csv")) == [
        "0",
        "0",
        "1",
        "1",
    ]
    data = json.loads(works("predict", "m.spinney", "t.csv", "--json"))
    assert [row["label"] for row in data["rows"]] == [0, 0, 1, 1]

    rows = [{"size": i // 2, "sort": i > 1} for i in range(4)]
    write("t.jsonl", "\n".join(map(json.dumps, rows)))
    given = ("--target=sort", "--recipe=c4.5", "-o", "b.spinney", "--quiet")
    works("grow", "t.jsonl", *given)
    text = works("predict", "b.spinney", "t.jsonl")
    assert printed(text) == ["false", "false", "true", "true"]
    data = json.loads(works("predict", "b.spinney", "t.jsonl", "--json"))
    assert [row["label"] for row in data["rows"]] == [False, False, True, True]


def test_an_empty_label_is_a_missing_one(tool, write):
    write("t.csv", table_of(("a", "b", "")))
    outcome = tool("grow", "t.csv", "--target", "sort")
    assert outcome.code == 0
    assert "is missing in 2 of 6 rows, which are left out" in outcome.err


def test_a_target_named_as_a_further_column(works, grown):
    grown(table_of(("a", "b"), target="leaf"), "leaf")
    flags = ("--leaf", "--probabilities")
    text = works("predict", "m.spinney", "t.csv", *flags)
    assert text.splitlines()[0] == "leaf,p(a),p(b),leaf_"
    data = json.loads(works("predict", "m.spinney", "t.csv", "--json", *flags))
    assert data["rows"][0]["label"] == "a"


def test_a_column_name_of_300_characters_leaves_info_narrow(works, grown):
    grown(table_of(("a", "b"), name="n" * 300))
    longest, *others = sorted(works("info", "m.spinney").splitlines(), key=len)[::-1]
    assert longest.split() == ["n" * 300, "numeric"]
    assert all(len(line) < 120 for line in others)


def test_a_thousand_classes_are_not_cut(works, grown, write):
    labels = [f"c{number}" for number in range(1000)]
    grown(table_of(labels), "sort", "--max-depth", "2", "--quiet")
    assert ", ".join(sorted(labels)) in works("info", "m.spinney")
    write("new.csv", "size,kind\n1,k\n")
    header = works("predict", "m.spinney", "new.csv", "--probabilities").split()[0]
    assert header.count(",") == 1000
    assert "c999" in works("explain", "m.spinney")


def test_two_hundred_columns(works, write):
    names = [f"column {number}" for number in range(200)]
    rows = [[(row * (place + 3)) % 7 for place in range(200)] for row in range(40)]
    lines = [dict(zip(names, row, strict=True), sort=row[150] > 3) for row in rows]
    write("t.jsonl", "\n".join(map(json.dumps, lines)))
    tree = works("grow", "t.jsonl", "--target", "sort", "-o", "m.spinney")
    assert "column " in tree
    text = works("info", "m.spinney")
    assert all(f"\n  {name} " in text for name in names)


def test_a_deep_tree_is_not_cut(works, write):
    rows = "".join(f"{number},{'ab'[number % 2]}\n" for number in range(200))
    write("t.csv", f"size,sort\n{rows}")
    given = ("--target=sort", "--recipe=id3", "-o", "m.spinney")
    tree = works("grow", "t.csv", *given, "--max-lines", "0")
    data = json.loads(works("info", "m.spinney", "--json"))
    assert data["size"]["height"] > 100
    assert len(tree.splitlines()) == data["size"]["nodes"]
    assert len(works("rules", "m.spinney").splitlines()) == data["size"]["leaves"]
