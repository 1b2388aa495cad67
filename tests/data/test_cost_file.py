"""Files of costs, strictly read."""

import gzip

import pytest

from spinney.data.readers.cost_file import read_costs
from spinney.errors import DataError, ParameterError, SpinneyNote

GOOD = "actual,predicted,cost\ngood,good,0\ngood,bad,1\nbad,good,5\nbad,bad,0\n"


def test_costs_by_label_and_truth(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(GOOD)
    found = read_costs(path)
    assert found == {"good": {"good": 0, "bad": 5}, "bad": {"good": 1, "bad": 0}}


@pytest.mark.parametrize(
    "text",
    [
        "predicted,actual,cost\nbad,good,1\ngood,bad,5\n",
        "\ufeffactual,predicted,cost\r\ngood,bad,1\r\n\r\nbad,good,5.0\r\n",
        'actual,predicted,cost\n"good",bad,1e0\nbad,good,5\n',
    ],
)
def test_other_ways_to_write_it(tmp_path, text):
    path = tmp_path / "costs.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    found = read_costs(str(path))
    assert found == {"good": {"good": 0, "bad": 5}, "bad": {"good": 1, "bad": 0}}


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "is empty: its first line must be 'actual,predicted,cost'"),
        ("good,bad,1\n", "has 'good, bad, 1': its first line"),
        ("actual,predicted,cost,why\n", "its first line"),
        ("actual,predicted,cost\n", "names 0 classes"),
        ("actual,predicted,cost\na,a,0\n", "names 1 classes"),
        ("actual,predicted,cost\na,b\n", "line 2 of .* has 2 cells: 3 are needed"),
        ("actual,predicted,cost\na,b,1\nb,,2\n", "line 3 of .* has no predicted class"),
        ("actual,predicted,cost\na,b,-1\n", "line 2 of .* has the cost '-1'"),
        ("actual,predicted,cost\na,b,inf\n", "has the cost 'inf'"),
        ("actual,predicted,cost\na,b,1_0\n", "has the cost '1_0'"),
        ("actual,predicted,cost\na,b,much\n", "has the cost 'much'"),
        ("actual,predicted,cost\na,b,1\na,b,2\n", "line 3 of .* occur twice"),
        ("actual,predicted,cost\na,b,1\n", "no line for actual 'b' and predicted 'a'"),
        ('actual,predicted,cost\n"a"x,b,1\n', "is not a CSV file"),
    ],
)
def test_what_is_refused(tmp_path, text, said):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_costs(path)


def test_no_file():
    with pytest.raises(DataError, match="there is no file"):
        read_costs("gone.csv")
    with pytest.raises(ParameterError, match="cannot be read from standard input"):
        read_costs("-")


def test_wrong_encoding(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_bytes("actual,predicted,cost\nä,b,1\nb,ä,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="not text in utf-8"):
        read_costs(path, encoding="utf-8")
    assert "ä" in read_costs(path, encoding="latin-1")
    with pytest.warns(SpinneyNote, match="read with encoding='cp1252'"):
        assert "ä" in read_costs(path)
