"""A model as an ONNX file: arrays in, arrays out, thresholds in double precision.

Trees are plain operators over the tables of
:mod:`spinney.extensions.exports.edge_tables`. The tree operators of ONNX have no
multiway nodes and no divided rows, and store thresholds in single precision.
"""

from functools import partial, reduce
from typing import Any

import numpy as np

from spinney._support.json_text import json_text
from spinney._support.ties import TOLERANCE
from spinney.extensions.exports.edge_tables import EdgeTables, edge_tables
from spinney.extensions.exports.form_data import head
from spinney.extensions.exports.onnx_graph import Graph
from spinney.extensions.exports.portable import (
    LARGEST,
    Centres,
    DerivedCell,
    FormCondition,
    FormConjunction,
    FormSum,
    Portable,
    free_name,
    refuse_unsupported,
)

LABEL, SHARES, NUMBER = "label", "probabilities", "prediction"


def to_onnx(form: Portable) -> bytes:
    """Return an ONNX file with an input of shape rows × 1 for each column.

    Missing numbers (double) are NaN, missing texts "". The outputs are ``label`` and
    ``probabilities``, or the number ``prediction``. An input with such a name gets a
    number appended.
    """
    _refuse_names(form)
    return _OnnxModel(form).file()


def _refuse_names(form: Portable) -> None:
    """Refuse names and texts that ONNX cannot represent."""
    texts = [column.name for column in form.columns]
    for column in form.columns:
        texts += [value for value in column.values if isinstance(value, str)]
    texts += [label for label in form.target.classes if isinstance(label, str)]
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            refuse_unsupported(
                "onnx", f"{text!r}, which is no Unicode text", "rename it"
            )
        if "\0" in text:
            refuse_unsupported(
                "onnx", f"{text!r}, which has a NUL character", "rename it"
            )
    if "" in [column.name for column in form.columns]:
        refuse_unsupported("onnx", "a column whose name is empty", "name it")
    if len({type(label) for label in form.target.classes}) > 1:
        refuse_unsupported("onnx", "classes of several types", "make them all texts")


class _OnnxModel:
    """Writes the ONNX graph of a model."""

    def __init__(self, form: Portable) -> None:
        self.form = form
        names = [LABEL, SHARES]
        if form.target.is_numeric:
            names = [NUMBER]
        elif form.centres is not None:
            names = [LABEL]
        columns, inputs = [column.name for column in form.columns], list[str]()
        for name in columns:
            reserved = {*names, *columns, *inputs}
            inputs.append(free_name(name, reserved) if name in names else name)
        self.inputs = inputs
        self.graph = Graph([*names, *inputs])
        self.zero = self.graph.constant(0.0)
        self.nan = self.graph.constant(np.nan)
        self.second = self.graph.constant(np.array([1]))

    def file(self) -> bytes:
        """Return the bytes of the file."""
        graph, form = self.graph, self.form
        kinds = [column.is_number for column in form.columns]
        inputs = [
            graph.value(name, "DOUBLE" if number else "STRING", ["rows", 1])
            for name, number in zip(self.inputs, kinds, strict=True)
        ]
        cells = [*map(self._column, range(len(form.columns)))]
        for derived in form.derived:
            cells.append(self._derived_cell(derived, cells))
        outputs = self._outputs(cells)
        proto = graph.proto("spinney", inputs, outputs)
        return graph.file(
            proto, "\n".join([head(form, "", json_text), *self._renamed()])
        )

    def _renamed(self) -> list[str]:
        """Return a line for each input whose name differs from its column's."""
        pairs = zip(self.inputs, self.form.columns, strict=True)
        return [
            f"The input {json_text(name)} is the column {json_text(column.name)}."
            for name, column in pairs
            if name != column.name
        ]

    def _outputs(self, cells: list[str]) -> list[Any]:
        """Add the predictions, and return the types of the outputs."""
        graph, form = self.graph, self.form
        if form.centres is not None:
            nearest = self._nearest(cells, form.centres)
            return [self._output(LABEL, nearest, "INT64", ["rows"])]
        said, label = self._trees(cells)
        if form.target.is_numeric:
            number = graph.add("Squeeze", said, self.second)
            return [self._output(NUMBER, number, "DOUBLE", ["rows"])]
        code = self._best(graph, self._merits(said)) if label is None else label
        kinds = {str: "STRING", int: "INT64", bool: "BOOL", float: "DOUBLE"}
        kind = kinds[type(form.target.classes[0])]
        classes = graph.constant(np.array(form.target.classes), "classes")
        named = graph.add("Gather", classes, code)
        size = len(form.target.classes)
        return [
            self._output(LABEL, named, kind, ["rows"]),
            self._output(SHARES, said, "DOUBLE", ["rows", size]),
        ]

    def _output(self, name: str, cells: str, kind: str, shape: list[Any]) -> Any:
        self.graph.rename(cells, name)
        return self.graph.value(name, kind, shape)

    # Cells: numbers (NaN if missing) and codes of texts (0 if missing)

    def _column(self, at: int) -> str:
        """Add the cells of a column, and return their name."""
        graph, column = self.graph, self.form.columns[at]
        cell = graph.add("Squeeze", self.inputs[at], self.second)
        if not column.is_number:
            texts = self.form.texts(at)
            codes = graph.add(
                "LabelEncoder",
                cell,
                domain="ai.onnx.ml",
                keys_strings=[text.encode("utf-8") for text in texts],
                values_int64s=[*range(1, len(texts) + 1)],
                default_int64=0,
            )
            return graph.cast(codes, "DOUBLE")
        for number in column.missing:
            same = graph.add("Equal", cell, graph.constant(number))
            cell = graph.add("Where", same, self.nan, cell)
        return cell

    def _derived_cell(self, derived: DerivedCell, cells: list[str]) -> str:
        """Add a derived cell, and return its name."""
        graph = self.graph
        if isinstance(derived, FormConjunction):
            return self._conjunction(derived, cells)
        if isinstance(derived, FormSum):
            parts = [
                graph.add("Mul", cells[cell], graph.constant(factor))
                for cell, factor in derived.terms
            ]
            number = reduce(partial(graph.add, "Add"), parts)
        else:
            number = graph.add("Div", cells[derived.first], cells[derived.second])
        is_infinite = graph.add("IsInf", number)
        return graph.add("Where", is_infinite, self.nan, number)

    def _conjunction(self, derived: FormConjunction, cells: list[str]) -> str:
        """Add the code of "true" or "false", 0 if missing."""
        graph = self.graph
        known, is_accepted = zip(
            *(self._clause(clause, cells) for clause in derived.clauses), strict=True
        )
        all_known, all_accepted = known[0], is_accepted[0]
        for one, other in zip(known[1:], is_accepted[1:], strict=True):
            all_known = graph.add("And", all_known, one)
            all_accepted = graph.add("And", all_accepted, other)
        true, false = graph.constant(2.0), graph.constant(1.0)
        code = graph.add("Where", all_accepted, true, false)
        return graph.add("Where", all_known, code, self.zero)

    def _clause(self, clause: FormCondition, cells: list[str]) -> tuple[str, str]:
        """Add whether the cell of a clause is known, and whether it satisfies it."""
        graph, cell, accepted = self.graph, cells[clause.cell], clause.accepted
        if isinstance(accepted, tuple):
            known = graph.add("Not", graph.add("IsNaN", cell))
            above = graph.add("Greater", cell, graph.constant(accepted[0]))
            below = graph.add("LessOrEqual", cell, graph.constant(accepted[1]))
            is_accepted = graph.add("And", above, below)
        else:
            texts = self.form.texts(clause.cell)
            codes = graph.cast(cell, "INT64")
            tables = [
                graph.constant([False, *(text in accepted for text in texts)]),
                graph.constant([False, *(accepted.get(text, False) for text in texts)]),
            ]
            known, is_accepted = (graph.add("Gather", table, codes) for table in tables)
        if not clause.missing:
            return known, is_accepted
        is_accepted = graph.add("Or", is_accepted, graph.add("Not", known))
        return graph.add("Or", known, is_accepted), is_accepted

    # Trees

    def _trees(self, cells: list[str]) -> tuple[str, str | None]:
        """Add the outputs of trees, and the code of the class if leaves have one."""
        form, graph = self.form, self.graph
        tables = edge_tables(form)
        rows = [graph.add("Unsqueeze", cell, self.second) for cell in cells]
        if not rows:
            refuse_unsupported("onnx", "a model that uses no column", "take 'python'")
        matrix = graph.add("Concat", *rows, axis=1)
        shared = {
            "cells": matrix,
            "members": graph.constant(tables.members, "members"),
            "values": graph.constant(tables.values, "values"),
        }
        if len(form.roots) == 1:
            names = {
                name: graph.constant(table[0], name)
                for name, table in tables.by_tree.items()
            }
            outputs, label = self._tree(graph, tables, shared | names)
            return self._vote(graph, outputs) if form.majority else outputs, label
        return self._loop(tables, shared), None

    def _loop(self, tables: EdgeTables, shared: dict[str, str]) -> str:
        """Add a loop that adds up the outputs of trees in order."""
        graph, n_trees = self.graph, len(self.form.roots)
        whole = {
            name: graph.constant(table, name) for name, table in tables.by_tree.items()
        }
        body = Graph(outer=graph)
        turn, going, before = (body.name(n) for n in ("turn", "going", "before"))
        names = {
            name: body.add("Gather", table, turn, axis=0)
            for name, table in whole.items()
        }
        outputs, _ = self._tree(body, tables, shared | names)
        if self.form.majority:
            outputs = self._vote(body, outputs)
        total, condition = body.add("Add", before, outputs), body.add("Identity", going)
        shape = ["rows", self.form.target.n_outputs]
        inner = body.proto(
            "tree",
            [
                body.value(turn, "INT64", []),
                body.value(going, "BOOL", []),
                body.value(before, "DOUBLE", shape),
            ],
            [body.value(condition, "BOOL", []), body.value(total, "DOUBLE", shape)],
        )
        n_rows = graph.add(
            "Gather", graph.add("Shape", shared["cells"]), graph.constant([0])
        )
        width = graph.constant([self.form.target.n_outputs])
        zeros = graph.add(
            "Expand", self.zero, graph.add("Concat", n_rows, width, axis=0)
        )
        inputs = [graph.constant(n_trees), graph.constant(True), zeros]
        (total,) = graph.add_with_outputs("Loop", inputs, 1, body=inner)
        return graph.add("Div", total, graph.constant(float(n_trees)))

    def _tree(
        self, graph: Graph, tables: EdgeTables, names: dict[str, str]
    ) -> tuple[str, str | None]:
        """Add the outputs of one tree for each row, and the code of its class."""
        fractions = self._edges(graph, tables, names)
        for step in range(tables.n_steps):
            above = graph.add("Gather", fractions, names[f"up{step}"], axis=1)
            fractions = graph.add("Mul", fractions, above)
        outputs = graph.add("MatMul", fractions, names["says"])
        if tables.has_lines:
            lines = self._lines(graph, names)
            weighed = graph.add("Mul", fractions, lines)
            line_outputs = graph.add("ReduceSum", weighed, self.second, keepdims=1)
            outputs = graph.add("Add", outputs, line_outputs)
        if not self.form.has_labels:
            return outputs, None
        weighed = graph.add("Mul", fractions, names["label"])
        return outputs, graph.cast(
            graph.add("ReduceSum", weighed, self.second, keepdims=0), "INT64"
        )

    def _edges(self, graph: Graph, tables: EdgeTables, names: dict[str, str]) -> str:
        """Add the fraction of a row on each edge, by its first decisive split."""
        fractions = names["otherwise"]
        for split in reversed(range(tables.n_splits)):
            at = graph.constant(split)
            cell, low, high, first, is_number, is_text = (
                graph.add("Gather", names[name], at, axis=1)
                for name in ("cell", "low", "high", "first", "is_number", "is_text")
            )
            cells = graph.add("Gather", names["cells"], cell, axis=1)
            member = self._looked_up(graph, names["members"], cells, first, is_text)
            inside = graph.add(
                "And",
                graph.add("Greater", cells, low),
                graph.add("LessOrEqual", cells, high),
            )
            is_sent = graph.add(
                "Or",
                graph.add("And", is_number, inside),
                graph.add("Equal", member, graph.constant(2)),
            )
            given = graph.add("Not", graph.add("IsNaN", cells))
            known = graph.add(
                "Or",
                graph.add("And", is_number, given),
                graph.add("Greater", member, graph.constant(0)),
            )
            fractions = graph.add(
                "Where", known, graph.cast(is_sent, "DOUBLE"), fractions
            )
        return fractions

    def _looked_up(
        self, graph: Graph, table: str, cells: str, first: str, is_text: str
    ) -> str:
        """Add the entries of a table for codes; for numbers, its first entry."""
        none = graph.constant(0.0)
        codes = graph.cast(graph.add("Where", is_text, cells, none), "INT64")
        return graph.add("Gather", table, graph.add("Add", codes, first))

    def _lines(self, graph: Graph, names: dict[str, str]) -> str:
        """Add the output of the linear model of each node for each row."""
        cells = graph.add("Gather", names["cells"], names["term_cell"], axis=1)
        first, is_text = names["term_first"], names["term_is_text"]
        by_text = self._looked_up(graph, names["values"], cells, first, is_text)
        number = graph.add("Where", graph.add("IsNaN", cells), names["lack"], cells)
        value = graph.add("Where", is_text, by_text, number)
        # No factor next to MatMul: runtimes fuse it in single precision.
        total = graph.add("MatMul", value, names["factors"])
        return graph.add("Add", total, names["plus"])

    def _merits(self, shares: str) -> str:
        """Add the merit of each class: its probability, or its negative cost."""
        if self.form.cost_lines is None:
            return shares
        graph, costs = self.graph, np.array(self.form.cost_lines)
        expected = graph.add("MatMul", shares, graph.constant(costs.T.copy()))
        return graph.add("Neg", expected)

    def _best(self, graph: Graph, merits: str) -> str:
        """Add the last code whose merit equals the best, within 1e-12."""
        best = graph.add("ReduceMax", merits, axes=[1], keepdims=1)
        one = graph.constant(1.0)
        size = graph.add("Max", graph.add("Abs", best), one)
        tolerance = graph.add("Mul", size, graph.constant(TOLERANCE))
        good = graph.add("GreaterOrEqual", merits, graph.add("Sub", best, tolerance))
        codes = graph.constant(np.arange(self.form.target.n_outputs))
        chosen = graph.add("Where", good, codes, graph.constant(0))
        return graph.add("ReduceMax", chosen, axes=[1], keepdims=0)

    def _vote(self, graph: Graph, shares: str) -> str:
        """Add 1 for the class of the greatest probability, and 0 for the others."""
        best = graph.add("Unsqueeze", self._best(graph, shares), self.second)
        codes = graph.constant(np.arange(self.form.target.n_outputs))
        return graph.cast(graph.add("Equal", best, codes), "DOUBLE")

    # Clusters

    def _nearest(self, cells: list[str], centres: Centres) -> str:
        """Add the cluster of each row; -1 if a distance cannot be computed."""
        graph, n = self.graph, len(self.form.target.classes)
        totals = others = graph.constant(np.zeros((1, n)))
        refused = graph.constant(np.array([False]))
        for number in centres.numbers:
            cell = graph.add("Div", cells[number.cell], graph.constant(number.scale))
            is_missing = graph.add("IsNaN", cell)
            size = graph.add("Abs", cell)
            is_infinite = graph.add("Greater", size, graph.constant(LARGEST))
            refused = graph.add("Or", refused, is_infinite)
            if not centres.allows_missing:
                refused = graph.add("Or", refused, is_missing)
            column = graph.add("Unsqueeze", cell, self.second)
            difference = graph.add(
                "Sub", column, graph.constant([list(number.centres)])
            )
            square = graph.add("Mul", difference, difference)
            missing_column = graph.add("Unsqueeze", is_missing, self.second)
            part = graph.add("Where", missing_column, self.zero, square)
            totals = graph.add("Add", totals, part)
        for text in centres.texts:
            known = [text.distances[each] for each in self.form.texts(text.cell)]
            others = self._add_texts(cells[text.cell], text.cell, known, others)
        gamma = graph.constant(centres.gamma)
        totals = graph.add("Add", totals, graph.add("Mul", others, gamma))
        least = graph.add("ReduceMin", totals, axes=[1], keepdims=1)
        near = graph.add("LessOrEqual", totals, least)
        codes = graph.add(
            "Where", near, graph.constant(np.arange(n)), graph.constant(n)
        )
        nearest = graph.add("ReduceMin", codes, axes=[1], keepdims=0)
        return graph.add("Where", refused, graph.constant(-1), nearest)

    def _add_texts(self, cell: str, at: int, known: list[Any], others: str) -> str:
        """Add the distances of a text; for an unknown text, 1 from all centres."""
        graph, n = self.graph, len(self.form.target.classes)
        table = graph.constant(np.array([[1.0] * n, *known], np.float64))
        part = graph.add("Gather", table, graph.cast(cell, "INT64"), axis=0)
        column = graph.add("Squeeze", self.inputs[at], self.second)
        given = graph.add(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=[b""],
            values_int64s=[0],
            default_int64=1,
        )
        given = graph.add("Unsqueeze", graph.cast(given, "DOUBLE"), self.second)
        return graph.add("Add", others, graph.add("Mul", part, given))
