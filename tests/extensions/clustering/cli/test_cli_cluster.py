"""Clusters in the shell."""

import csv
import io
import json
import os

import numpy as np
import pytest
from tests.cli.conftest import TABLES

import spinney
from spinney.extensions.clustering import fit_k_means as fit

IRIS = TABLES / "iris.csv"
FIVE = TABLES / "kmeans_five.csv"


@pytest.fixture
def start(write):
    return write("start.csv", "attr2,attr1\n2,1.5\n7,5\n")


ROWS = "id,day,x,cluster\na,2024-01-02,1,old\n=b,,2,\nc,2024-01-04,9,n\n"


def lines_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_from_finding_to_predicting(works, folder):
    out = works(
        *("cluster", IRIS, "--ignore", "class", "--n-clusters", "auto"),
        *("-o", "labels.csv", "--model", "iris.spinney"),
    )
    assert out.startswith("150 rows, 4 columns: sepallength, sepalwidth,")
    assert "k = 2 by silhouette: its silhouette, 0.6" in out
    assert "inertia 152.36" in out.splitlines()[-1]
    rows = lines_of((folder / "labels.csv").read_text())
    assert rows[0][-3:] == ["class", "cluster", "distance"]
    assert len(rows) == 151
    told = lines_of(works("predict", "iris.spinney", IRIS))
    assert told[0] == ["cluster", "distance"]
    assert [row[-2:] for row in rows[1:]] == told[1:]
    model = spinney.load("iris.spinney")
    assert [int(row[0]) for row in told[1:]] == model.predict(str(IRIS)).tolist()
    as_json = json.loads(works("predict", "iris.spinney", IRIS, "--json"))
    assert [row["label"] for row in as_json["rows"]] == [int(r[0]) for r in told[1:]]
    shown = works("show", "iris.spinney")
    assert shown.splitlines() == out.splitlines()[-len(shown.splitlines()) :]
    info = works("info", "iris.spinney")
    assert "petalwidth    numeric" in info


def test_the_worked_example(works, start):
    out = works(
        *("cluster", FIVE, "--ignore", "entity", "--n-clusters", 2),
        *("--init", start, "--explain"),
    )
    lines = out.splitlines()
    # EXPECTED: 1.12/7.21, 2.50/3.61, 3.61/2.50, then 1.57/5.96, ...
    for line in (
        "    1    1.0      1  1.12  7.21        0",
        "    3    3.0      4  2.50  3.61        0",
        "    5    3.5      5  3.61  2.50        1",
        "    1    1.0      1  1.57  5.96        0",
        "    4    5.0      7  5.64  1.25        1",
        "        0     3   1.83   2.33",
        "        1     2   4.25   6.00",
    ):
        assert line in lines
    assert "converged after 2 iterations" in out
    assert "cluster 1 (2 rows): attr1 > 3.25" in out


def test_json(works, start):
    out = works(
        *("cluster", FIVE, "--columns", "attr1, attr2", "--init", start),
        *("--explain", "--explain-rows", 2, "--json"),
    )
    data = json.loads(out)
    assert data["schema"] == "spinney/cluster/1"
    assert data["labels"] == [0, 0, 0, 1, 1]
    assert data["sizes"] == [3, 2]
    assert data["centroids"][1] == {"attr1": 4.25, "attr2": 6.0}
    assert np.round(data["trace"]["iterations"][0]["distances"], 2).tolist() == [
        [1.12, 7.21],
        [0.0, 6.1],
    ]
    assert data["choice"] is None
    assert "cluster 0 (3 rows)" in data["explanation"]


def test_a_rule_and_a_range(works, tool):
    out = works(
        "cluster", IRIS, "--ignore", "class", "--rule", "elbow", "--n-clusters", "2-5"
    )
    assert "by elbow" in out
    assert "\n   5  " in out
    assert "\n   6  " not in out
    told = tool(
        "cluster", IRIS, "--ignore", "class", "--n-clusters", "3-4", "--rule", "gap"
    )
    assert told.code == 0


def test_the_last_that_was_tried_is_said(tool, write):
    rows = [f"{group * 100 + spread}" for group in range(12) for spread in (0, 1, 2)]
    path = write("many.csv", "\n".join(["x", *rows]))
    told = tool("cluster", path)
    assert (
        "spinney: k = 10 is the largest candidate: --n-clusters 2-20 tries more"
        in told.err
    )
    assert "k = 12 by silhouette" in tool("cluster", path, "--n-clusters", "2-20").out


def test_standardise(works, write):
    path = write(
        "two.csv", "a,b\n1,1000\n2,9000\n9,1500\n10,8000\n1.5,1200\n9.5,8500\n"
    )
    out = works(
        "cluster", path, "--n-clusters", 2, "--standardise", "--model", "s", "--explain"
    )
    assert "each column divided by its standard deviation" in out
    assert "columns standardised" in out
    model = spinney.load("s")
    assert model.standardise
    assert model.cluster_centers_[:, 1].min() > 1000
    labels = works("predict", "s", path).split()[1:]
    data = json.loads(
        works("cluster", path, "--n-clusters", 2, "--standardise", "--json")
    )
    assert [int(line.split(",")[0]) for line in labels] == data["labels"]
    by_hand = np.loadtxt(path, delimiter=",", skiprows=1)
    scaled = by_hand / by_hand.std(axis=0)
    centers = model.cluster_centers_ / by_hand.std(axis=0)
    apart = np.linalg.norm(scaled - centers[data["labels"]], axis=1)
    np.testing.assert_allclose(data["distances"], apart)
    assert data["inertia"] == pytest.approx((apart**2).sum())


def test_a_mixed_table(works, mixed, write):
    out = works(
        *("cluster", mixed, "--ignore", "id", "--n-clusters", 2, "--explain"),
        *("-o", "labels.csv", "--model", "m.spinney"),
    )
    assert "k-prototypes" in out
    assert "weight of a categorical mismatch" in out
    assert "cluster 0 (6 rows)" in out
    new = write("new.csv", "hue,size,other\nred,11,x\nblue,,y\ngreen,0.2,z\n")
    told = lines_of(works("predict", "m.spinney", new))
    assert told[1][0] != told[2][0] == told[3][0]
    assert "hue" in works("show", "m.spinney")
    start = write("start.csv", "size,hue\n0,blue\n10,red\n")
    data = json.loads(
        works("cluster", mixed, "--ignore", "id", "--init", start, "--json")
    )
    assert data["labels"] == [0, 1] * 6
    assert data["centroids"][1]["hue"] == "red"
    assert data["settings"]["init"] == "given"


def test_names_of_rows_are_left_out(tool, mixed):
    told = tool("cluster", mixed, "--n-clusters", 2)
    assert told.code == 0
    assert "column 'id' has only unique values (12) and was excluded" in told.err
    assert "--nominal id" in told.err


def test_missing_cells(works, refused, write):
    path = write("gaps.csv", "a,b\n1,2\n3,?\n4,5\n9,9\n")
    line = refused(3, "cluster", path, "--n-clusters", 2, "--missing-values", "?")
    assert "column 'b' is missing (NaN) in row 2" in line
    assert "--method 'k-prototypes'" in line
    out = works(
        *("cluster", path, "--n-clusters", 2, "--missing-values", "?"),
        *("--method", "k-prototypes", "--model", "m"),
    )
    assert "k-prototypes" in out
    assert len(works("predict", "m", path).splitlines()) == 5


def test_weights(works, write):
    path = write("w.csv", "x,w\n0,1\n1,3\n10,1\n")
    twice = write("t.csv", "x\n0\n1\n1\n1\n10\n")
    one = json.loads(
        works("cluster", path, "--weight", "w", "--n-clusters", 2, "--json")
    )
    other = json.loads(works("cluster", twice, "--n-clusters", 2, "--json"))
    assert one["sizes"] == other["sizes"]
    assert one["centroids"] == other["centroids"]
    assert one["columns"] == {"x": "numeric"}


def test_rows_keep_their_columns(works, write):
    path = write("r.csv", ROWS)
    asked = ("cluster", path, "--columns", "x", "--n-clusters", 2, "-o", "-")
    out = works(*asked, "--init", "random")
    rows = lines_of(out)
    assert rows[0] == ["id", "day", "x", "cluster", "cluster_", "distance"]
    assert rows[1][:4] == ["a", "2024-01-02", "1", "old"]
    assert rows[2][:4] == ["=b", "", "2", ""]
    spreadsheet_safe = works(*asked, "--spreadsheet")
    assert lines_of(spreadsheet_safe)[2][0] == "'=b"


def test_ignored_columns_are_kept_as_they_are(works, refused, write):
    path = write("i.csv", "id,x,odd\n007,1,inf\n008,2,1.50\n010,9,\n")
    asked = ("cluster", path, "--ignore", "id", "--ignore", "odd", "--n-clusters", 2)
    rows = lines_of(works(*asked, "-o", "-"))
    assert [row[:3] for row in rows[1:]] == [
        ["007", "1", "inf"],
        ["008", "2", "1.50"],
        ["010", "9", ""],
    ]
    assert "'none'" in refused(3, *asked, "--ignore", "none")
    assert "declared 2 times" in refused(2, *asked, "--nominal", "odd")


def test_the_same_seed_gives_the_same_files(works, folder):
    for name, seed in (("a", 4), ("b", 4)):
        works(
            *(
                "cluster",
                IRIS,
                "--ignore",
                "class",
                "--n-clusters",
                3,
                "--init",
                "random",
            ),
            *(
                "--random-state",
                seed,
                "--model",
                f"{name}.m",
                "-o",
                f"{name}.csv",
                "--quiet",
            ),
        )
    for kind in ("m", "csv"):
        one, other = (folder / f"{name}.{kind}" for name in "ab")
        assert one.read_bytes() == other.read_bytes()


def test_other_options(works):
    told = works(
        *("cluster", IRIS, "--ignore", "class", "--n-clusters", 3, "--max-iter", 1),
        *("--n-init", 1, "--n-jobs", 1),
    )
    assert "not converged within --max-iter 1" in told
    near = works(
        *("cluster", IRIS, "--ignore", "class", "--n-clusters", 3, "--tol", 0.5),
        *("--explain", "--explain-rows", 1, "--ascii"),
    )
    assert "not converged after" in near
    assert near.isascii()
    one = works(
        "cluster", FIVE, "--columns", "attr1", "--n-clusters", 2, "--init", "optimal"
    )
    assert "k-means" in one
    assert works("cluster", FIVE, "--n-clusters", 2, "--quiet") == ""
    alone = works("cluster", FIVE, "--n-clusters", 1, "--explain")
    assert "one cluster only: there is nothing to explain" in alone


def test_equal_rows(tool, write):
    path = write("equal.csv", "a,b\n1,1\n1,1\n1,1\n")
    told = tool("cluster", path, "--n-clusters", 2)
    assert told.code == 0
    assert "1 of 2 clusters are empty" in told.err
    assert "nan" not in told.out.lower()
    assert "k = 1" in tool("cluster", path).out
    one = write("one.csv", "a\n7\n")
    assert tool("cluster", one).out.startswith("1 row, 1 column: a")


def test_an_interrupt_leaves_no_file(tool, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "iterate", interrupted)
    told = tool("cluster", FIVE, "--n-clusters", 2, "-o", "l.csv", "--model", "m")
    assert told.code == 130
    assert told.err.strip() == "spinney: interrupted"
    assert list(folder.iterdir()) == []


def test_a_narrow_terminal(works, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for more in (("--n-clusters", "3"), ()):
        out = works("cluster", IRIS, "--ignore", "class", "--explain", *more)
        assert max(map(len, out.splitlines())) <= 60
        assert "cluster  petalwidth" in out


def test_standard_input(process):
    told = process(
        *("cluster", "-", "--n-clusters", "2", "--ignore", "entity", "-o", "-"),
        stdin=FIVE.read_text(),
    )
    assert told.code == 0, told.err
    assert told.out.splitlines()[0] == "entity,attr1,attr2,cluster,distance"


def test_the_shell_needs_no_scikit_learn(process, folder):
    (folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['sklearn'] = sys.modules['numba'] = None\n"
    )
    known = os.environ.get("PYTHONPATH", "")
    told = process(
        *("cluster", FIVE, "--n-clusters", "auto", "--model", "m"),
        environment={"PYTHONPATH": f"{folder}{os.pathsep}{known}"},
    )
    assert told.code == 0, told.err
    assert (folder / "m").exists()
