"""A model as a SQL query that adds predictions to the rows of a table.

The query of a tree without divided rows finds the leaf of each row, then the leaf's
outputs. Other queries compute class probabilities, then the class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from spinney._support.checks import check_named
from spinney._support.json_text import json_text
from spinney._support.ties import TOLERANCE
from spinney.errors import Setting, refusal
from spinney.extensions.exports.form_data import head
from spinney.extensions.exports.portable import (
    LARGEST,
    Centres,
    Portable,
    best_class,
    refuse_unsupported,
)
from spinney.extensions.exports.sql_cells import SqlCells
from spinney.extensions.exports.sql_dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from spinney.extensions.exports.sql_names import ROWS, SCORED, QueryNames
from spinney.extensions.exports.sql_trees import (
    MAX_LINE_LENGTH,
    SqlTrees,
    balanced,
    case_lines,
)

Columns = Sequence[tuple[str, str]]  # pairs of expression and name


def to_sql(
    form: Portable,
    *,
    dialect: str = DEFAULT_DIALECT,
    table: str = "data",
    keep: Sequence[str] = (),
) -> str:
    """Return a query over a table: its columns, predictions, class probabilities.

    The columns are those in ``keep``, then those that the model reads.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    >>> tree = spinney.grow(shop, "y", recipe="cart")
    >>> print(to_sql(portable(tree), dialect="sqlite", table="shop", keep=["id"]))
    -- "y", predicted by a tree of 3 nodes.
    --
    -- A row has a value for each column:
    --   "x": a number
    -- A text that is not listed is treated as a missing value.
    SELECT q."id", q."x",
      CASE q."leaf" WHEN 1 THEN 'a' WHEN 2 THEN 'b' END AS "predicted y",
      CASE q."leaf" WHEN 1 THEN 1.0e0 WHEN 2 THEN 0.0e0 END AS "p(a)",
      CASE q."leaf" WHEN 1 THEN 0.0e0 WHEN 2 THEN 1.0e0 END AS "p(b)"
    FROM (
    SELECT t."id", t."x",
      CASE WHEN CAST(t."x" AS REAL) > 2.5e0 THEN 2 ELSE 1 END AS "leaf"
    FROM "shop" AS t
    ) AS q
    <BLANKLINE>
    """
    check_named("dialect", dialect, DIALECTS)
    if not isinstance(table, str) or not all(table.split(".")):
        raise refusal(Setting("table", table), "is not a table name")
    is_list = isinstance(keep, Sequence) and not isinstance(keep, str)
    if not is_list or not all(isinstance(name, str) for name in keep):
        raise refusal(Setting("keep", keep), "is not a list of column names")
    names = QueryNames(form, DIALECTS[dialect], tuple(keep))
    return _Query(form, DIALECTS[dialect], names).text(table)


@dataclass(frozen=True)
class _Query:
    """Writes the query of a model in a dialect."""

    form: Portable
    dialect: Dialect
    names: QueryNames

    @cached_property
    def trees(self) -> SqlTrees:
        """The trees over the cells of the table."""
        return SqlTrees(self.form, self.dialect, self._cells(ROWS))

    def _cells(self, rows: str) -> SqlCells:
        return SqlCells(self.form, self.dialect, self.names, rows)

    def text(self, table: str) -> str:
        """Return the query, by leaf if each row reaches a single leaf."""
        first = head(self.form, "--", json_text, times=self.dialect.time_type)
        about = self.dialect.comment(first)
        if not self.names.keep:
            about += "\n-- Other columns of the table, such as a key: export with keep."
        source = self.dialect.table(table)
        query = self._by_leaf
        if self.form.centres is not None:
            query = self._by_distance
        elif self.trees.divided or len(self.form.roots) > 1:
            query = self._by_shares
        text = f"{about}\n{query(f'{source} AS {ROWS}')}\n"
        self._refuse_length(len(text))
        return text

    def _refuse_length(self, length: int) -> None:
        """Refuse a query whose planning would take the engine minutes."""
        limit = self.dialect.max_divided_length
        if self.trees.divided and limit is not None and length > limit:
            refuse_unsupported(
                "sql",
                f"trees that divide rows in fewer than {length:,} characters, which "
                f"{self.dialect.name} would not plan in minutes (at most {limit:,})",
                (
                    "take fewer or smaller trees, another format such as ",
                    Setting("format", "python"),
                    ", or grow with ",
                    Setting("missing_policy", "branch"),
                ),
            )

    def _by_leaf(self, source: str) -> str:
        """Return a query that finds the leaf of a row, then its outputs."""
        (leaf,), nodes = self._quoted([self.names.leaf]), self.form.nodes
        leaves = [n for n, node in enumerate(nodes) if not node.splits]

        def case_by_leaf(value: Callable[[int], str]) -> str:
            whens = [f"WHEN {number} THEN {value(number)}" for number in leaves]
            return case_lines([f"CASE {SCORED}.{leaf}", *whens, "END"])

        label, *shares = self._outputs
        outer = self._cells(SCORED)
        columns = [(case_by_leaf(partial(self._leaf_label, cells=outer)), label)]
        for at, name in enumerate(shares):
            columns.append(
                (case_by_leaf(partial(self._leaf_output, at=at, cells=outer)), name)
            )
        inner = self._nested([(self.trees.tree(0, str), leaf)], source)
        return self._select(SCORED, columns, inner)

    def _by_shares(self, source: str) -> str:
        """Return a query of class probabilities, then of the class."""
        label, *names = self._outputs
        if self.form.target.is_numeric:
            return self._select(ROWS, [(self._output(0), label)], source)
        shares = [(self._output(at), name) for at, name in enumerate(names)]
        inner = self._nested(shares, source)
        columns = [(f"{SCORED}.{name}", name) for name in names]
        return self._select(SCORED, [(self._label(names), label), *columns], inner)

    def _by_distance(self, source: str) -> str:
        """Return a query of distances to centres, then of the nearest centre."""
        target, centres = self.form.target, self.form.centres
        assert centres is not None
        output, *names = self._outputs
        distances = [(self._distance(centres, k), name) for k, name in enumerate(names)]
        columns = [(f"{SCORED}.{name}", name) for name in names]
        least = f"{self.dialect.least}({', '.join(column for column, _ in columns)})"
        pairs = zip(names, target.classes, strict=True)
        whens = [f"WHEN {SCORED}.{n} <= {least} THEN {label}" for n, label in pairs]
        nearest = f"CASE WHEN {SCORED}.{names[0]} IS NOT NULL THEN 0 END"
        if len(names) > 1:
            nearest = case_lines(["CASE", *whens, "END"])
        inner = self._nested(distances, source)
        return self._select(SCORED, [(nearest, output), *columns], inner)

    def _nested(self, columns: Columns, source: str) -> str:
        """Return a subquery over the rows."""
        query = self._select(ROWS, columns, source, is_nested=True)
        # Not indented: a name or a text in it may contain line breaks.
        return f"(\n{query}\n) AS {SCORED}"

    def _select(
        self, table: str, further: Columns, source: str, *, is_nested: bool = False
    ) -> str:
        """Return a SELECT over a source: its columns, and further expressions."""
        names = self.names.selected(table, is_nested=is_nested)
        line = ", ".join(names)
        listed = [line] if 0 < len(line) <= MAX_LINE_LENGTH else names
        columns = ",\n  ".join(
            [*listed, *(f"{cell} AS {name}" for cell, name in further)]
        )
        return f"SELECT {columns}\nFROM {source}"

    @cached_property
    def _outputs(self) -> list[str]:
        return self._quoted(self.names.outputs)

    def _quoted(self, names: Sequence[str]) -> list[str]:
        return [*map(self.dialect.identifier, names)]

    def _distance(self, centres: Centres, cluster: int) -> str:
        """Return the expression of the distance to a centre, NULL if undefined."""
        number, zero = self.dialect.number, self.dialect.number(0.0)
        cells, parts, others = self.trees.cells, list[str](), list[str]()
        for each in centres.numbers:
            cell = cells.columns[each.cell]
            if each.scale != 1:
                cell = f"{cell} / {number(each.scale)}"
            difference = f"({cell} - {number(each.centres[cluster])})"
            square = f"{difference} * {difference}"
            within = f"WHEN ABS({cell}) <= {number(LARGEST)} THEN {square}"
            missing = f"WHEN {cells.columns[each.cell]} IS NULL THEN {zero} "
            parts.append(
                f"CASE {missing if centres.allows_missing else ''}{within} END"
            )
        for text in centres.texts:
            by_text = {name: values[cluster] for name, values in text.distances.items()}
            whens = cells.counts(text.cell, by_text)
            missing = f"WHEN {cells.columns[text.cell]} IS NULL THEN {zero}"
            others.append(f"CASE {missing} {whens} ELSE {number(1.0)} END")
        if others:
            parts.append(f"{number(centres.gamma)} * ({' + '.join(others)})")
        return f"({' + '.join(parts) or zero})"

    # Predictions

    def _output(self, at: int) -> str:
        """Return the expression of an output's mean over the trees."""
        outputs = partial(self._leaf_output, at=at, cells=self.trees.cells)
        trees = [self.trees.tree(root, outputs) for root in self.form.roots]
        mean = f"({balanced(trees, '+')}) / {self.dialect.number(float(len(trees)))}"
        return mean if len(trees) > 1 else trees[0]

    def _leaf_output(self, leaf: int, at: int, cells: SqlCells) -> str:
        """Return the expression of an output of a leaf."""
        node, number = self.form.nodes[leaf], self.dialect.number
        if node.line is not None:
            return cells.line(node.line)
        if not self.form.majority:
            return number(node.outputs[at])
        return number(float(best_class(node.outputs) == at))

    def _leaf_label(self, leaf: int, cells: SqlCells) -> str:
        target, node = self.form.target, self.form.nodes[leaf]
        if target.is_numeric:
            return self._leaf_output(leaf, 0, cells)
        label = node.label
        if label is None:
            label = best_class(node.outputs, target.costs)
        return self.dialect.literal(target.classes[label])

    def _label(self, names: Sequence[str]) -> str:
        """Return the expression of the last class whose merit equals the best."""
        classes = [*map(self.dialect.literal, self.form.target.classes)]
        if len(classes) == 1:
            return classes[0]
        number, greatest = self.dialect.number, self.dialect.greatest
        merits = [f"{SCORED}.{name}" for name in names]
        if self.form.cost_lines is not None:
            merits = [
                "(-("
                + balanced(
                    [f"{number(c)} * {m}" for c, m in zip(line, merits, strict=True)],
                    "+",
                )
                + "))"
                for line in self.form.cost_lines
            ]
        best = f"{greatest}({', '.join(merits)})"
        least = f"{best} - {number(TOLERANCE)} * {greatest}({number(1.0)}, ABS({best}))"
        pairs = [*zip(merits, classes, strict=True)]
        whens = [f"WHEN {merit} >= {least} THEN {name}" for merit, name in pairs[:0:-1]]
        return case_lines(["CASE", *whens, f"ELSE {classes[0]} END"])
