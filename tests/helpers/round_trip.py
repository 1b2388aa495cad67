"""Predictions written by the shell and read back, in every format."""

import json

import numpy as np

from spinney._support.text import value_text
from spinney.cli import run
from spinney.data import Declarations
from spinney.data.readers import read_table

FORMATS = ("out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.csv.gz", "out.json")


def read_back(path, name):
    """Return the labels of a file, as text."""
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return [value_text(row["label"]) for row in json.load(file)["rows"]]
    table = read_table(path, declarations=Declarations(nominal=(name,)))
    column = table[name]
    return [value_text(column.levels[code]) for code in column.cells]


def check_formats(model, data, name):
    """Assert that predictions in every format, read back, are those of the model.

    Files are written to the current folder.
    """
    model.save("m.spinney")
    told = model.predict(data)
    expected = [value_text(label) for label in told.tolist()]
    numeric = model.schema.target.is_numeric
    for path in FORMATS:
        assert run(["predict", "m.spinney", data, "-o", path, "--overwrite"]) == 0
        if numeric and not path.endswith(".json"):
            np.testing.assert_array_equal(read_table(path)[name].cells, told)
        else:
            assert read_back(path, name) == expected, path
