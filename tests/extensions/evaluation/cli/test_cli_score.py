"""``spinney score``: measures, confusion matrix and errors by class."""

import json

import numpy as np
import pytest

import spinney
from spinney import DataError, ParameterError

TRAIN = "size,colour,sort\n1,red,a\n2,red,a\n3,blue,b\n4,blue,b\n5,red,c\n6,red,c\n"
TEST = (
    "size,colour,sort,w\n1,red,a,2\n2,blue,b,1\n3,blue,b,1\n5,red,a,1\n"
    "6,red,?,1\n6,red,new,3\n"
)


@pytest.fixture
def grown(works, write):
    write("train.csv", TRAIN)
    given = ("--target", "sort", "--recipe", "id3", "--missing-values", "?", "--quiet")
    works("grow", "train.csv", *given, "-o", "m.spinney")
    write("test.csv", TEST)


def test_classes_beside_plain_arithmetic(works, grown):
    found = json.loads(works("score", "m.spinney", "test.csv", "--json"))
    model = spinney.load("m.spinney")
    truth = ["a", "b", "b", "a", "new"]  # the row without a class is left out
    caught = model.predict("test.csv").tolist()
    caught = caught[:4] + caught[5:]
    assert found["rows"] == 5
    assert found["without_target"] == 1
    assert found["never_seen"] == ["new"]
    assert found["classes"] == ["a", "b", "c", "new"]
    pairs = list(zip(truth, caught, strict=True))
    assert found["confusion"] == [
        [pairs.count((true, label)) for label in found["classes"]]
        for true in found["classes"]
    ]
    right = sum(true == label for true, label in pairs)
    assert found["measures"]["accuracy"] == right / 5
    for line in found["by_class"]:
        mine = [pair for pair in pairs if pair[0] == line["class"]]
        hits = sum(true == label for true, label in mine)
        said = caught.count(line["class"])
        assert line["support"] == len(mine)
        assert line["recall"] == (hits / len(mine) if mine else None)
        assert line["precision"] == (hits / said if said else None)


def test_weights_count_rows(works, grown):
    weighed = json.loads(
        works("score", "m.spinney", "test.csv", "--weight", "w", "--json")
    )
    assert (weighed["rows"], weighed["weight"]) == (5, 8)
    assert np.sum(weighed["confusion"]) == 8


def test_the_text_says_what_is_left_out(works, grown):
    text = works("score", "m.spinney", "test.csv")
    assert text.startswith("sort: 5 rows, ")
    assert "1 row without 'sort' (dropped)" in text
    assert "unknown to the model (counted as errors): 'new' (1)" in text
    assert "confusion matrix (columns: predicted class)" in text
    assert works("score", "m.spinney", "test.csv", "--ascii").isascii()


def test_python_says_the_same(works, grown):
    found = spinney.score(spinney.load("m.spinney"), "test.csv")
    data = json.loads(works("score", "m.spinney", "test.csv", "--json"))
    assert json.loads(json.dumps(found.as_dict())).items() <= data.items()
    assert str(found) + "\n" == works("score", "m.spinney", "test.csv")


def test_numbers(works, write):
    rows = "x,y\n" + "".join(f"{x},{x * 2.5 + x % 3}\n" for x in range(40))
    write("n.csv", rows)
    given = ("--target", "y", "--recipe", "cart", "--numeric", "y", "--quiet")
    works("grow", "n.csv", *given, "-o", "n.spinney")
    found = json.loads(works("score", "n.spinney", "n.csv", "--json"))["measures"]
    truth = np.array([x * 2.5 + x % 3 for x in range(40)])
    errors = spinney.load("n.spinney").predict("n.csv") - truth
    assert found["mae"] == pytest.approx(np.abs(errors).mean())
    assert found["rmse"] == pytest.approx(np.sqrt((errors**2).mean()))
    left = (errors**2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert found["r2"] == pytest.approx(1 - left)
    assert "R2" in works("score", "n.spinney", "n.csv")


def test_costs(write, works, grown):
    costs = {"a": {"b": 5.0, "c": 1.0}, "b": {"a": 1.0, "c": 1.0}, "c": {"a": 2.0}}
    rows = {"size": [1, 2, 3, 4, 5, 6], "sort": list("aabbcc")}
    costs["c"]["b"] = 1.0
    model = spinney.grow(rows, "sort", recipe="id3", cost_matrix=costs)
    seen = {"size": [1, 6, 3], "sort": ["b", "a", "b"]}
    assert spinney.score(model, seen).measures["cost"] == (5 + 2) / 3
    seen["sort"][2] = "never"
    assert spinney.score(model, seen).measures["cost"] is None


def test_what_cannot_be_scored(refused, works, grown, write):
    write("bare.csv", "size,colour\n1,red\n")
    line = refused(3, "score", "m.spinney", "bare.csv")
    assert "no column 'sort', the target" in line
    write("empty.csv", "size,colour,sort\n1,red,?\n")
    assert "no row has a 'sort'" in refused(3, "score", "m.spinney", "empty.csv")
    line = refused(3, "score", "m.spinney", "test.csv", "--weight", "sort")
    assert "weight" in line
    clusters = spinney.KMeans(2).fit([[1.0], [2.0], [9.0]])
    with pytest.raises(ParameterError, match="has no target to compare with"):
        spinney.score(clusters, [[1.0]])
    model = spinney.load("m.spinney")
    with pytest.raises(DataError, match="the target"):
        spinney.score(model, {"size": [1.0], "colour": ["red"]})
