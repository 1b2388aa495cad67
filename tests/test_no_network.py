"""Spinney opens no socket, evaluates no text and knows no pickles."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import spinney

SOURCE = Path(spinney.__file__).parent

RUN = """
import socket

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = refuse
socket.create_connection = socket.getaddrinfo = refuse
import spinney

rows = {"x": [1, 1, 2, 2], "word": list("uvuv"), "y": list("aabb")}
model = spinney.grow(rows, "y", recipe="id3")
str(model), model.rules(), model.explain(node=0), model.export("json")
model.export("svg"), model.export("html"), model.export("sql", table="t")
spinney.grow(rows, "y"), spinney.grow_forest(rows, "y", n_estimators=2)
spinney.evaluate(rows, "y", "id3", folds=2), spinney.look(rows)
model.save("m.spinney")
assert list(spinney.load("m.spinney").predict(rows)) == list("aabb")
spinney.KMeans(2, random_state=0).fit({"x": [1.0, 2.0, 9.0]})
from spinney.cli import run
open("t.csv", "w").write("x,word,y\\n1,u,a\\n1,v,a\\n2,u,b\\n2,v,b\\n")
for command in (["grow", "t.csv", "--target", "y"], ["predict", "m.spinney", "t.csv"],
                ["cluster", "t.csv", "--columns", "x", "--n-clusters", "2"]):
    output = "g" if command[0] == "grow" else command[0] + ".csv"
    assert run([*command, "-o", output]) == 0
print("quiet")
"""


def test_a_typical_run_opens_no_socket(tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.endswith("quiet\n"), run.stderr


CALLS = {"eval", "exec", "__import__"}
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_no_text_is_code_and_no_pickle_is_read(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in CALLS
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                truth = getattr(keyword.value, "value", None)
                assert (keyword.arg, truth) not in {("shell", True)}
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & MODULES
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in MODULES
