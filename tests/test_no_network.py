"""Neither importing Spinney nor using it opens a socket."""

import subprocess
import sys

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
model.export("svg")
model.save("m.spinney")
assert list(spinney.load("m.spinney").predict(rows)) == list("aabb")
spinney.KMeans(2, random_state=0).fit({"x": [1.0, 2.0, 9.0]})
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
    assert run.stdout == "quiet\n", run.stderr
