"""Rows as numbers: names become codes, once, and all later statements are of numbers.

So what users have written stands in one statement only, where it is bound::

    SELECT 0 AS node, weight, class code AS class, c0 AS a0, codes of c1 AS a1 …
    FROM clean rows LEFT JOIN (VALUES ('red', 0), ('green', 1)) AS k1 ON k1.raw = c1

An attribute of few values is coded by CASE, which spares a join.
"""

from collections.abc import Mapping

from sqlglot import exp

from spinney.data import Schema, Value
from spinney.extensions.databases.clean_rows import TrainingQuery
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    double,
    known,
    named,
    select,
    whole,
)
from spinney.extensions.databases.sql_schema import Raw, SeenValues

FEW = 12
"""So many values are compared one after the other."""


def coded_rows(rows: TrainingQuery, schema: Schema, seen: SeenValues) -> exp.Select:
    """Return the select of node, weight, class, a0, a1 and so on, codes for names."""
    coded: dict[str, dict[Raw, int]] = {}
    for index, attribute in enumerate(schema.attributes):
        if attribute.kind != "numeric":
            codes = {value: code for code, value in enumerate(attribute.values)}
            coded[f"c{index}"] = _codes(seen.attributes[index], codes)
    if not schema.target.is_numeric:
        classes = {value: code for code, value in enumerate(schema.target.classes)}
        coded["class"] = _codes(seen.target, classes)
    many = sorted(
        (name for name, codes in coded.items() if len(codes) > FEW),
        key=lambda name: -len(coded[name]),
    )
    joined = many[: rows.engine.most_joins]
    listed = [named(whole(0), "node"), column("weight")]
    names = {"class": "class", **{f"c{i}": f"a{i}" for i in range(schema.n_columns)}}
    for name, own in names.items():
        cell: exp.Expr = column(name)
        if name in joined:
            cell = column("code", f"codes of {name}")
        elif name in coded:
            whens = ((bound(raw), whole(code)) for raw, code in coded[name].items())
            cell = case(*whens, of=cell) if coded[name] else exp.Null()
        if name in coded:
            kind = rows.engine.whole_type(0, len(coded[name]))
            cell = exp.Cast(this=cell, to=kind)
        elif own == "class":
            cell = double(cell)
        listed.append(named(cell, own))
    wanted = known(column("class")) if "class" not in joined else None
    query = select(listed, rows.select(), wanted)
    for name in joined:
        alias = f"codes of {name}"
        lines = [(bound(raw), whole(code)) for raw, code in coded[name].items()]
        codes_table = rows.engine.values(lines, ("raw", "code"), alias)
        equal = exp.EQ(this=column("raw", alias), expression=column(name))
        join = exp.Join(this=codes_table, side="LEFT", on=equal)
        query.append("joins", join)
    return query


def _codes(seen: Mapping[Raw, Value], codes: Mapping[Value, int]) -> dict[Raw, int]:
    return {raw: codes[value] for raw, value in seen.items() if value in codes}
