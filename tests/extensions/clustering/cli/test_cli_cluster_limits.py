"""Clusters of odd tables in the shell: an answer or a word for it, never a fault."""

import json

import pytest

HUGE = "a,b\n1e308,1\n-1e308,2\n1e308,5\n0,1\n"
THREE = "a\n" + "0\n1\n5\n" * 4


def test_json_of_what_is_infinite(works, write):
    told = json.loads(works("cluster", write("huge.csv", HUGE), "--k", 2, "--json"))
    assert told["inertia"] == "infinity"
    told = json.loads(works("cluster", write("three.csv", THREE), "--json"))
    assert told["choice"]["curve"][-1]["calinski_harabasz"] == "infinity"


def test_a_model_whose_inertia_is_beyond_floats(works, write):
    path = write("huge.csv", HUGE)
    works("cluster", path, "--k", 2, "--model", "huge.spinney")
    assert "inertia inf" in works("show", "huge.spinney")
    assert json.loads(works("show", "huge.spinney", "--json"))["inertia"] == "infinity"
    told = json.loads(works("predict", "huge.spinney", path, "--json"))
    assert len({row["label"] for row in told["rows"]}) == 2
    assert all(0 <= row["distance"] < 1e308 for row in told["rows"])


@pytest.mark.parametrize(
    ("weight", "words"), [("1e308", "divide all"), ("0", "or only zeros")]
)
def test_weights_without_a_sum(tool, write, weight, words):
    path = write("rows.csv", f"a,w\n1,{weight}\n2,{weight}\n9,{weight}\n")
    told = tool("cluster", path, "--k", 2, "--weight", "w")
    assert told.code
    assert words in told.err


def test_tiny_weights_are_weights(works, write):
    path = write("rows.csv", "a,w\n1,1e-320\n2,1e-320\n9,1e-320\n")
    told = json.loads(works("cluster", path, "--k", 2, "--weight", "w", "--json"))
    assert sorted(line["a"] for line in told["centroids"]) == [1.5, 9]


def test_tiny_numbers_are_written_with_an_exponent(works, write):
    path = write("rows.csv", "a\n1e-200\n2e-200\n9e-200\n")
    told = works("cluster", path, "--k", 2, "--explain")
    assert "1.5e-200" in told
    assert "0.000000" not in told


def test_a_gamma_that_would_overflow(tool, write):
    path = write("rows.csv", "a,b\n1,x\n2,y\n9,x\n")
    told = tool("cluster", path, "--k", 2, "--gamma", "1e308")
    assert "--gamma 1e+308" in told.err
