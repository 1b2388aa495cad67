"""Random tables: exports answer as their trees do."""

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.export_cases import edge_rows, outputs_of

import spinney

NUMBERS = st.none() | st.floats(-1e12, 1e12, allow_subnormal=False)
TEXTS = st.none() | st.sampled_from(["a", "b'", 'c"', "\\", "é", " "])
ROWS = st.lists(
    st.tuples(NUMBERS, NUMBERS, TEXTS, st.sampled_from(["yes", "no", "it's"])),
    min_size=4,
    max_size=14,
).filter(lambda rows: len({row[-1] for row in rows}) > 1)
TYPES = {"x": pa.float64(), "y z": pa.float64(), "hue": pa.string()}


@settings(max_examples=15, deadline=None)
@given(ROWS, st.sampled_from(["id3", "c4.5", "cart"]))
def test_python_and_duckdb_answer_as_the_tree(rows, recipe):
    cells = zip((*TYPES, "class"), zip(*rows, strict=True), strict=True)
    columns = {name: [*each] for name, each in cells}
    declared = {"numeric": ["x", "y z"], "nominal": ["hue"]}
    model = spinney.grow(columns, "class", recipe=recipe, **declared)
    training = [dict(zip(TYPES, row, strict=False)) for row in rows]
    asked = training + edge_rows(model, training)
    outputs, labels = outputs_of(model, asked)
    names = {}
    exec(model.export("python"), names)
    shares = [list(names["probabilities"](row).values()) for row in asked]
    np.testing.assert_array_equal(np.array(shares), outputs)
    assert [names["predict"](row) for row in asked] == labels
    connection = duckdb.connect()
    table = {n: pa.array([row[n] for row in asked], type=t) for n, t in TYPES.items()}
    table["row"] = pa.array(range(len(asked)))
    connection.register("data", pa.table(table))
    query = model.export("sql", keep=["row"])
    query = f'SELECT "predicted class" FROM ({query}) ORDER BY "row"'
    assert [line[0] for line in connection.execute(query).fetchall()] == labels
