"""Faults 48 to 52: what names do to pages, sheets, terminals, statements, servers."""

import ast
import re
import warnings
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from tests.faults.fault_rows import grown
from tests.helpers.hostile_names import NAMES
from tests.test_hostile_names import check_markup, check_text

import spinney
from spinney import SpinneyWarning
from spinney.cli import run

SOURCE = Path(spinney.__file__).parent


@pytest.fixture(scope="module")
def hostile():
    """Return a tree with hostile names as attribute, values and classes."""
    one_line = [name for name in NAMES if len(name.splitlines()) == 1]
    rows = {NAMES[0]: list(NAMES[:12]), "y": [one_line[1], one_line[2]] * 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        return grown(rows)


def test_fault_48_names_in_pictures_and_pages(hostile):
    check_markup(hostile.export("svg"))
    page = hostile.export("html")
    for island in re.findall(
        r'<script type="application/json"[^>]*>(.*?)</script>', page
    ):
        assert not re.search(r"[<>\u2028\u2029]", island)
    assert "<img" not in page
    assert "<svg onload" not in page
    assert "<script>alert" not in page
    assert "Content-Security-Policy" in page


def test_fault_48_names_in_programs(hostile):
    script = hostile.export("javascript")
    assert "\u2028" not in script
    assert "</script>" not in script
    names = {}
    exec(hostile.export("python"), names)
    row = {NAMES[0]: NAMES[3]}
    told = hostile.predict({name: [cell] for name, cell in row.items()})
    assert names["predict"](row) == told[0]
    dot = hostile.export("dot")
    assert len(re.findall(r'(?<!\\)"', dot)) % 2 == 0


@pytest.mark.parametrize("sign", ["=1+1", "+1+1", "-x+1", "@b"])
def test_fault_49_cells_that_a_spreadsheet_would_run(sign, tmp_path):
    """By ``--spreadsheet``; without it a file says what the model said."""
    model = grown({"x": [1, 1, 2, 2], "y": [sign, sign, "plain", "plain"]})
    model.save(tmp_path / "m")
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    output = tmp_path / "out.csv"
    files = [str(tmp_path / "m"), str(tmp_path / "t.csv"), "-o", str(output)]
    assert run(["predict", *files]) == 0
    assert f"'{sign}" not in output.read_text()
    assert run(["predict", *files, "--spreadsheet", "--overwrite"]) == 0
    first = output.read_text().splitlines()[1]
    assert f"'{sign}" in first


def test_fault_50_names_in_a_terminal(hostile, tmp_path, capsys):
    texts = (hostile, hostile.rules(), hostile.explain(node=0))
    for text in map(str, texts):
        check_text(text)
    hostile.save(tmp_path / "m")
    for command in ("show", "rules", "info"):
        assert run([command, str(tmp_path / "m")]) == 0
        out, err = capsys.readouterr()
        check_text(out)
        check_text(err)


def test_fault_51_names_in_statements():
    names = ['a"; DROP TABLE t; --', "select", "a'b", "naïve 名", "x]y", "--"]
    rows = {name: [i % 2, 1, i % 3, 2] for i, name in enumerate(names)}
    frame = pd.DataFrame({**rows, "y": ["'; --", "'; --", '"', '"']})
    model = grown(frame)
    assert str(grown(duckdb.from_df(frame))) == str(model)
    database = duckdb.connect()
    database.register('t"; --', frame)
    told = database.sql(model.export("sql", table='t"; --')).df()
    assert list(told["predicted y"]) == list(model.predict(frame))


def test_fault_51_a_deep_tree_in_sql():
    """Leaves are lines of a list: no CASE is in another, however deep the tree is."""
    rows = {"x": [float(i) for i in range(30)], "y": ["a", "b", "c"] * 10}
    model = grown(rows, "id3")
    assert model.tree.n_leaves == 30
    frame = pd.DataFrame(rows)
    database = duckdb.connect()
    database.register("t", frame)
    told = database.sql(model.export("sql", table="t")).df()
    assert list(told["predicted y"]) == list(model.predict(frame))


SERVERS = {"http", "socketserver", "socket", "asyncio", "wsgiref", "xmlrpc", "urllib"}


def test_fault_52_there_is_no_server():
    """Nothing listens and nothing is fetched, so no request can be forged."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in SERVERS):
            continue
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            # Addresses may be taken apart.
            used = {n.split(".")[0] for n in names if n != "urllib.parse"}
            assert not used & SERVERS, (path, used)
