"""Exports answer as their model does: run for real, row by row, bit by bit."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from tests.helpers.export_cases import CASES, grown, outputs_of, rows_of

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def by_python(model, rows):
    names = {}
    exec(model.export("python"), names)
    if model.schema.target.is_numeric:
        return np.array([[names["predict"](row)] for row in rows]), None
    shares = [list(names["probabilities"](row).values()) for row in rows]
    return np.array(shares), [names["predict"](row) for row in rows]


RUN = """
import {readFileSync} from "node:fs";
const answers = [];
for (const [code, rows] of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const model = await import(code);
  const labels = rows.map((row) => model.predict(row));
  const shares = model.probabilities
    ? rows.map((row) => [...model.probabilities(row).values()])
    : labels.map((label) => [label]);
  answers.push({labels, shares});
}
console.log(JSON.stringify(answers));
"""


@pytest.fixture(scope="module")
def by_javascript(tmp_path_factory):
    """What exports say of the rows of all cases: Node.js is started once."""
    folder, jobs = tmp_path_factory.mktemp("javascript"), []
    for number, case in enumerate(CASES):
        code = folder / f"model{number}.mjs"
        grown(case).export("javascript", path=code)
        jobs.append([str(code), rows_of(case)])
    (folder / "run.mjs").write_text(RUN)
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [NODE, folder / "run.mjs", folder / "jobs.json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return dict(zip(CASES, json.loads(done.stdout), strict=True))


def same_bits(said, expected):
    outputs, labels = expected
    assert said[1] == labels
    np.testing.assert_array_equal(said[0], outputs)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_python_says_the_same(case):
    model, rows = grown(case), rows_of(case)
    same_bits(by_python(model, rows), outputs_of(model, rows))


@needs_node
@pytest.mark.parametrize("case", CASES, ids=str)
def test_javascript_says_the_same(case, by_javascript):
    said, expected = by_javascript[case], outputs_of(grown(case), rows_of(case))
    labels = None if expected[1] is None else said["labels"]
    same_bits((np.array(said["shares"]), labels), expected)
