"""What new users see is true and can be read: days, formulas, percentages, cuts."""

import random
import re
from datetime import datetime
from fractions import Fraction
from math import inf, nextafter

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.page_scripts import NODE, by_node

import spinney
from spinney._support.text import figure, percent_text, read_bound
from spinney.cli import run
from spinney.data import Attribute, Column, Schema, Target
from spinney.data.times import DAY_UNIT
from spinney.extensions.explorer.tree_data import cut_digits
from spinney.extensions.pictures.branch_labels import branch_label
from spinney.trees import parse_condition
from spinney.trees.linear import LinearModel, Term

DAYS = ["2026-11-02", "2026-11-10", "2026-11-18", "2026-11-20"]


def dated(tmp_path):
    """Return a file with a column of days, which are 7 or 8 days apart at the cut."""
    path = tmp_path / "days.csv"
    lines = [f"{day},{sold}" for day, sold in zip(DAYS, "nnyy", strict=True)]
    path.write_text("\n".join(["day,sold", *lines, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("shift", [0, 1])
def test_a_cut_between_days_reads_as_a_day(tmp_path, shift):
    path = dated(tmp_path)
    path.write_text(path.read_text().replace("11-18", f"11-1{7 + shift}"))
    model = spinney.grow(path, "sold", recipe="id3")
    (left, right) = ("≤ 2026-11-14", "> 2026-11-14")
    if not shift:  # between the 13th and the 14th
        (left, right) = ("< 2026-11-14", "≥ 2026-11-14")
    assert f"day {left} → n" in str(model)
    assert f"day {right} → y" in str(model)
    assert f"IF day {left} THEN sold = n" in str(model.rules())
    picture = model.plot().svg
    assert left.replace("<", "&lt;") in picture
    assert right.replace(">", "&gt;") in picture
    assert "T12:00" not in f"{model}{model.rules()}{picture}{model.explain(node=0)}"
    days = spinney.read_table(path)["day"].cells
    for node in (1, 2):  # as it reads, it may be asked again, and parts the rows alike
        text = model.tree.condition(model.tree.nodes[node])
        asked = parse_condition(text, model.schema, "forced_splits")
        assert (days <= asked.cut).sum() == 4


@pytest.mark.parametrize("hour", [0, 6, 12, 18])
def test_what_is_before_a_day_is_so_until_its_midnight(tmp_path, hour):
    path = dated(tmp_path)
    path.write_text(path.read_text().replace("11-18", "11-17"))
    model = spinney.grow(path, "sold", recipe="id3")
    assert "day < 2026-11-14 → n" in str(model)  # the cut is at noon of the 13th
    instants = [datetime(2026, 11, day, hour, 30) for day in (13, 14)]
    later = tmp_path / "later.csv"
    later.write_text("\n".join(["day", *map(str, instants)]) + "\n", encoding="utf-8")
    frame = pd.DataFrame({"day": pd.to_datetime(instants)})
    for table in ({"day": instants}, {"day": [*map(str, instants)]}, frame, later):
        assert list(model.predict(table)) == ["n", "y"]
    one = model.predictor()
    assert [one({"day": instant}) for instant in instants] == ["n", "y"]
    names = {}
    exec(model.export("python"), names)
    assert [names["predict"]({"day": instant}) for instant in instants] == ["n", "y"]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT unnest($1) AS day", [instants])
    query = model.export("sql", table="t")
    labels = connection.execute(query).df()["predicted sold"].tolist()
    assert labels == ["n", "y"]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_explorer_reads_instants_for_days_as_models_do():
    texts = [
        "2026-11-13",
        "2026-11-13 18:00",
        "2026-11-13T23:59:59.999",
        "1969-12-31 06:00",
    ]
    said = by_node(
        "numbers.js", f"given.map((text) => each.numberOf(text, {DAY_UNIT!r}))", texts
    )
    days = Attribute("day", "numeric", unit=DAY_UNIT)
    column = Column("day", "nominal", np.arange(len(texts)), tuple(texts))
    assert said == days.encode(column).tolist() == [20770.0] * 3 + [-1.0]


def test_a_lesson_shows_days_as_days(tmp_path):
    page = tmp_path / "lesson.html"
    path = dated(tmp_path)
    assert run(["lesson", str(path), "--target", "sold", "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "2026-11-02" in text
    assert "20759" not in text


def test_the_iterations_of_clusters_say_what_days_count(tmp_path, capsys):
    path = tmp_path / "days.csv"
    path.write_text(
        "day,size\n2026-01-05,1\n2026-01-07,2\n2026-03-05,8\n2026-03-09,9\n"
    )
    assert run(["cluster", str(path), "-k", "2", "--explain"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"cluster +day \(days since 1970-01-01\) +size", told)
    assert run(["cluster", str(path), "-k", "2", "--explain", "--standardise"]) == 0
    assert "days since" not in capsys.readouterr().out


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@settings(max_examples=3)
@given(st.lists(st.floats(-800_000, 3_000_000), min_size=40, max_size=40), st.data())
def test_bounds_read_alike_in_the_explorer(bounds, data):
    days = data.draw(st.lists(st.integers(-9000, 99_000), min_size=9, max_size=9))
    bounds = [*bounds, *days, *(nextafter(day, -inf) for day in days), 0.0, 6.5]
    bounds += [day + 0.5 for day in days]
    given = [[bound, unit] for bound in bounds for unit in (None, DAY_UNIT)]
    said = by_node(
        "schema.js",
        "given.map(([bound, unit]) => new each.Attribute({unit}).readBound(bound))",
        given,
    )
    assert said == [[*read_bound(bound, unit)] for bound, unit in given]


def priced():
    """Return a model tree whose leaves have terms of many sets of places."""
    draw = random.Random(1)
    worth = {f"the place number {n}": 50 * draw.random() for n in range(60)}
    places = [draw.choice([*worth]) for _ in range(400)]
    sizes = [10 * draw.random() for _ in places]
    prices = [
        worth[place] + 3 * size * (2 if size > 5 else 1) + draw.gauss(0, 1)
        for place, size in zip(places, sizes, strict=True)
    ]
    data = {"place": places, "size": sizes, "price": prices}
    return spinney.grow(data, "price", recipe="m5")


def test_a_linear_model_of_many_values_is_a_few_lines():
    model = priced()
    leaf, *_ = model.tree.model_names
    line = model.tree.nodes[leaf].model
    pairs = zip(line.terms, line.coefficients, strict=True)
    of_places = [pair for pair in pairs if pair[0].codes is not None]
    assert len(of_places) > 20
    places = model.schema.attributes[0].values
    by_place = [
        sum(factor for term, factor in of_places if code in term.codes)
        for code in range(len(places))
    ]
    low, high = (by_place.index(each(by_place)) for each in (min, max))
    told = (
        f"in {len(of_places)} terms, least for {places[low]}, most for {places[high]}"
    )
    n_terms = len(line.terms)
    assert (
        f"LM1: price = {figure(line.intercept, digits=4)} + … {n_terms} more terms"
        in (str(model).splitlines())
    )
    for text in (model.text(), str(model.rules())):
        assert told in text
        assert f"{figure(by_place[low])} to {figure(by_place[high])} {told}" in text
        assert "· size" in text
        assert max(map(len, text.splitlines())) < 160


def test_pictures_have_the_formulas_that_leaves_name():
    data = {"x": [*range(30)], "y": [2 * x if x < 15 else 90 - x for x in range(30)]}
    model = spinney.grow(data, "y", recipe="m5", numeric=["y"])
    formulas = [line for line in model.text().splitlines() if line.startswith("LM")]
    assert len(formulas) > 1
    picture = model.plot().svg.partition("</desc>")[2]
    for line in formulas:
        assert f">{line}</text>" in picture


def test_many_terms_are_told_in_part():
    terms = tuple(Term(index, None, 0.0) for index in range(40))
    names = tuple(Attribute(f"x{index}", "numeric") for index in range(40))
    schema = Schema(names, Target("y", origin=0.0))
    parts = LinearModel(1.0, terms, (2.0,) * 40).parts(schema)
    assert parts[:2] == ["1", "+ 2 · x0"]
    assert parts[-2:] == ["+ 2 · x23", "+ … 16 more terms"]


def test_no_term_is_told_after_one_that_is_left_out():
    names = [Attribute(f"x{index}", "numeric") for index in range(22)]
    names += [Attribute("sort", "nominal", ("a", "b", "c", "d")), names[0]]
    terms = [Term(index, None, 0.0) for index in range(22)]
    terms += [Term(22, (code,), 0.0) for code in range(4)]
    schema = Schema(tuple(names), Target("y", origin=0.0))
    last = (*terms, Term(23, None, 0.0))
    parts = LinearModel(1.0, last, (2.0,) * 27).parts(schema)
    assert parts[-2:] == ["+ 2 · (sort = b)", "+ … 3 more terms"]
    parts = LinearModel(1.0, (*terms[:22], *terms[:3]), (2.0,) * 25).parts(schema)
    assert parts[-1] == "+ … 1 more term"


def test_a_day_in_a_linear_model_says_what_it_counts():
    day = Attribute("day", "numeric", unit=DAY_UNIT)
    schema = Schema((day,), Target("y", origin=0.0))
    model = LinearModel(1.0, (Term(0, None, 0.0),), (-2.0,))
    assert model.text(schema) == "1 − 2 · (day in days since 1970-01-01)"


def exactly(count, total, digits):
    """Return a share in percent, a tie to the even digit, in whole numbers alone."""
    step = Fraction(1, 10**digits)
    steps = round(Fraction(100 * count, total) / step)
    if steps == 0 < count or (steps * step == 100 and count < total):
        sign, steps = ("<", 1) if steps == 0 else (">", 100 * 10**digits - 1)
        return f"{sign} {float(steps * step):.{digits}f} %"
    return f"{float(steps * step):.{digits}f} %"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_share_is_rounded_in_one_way():
    counts = [(n, of) for of in (1, 2, 3, 7, 8, 16, 40, 80, 200) for n in range(of + 1)]
    counts += [(n, 1000) for n in range(1001)] + [(1, 10**6), (10**6 - 1, 10**6)]
    given = [(count, of, digits) for count, of in counts for digits in (0, 1)]
    expected = [exactly(*each) for each in given]
    assert [percent_text(n / of, digits) for n, of, digits in given] == expected
    said = by_node(
        "numbers.js", "given.map(([n, of, d]) => each.percentText(n / of, d))", given
    )
    assert said == expected


def test_26_of_80_are_as_many_percent_in_all_places():
    data = {"x": [0] * 26 + [1] * 54, "y": ["a"] * 26 + ["b"] * 54}
    model = spinney.grow(data, "y", recipe="cart", numeric=["x"])
    picture = model.plot(style="teaching").svg.partition("</desc>")[2]
    assert "a 26 (32 %), b 54 (68 %)" in str(model)
    assert "26 rows · 32 %" in picture
    assert ": 26 (32 %)" in picture
    assert "33 %" not in picture


@pytest.mark.parametrize("step", [1e-7, np.finfo(float).eps / 8])
def test_a_cut_is_written_so_that_rows_stay_on_their_sides(step):
    places = np.random.default_rng(5).integers(0, 50, size=(200, 2))
    near = 0.3 + places * step  # or one float beside the other
    high = places.sum(axis=1) > places.sum(axis=1).mean()
    data = {"a": near[:, 0], "b": near[:, 1], "y": [str(each) for each in high]}
    model = spinney.grow(data, "y", recipe="cart")
    tree, there = model.tree, model.decision_path(data).toarray() > 0
    digits = cut_digits(tree.arrays, tree.nodes.candidate_arrays)
    inner = [node for node in tree.nodes if not node.is_leaf]
    assert len(inner) > 2
    for node in inner:
        left = tree.nodes[node.children[0]]
        (label,) = branch_label(tree, left, max_width=9999.0, size=11)
        cut = node.split.threshold
        cells = near[there[:, node.number], node.split.attribute]
        for text in (label.removeprefix("≤ "), f"{cut:.{digits[node.number]}g}"):
            assert ((cells <= float(text)) == (cells <= cut)).all(), (text, cut)


def test_boxes_of_a_forest_tell_weights_and_not_rows():
    draw = random.Random(3)
    rows = [(draw.random(), draw.random()) for _ in range(60)]
    y = ["ab"[a + draw.gauss(0, 0.2) > b] for a, b in rows]
    data = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "y": y}
    forest = spinney.grow_forest(data, "y", n_estimators=3).plot().svg
    drawn = forest.partition("</desc>")[2]
    assert re.search(r"\d rows of weight 60", drawn)
    assert len(re.findall(r">(?:\d+ of )?weight \d+ · ", drawn)) > 5
    assert not re.search(r">(?:\d+ of )?[\d.]+ rows? · ", drawn)
    plain = spinney.grow(data, "y", recipe="c4.5").plot().svg
    assert not re.search(r">(?:\d+ of )?weight \d", plain)
