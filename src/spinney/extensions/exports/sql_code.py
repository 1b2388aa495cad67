"""A model as a query that adds what it predicts to the rows of a table.

A tree is a CASE along its heaviest branches, those with the most leaves: they come last
at every node, and need no condition. What lies beside them is a CASE of its own. ::

    node 0 ── a → leaf 1           CASE WHEN a THEN …            leaf 1
         └─ b → node 2 ─ c → 3          WHEN c THEN …            leaf 3
                       └ d → 4          ELSE … END               leaf 4

A row that comes to a line has gone to none of the branches before it. So each branch
is asked for once, a deep chain is one flat CASE, and what is nested has at most half of
the leaves: no more than log2(leaves) CASEs are nested. Where rows may be divided a node
is a sum instead, over its branches, of the share of the row that goes there times what
is said there. Sums are balanced, and cut every few levels.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite

from spinney._support.checks import check_named
from spinney._support.json_text import json_text
from spinney._support.text import value_text
from spinney._support.ties import TOLERANCE
from spinney.data import Value
from spinney.errors import Setting, refusal
from spinney.extensions.exports.form_data import head
from spinney.extensions.exports.portable import (
    LARGEST,
    Both,
    Centres,
    FormClause,
    FormLine,
    FormNode,
    FormQuestion,
    Input,
    Made,
    Portable,
    Sum,
    best_class,
    refuse_to_say,
)
from spinney.extensions.exports.sql_dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from spinney.extensions.exports.sql_names import ROWS, SCORED, QueryNames

__all__ = ["to_sql"]

MOST_LEVELS = 8  # of a tree in one expression: SQLite reads 100 signs deep
MOST_SIGNS = 80  # of a list or a CASE on one line
WIDE = 32  # terms of a sum without further parentheses
Says = Callable[[int], str]
Columns = Sequence[tuple[str, str]]  # expressions and their names


def to_sql(
    form: Portable,
    *,
    dialect: str = DEFAULT_DIALECT,
    table: str = "data",
    keep: Sequence[str] = (),
) -> str:
    """Return a query over a table: columns of it, the predictions, the class shares.

    The columns are those that the model reads, after those to ``keep``.

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
        raise refusal(Setting("table", table), "is no name of a table")
    is_list = isinstance(keep, Sequence) and not isinstance(keep, str)
    if not is_list or not all(isinstance(name, str) for name in keep):
        raise refusal(Setting("keep", keep), "is no list of names of columns")
    names = QueryNames(form, DIALECTS[dialect], tuple(keep))
    return _Query(form, DIALECTS[dialect], names).text(table)


@dataclass(frozen=True)
class _Query:
    """A model and the dialect that it is written in."""

    form: Portable
    dialect: Dialect
    names: QueryNames
    rows: str = ROWS  # that cells are of

    def text(self, table: str) -> str:
        """Return the query: that of leaves where a row comes to one, else of shares."""
        first = head(self.form, "--", json_text, times=self.dialect.given)
        about = self.dialect.comment(first)
        if not self.names.keep:
            about += "\n-- Other columns of the table, such as a key: export with keep."
        source = self.dialect.table(table)
        query = self._by_shares if self._divided or self._is_forest else self._by_leaf
        query = query if self.form.centres is None else self._by_distance
        written = f"{about}\n{query(f'{source} AS {ROWS}')}\n"
        self._refuse_length(len(written))
        return written

    def _refuse_length(self, signs: int) -> None:
        """Refuse a query that the engine would plan for minutes."""
        most = self.dialect.most_divided
        if self._divided and most is not None and signs > most:
            refuse_to_say(
                "sql",
                f"trees that divide rows in fewer than {signs:,} signs, which "
                f"{self.dialect.name} would not plan within minutes ({most:,} at most)",
                (
                    "take fewer or smaller trees, another format such as ",
                    Setting("format", "python"),
                    ", or grow with ",
                    Setting("missing", "branch"),
                ),
            )

    def _by_leaf(self, source: str) -> str:
        """Return a query that finds the leaf of a row, and then what it says."""
        (leaf,), nodes = self._quoted([self.names.leaf]), self.form.nodes
        leaves = [n for n, node in enumerate(nodes) if not node.questions]

        def of_leaf(said: Callable[[int], str]) -> str:
            whens = [f"WHEN {number} THEN {said(number)}" for number in leaves]
            return _lines([f"CASE {SCORED}.{leaf}", *whens, "END"])

        label, *shares = self._outputs
        outer = replace(self, rows=SCORED)
        columns = [(of_leaf(outer._label_of_leaf), label)]
        for at, name in enumerate(shares):
            columns.append((of_leaf(partial(outer._says, at=at)), name))
        inner = self._nested([(self._tree(0, str), leaf)], source)
        return self._select(SCORED, columns, inner)

    def _by_shares(self, source: str) -> str:
        """Return a query of the shares of classes, and of the class that follows."""
        label, *names = self._outputs
        if self.form.target.is_numeric:
            return self._select(ROWS, [(self._output(0), label)], source)
        shares = [(self._output(at), name) for at, name in enumerate(names)]
        inner = self._nested(shares, source)
        made = [(f"{SCORED}.{name}", name) for name in names]
        return self._select(SCORED, [(self._label(names), label), *made], inner)

    def _by_distance(self, source: str) -> str:
        """Return a query of the distances to centres, and of the nearest of them."""
        target, centres = self.form.target, self.form.centres
        assert centres is not None
        label, *names = self._outputs
        away = [(self._away(centres, k), name) for k, name in enumerate(names)]
        made = [(f"{SCORED}.{name}", name) for name in names]
        least = f"{self.dialect.least}({', '.join(which for which, _ in made)})"
        pairs = zip(names, target.classes, strict=True)
        whens = [f"WHEN {SCORED}.{n} <= {least} THEN {of}" for n, of in pairs]
        nearest = f"CASE WHEN {SCORED}.{names[0]} IS NOT NULL THEN 0 END"
        if len(names) > 1:
            nearest = _lines(["CASE", *whens, "END"])
        inner = self._nested(away, source)
        return self._select(SCORED, [(nearest, label), *made], inner)

    def _nested(self, made: Columns, source: str) -> str:
        """Return a query over the rows as the source of another."""
        query = self._select(ROWS, made, source, is_nested=True)
        # It is not indented: a name or a text in it may have lines of its own.
        return f"(\n{query}\n) AS {SCORED}"

    def _select(
        self, table: str, made: Columns, source: str, *, is_nested: bool = False
    ) -> str:
        """Return a query over a source: the columns by name, and further ones."""
        names = self.names.selected(table, is_nested=is_nested)
        line = ", ".join(names)
        listed = [line] if 0 < len(line) <= MOST_SIGNS else names
        columns = ",\n  ".join([*listed, *(f"{each} AS {name}" for each, name in made)])
        return f"SELECT {columns}\nFROM {source}"

    @cached_property
    def _outputs(self) -> list[str]:
        return self._quoted(self.names.outputs)

    def _quoted(self, names: Sequence[str]) -> list[str]:
        return [*map(self.dialect.identifier, names)]

    def _away(self, centres: Centres, cluster: int) -> str:
        """Return the distance to a centre; NULL where a number cannot be measured."""
        number, zero = self.dialect.number, self.dialect.number(0.0)
        parts, others = [], []
        for each in centres.numbers:
            cell = self._columns[each.cell]
            if each.scale != 1:
                cell = f"{cell} / {number(each.scale)}"
            apart = f"({cell} - {number(each.centres[cluster])})"
            within = f"WHEN ABS({cell}) <= {number(LARGEST)} THEN {apart} * {apart}"
            lacks = f"WHEN {self._columns[each.cell]} IS NULL THEN {zero} "
            parts.append(f"CASE {lacks if centres.may_lack else ''}{within} END")
        for text in centres.texts:
            far = {known: apart[cluster] for known, apart in text.apart.items()}
            known = self._counts(text.cell, far)
            lacks = f"WHEN {self._columns[text.cell]} IS NULL THEN {zero}"
            others.append(f"CASE {lacks} {known} ELSE {number(1.0)} END")
        if others:
            parts.append(f"{number(centres.gamma)} * ({' + '.join(others)})")
        return f"({' + '.join(parts) or zero})"

    @property
    def _is_forest(self) -> bool:
        return len(self.form.roots) > 1

    # What is predicted

    def _output(self, at: int) -> str:
        """Return the mean of what the trees say, one of the outputs."""
        trees = [
            self._tree(root, lambda leaf: self._says(leaf, at))
            for root in self.form.roots
        ]
        mean = f"({_balanced(trees, '+')}) / {self.dialect.number(float(len(trees)))}"
        return mean if self._is_forest else trees[0]

    def _says(self, leaf: int, at: int) -> str:
        """Return what a leaf says, one of the outputs."""
        node, number = self.form.nodes[leaf], self.dialect.number
        if node.line is not None:
            return self._line(node.line)
        if not self.form.majority:
            return number(node.says[at])
        return number(float(best_class(node.says) == at))

    def _label_of_leaf(self, leaf: int) -> str:
        target, says = self.form.target, self.form.nodes[leaf].says
        if target.is_numeric:
            return self._says(leaf, 0)
        label = self.form.nodes[leaf].label
        if label is not None:
            return self.dialect.literal(target.classes[label])
        return self.dialect.literal(target.classes[best_class(says, target.costs)])

    def _label(self, names: Sequence[str]) -> str:
        """Return the last class of the best merit, within 1e-12."""
        classes = [*map(self.dialect.literal, self.form.target.classes)]
        if len(classes) == 1:
            return classes[0]
        number, greatest = self.dialect.number, self.dialect.greatest
        merits = [f"{SCORED}.{name}" for name in names]
        if self.form.cost_lines is not None:
            merits = [
                "(-("
                + _balanced(
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
        return _lines(["CASE", *whens, f"ELSE {classes[0]} END"])

    # Trees

    def _tree(self, root: int, says: Says) -> str:
        """Return what a tree says of a row."""
        if root in self._divided:
            if self.form.majority:
                refuse_to_say(
                    "sql",
                    "the majority vote of trees that divide rows",
                    ("take ", Setting("voting", "probability")),
                )
            return self._weighted(root, says)
        return self._cases(root, says)

    def _cases(self, root: int, says: Says) -> str:
        """Return what a tree says of a row that it does not divide.

        It walks from the heaviest branch to the heaviest. Those beside it have at most
        half of the leaves, so that no more than log2(leaves) CASEs are nested. What is
        asked last is left out where all answers say the same.
        """
        asked, number = list[tuple[str, str]](), root
        while (node := self.form.nodes[number]).questions:
            heavy = max(
                node.children, key=lambda c: (self._leaves[c], c == node.otherwise)
            )
            for child in node.children:
                if child != heavy:
                    asked.append((self._goes(node, child), self._cases(child, says)))
            number = heavy
        otherwise = says(number)
        while asked and asked[-1][1] == otherwise:
            asked.pop()
        lines = [f"WHEN {condition} THEN {said}" for condition, said in asked]
        return _lines(["CASE", *lines, f"ELSE {otherwise} END"]) if lines else otherwise

    @cached_property
    def _leaves(self) -> list[int]:
        """How many leaves lie below each node."""
        counts = [0] * len(self.form.nodes)
        for number in reversed(range(len(counts))):
            below = self.form.nodes[number].children
            counts[number] = sum(counts[child] for child in below) if below else 1
        return counts

    @cached_property
    def _divided(self) -> set[int]:
        """The roots of trees in which rows may be divided."""
        roots = {0: 0}
        for number, node in enumerate(self.form.nodes):
            root = roots.setdefault(number, number)
            roots.update(dict.fromkeys(node.children, root))
        nodes = enumerate(self.form.nodes)
        return {
            roots[n] for n, node in nodes if node.questions and node.otherwise is None
        }

    def _weighted(self, root: int, says: Says) -> str:
        """Return what leaves say, each by its part of the row, added up node by node.

        Below every so many levels a subtree is a term of its own, times all shares on
        the way to it, so that a deep tree is not a deep sum. What is said where
        nothing of a row goes is not worked out.
        """
        zero, nodes, order = self.dialect.number(0.0), self.form.nodes, [root]
        way: dict[int, _Step] = {root: _Step(-1, 0, "", "")}
        for number in order:  # which grows
            for child in nodes[number].children:
                way[child] = self._step(number, child, way[number].depth + 1)
                order.append(child)
        sums, terms = dict[int, str](), list[str]()

        def of_part(steps: Sequence[_Step], said: str) -> str:
            shares = [step.share for step in steps if step.share]
            elsewhere = " OR ".join(step.elsewhere for step in steps)
            part = f"{said} * {_balanced(shares, '*')}" if shares else said
            return f"CASE WHEN {elsewhere} THEN {zero} ELSE {part} END"

        for number in reversed(order):
            below = [c for c in nodes[number].children if sums.get(c, zero) != zero]
            said = zero if nodes[number].questions else says(number)
            if below:
                parts = [of_part([way[c]], sums.pop(c)) for c in below]
                said = _balanced(parts, "+")
            if number != root and way[number].depth % MOST_LEVELS == 0:
                terms.append(of_part(_steps_above(way, number), said))
            else:
                sums[number] = said
        return _balanced([sums[root], *reversed(terms)], "+")

    def _step(self, number: int, child: int, depth: int) -> "_Step":
        """Return how rows go from a node to a child."""
        node = self.form.nodes[number]
        if node.otherwise is not None:
            elsewhere = f"({self._goes(node, child)}) IS NOT {self.dialect.true}"
            return _Step(number, depth, elsewhere, "")
        part = self.dialect.number(dict(node.parts).get(child, 0.0))
        # What is not sent elsewhere is sent there, or by no question anywhere.
        sent = [self._sends(q, {child}) for q in node.questions if child in q.below]
        share = f"CASE WHEN {' OR '.join(sent)} THEN {self.dialect.number(1.0)} "
        return _Step(
            number,
            depth,
            self._sends_elsewhere(node, child) or self.dialect.false,
            f"{share}ELSE {part} END" if sent else part,
        )

    def _sends_elsewhere(self, node: FormNode, child: int) -> str:
        """Return the condition that a node sends a row whole to another child."""
        (question, *surrogates), others = node.questions, {*node.children} - {child}
        if surrogates:
            whens = [
                f"WHEN {self._sends(q, {to})} THEN {self.dialect.literal(to != child)}"
                for q in node.questions
                for to in q.below
            ]
            return f"CASE {' '.join(whens)} ELSE {self.dialect.false} END"
        if question.texts is not None:
            return self._sends(question, others)
        below = [to for to in question.below if to in others]
        return " OR ".join(self._sends(question, {to}) for to in below)

    def _goes(self, node: FormNode, child: int) -> str:
        """Return the condition that a row goes whole from a node to a child."""
        (question, *surrogates), otherwise = node.questions, node.otherwise
        if surrogates:
            whens = [
                f"WHEN {self._sends(each, {to})} THEN {to}"
                for each in node.questions
                for to in each.below
            ]
            while whens and whens[-1].endswith(f" THEN {otherwise}"):
                whens.pop()
            return f"CASE {' '.join(whens)} ELSE {otherwise} END = {child}"
        if child != otherwise:
            return self._sends(question, {child})
        others = {*question.below} - {child}
        if not others:
            return self.dialect.true
        if question.texts is None and len(others) > 1:
            missing = f"{self._cells[question.cell]} IS NULL"
            if child not in question.nodes:
                return missing
            return f"({self._sends(question, {child})} OR {missing})"
        return f"({self._sends(question, others)}) IS NOT {self.dialect.true}"

    def _sends(self, question: FormQuestion, nodes: Set[int]) -> str:
        """Return the condition that a question sends a row to one of some nodes."""
        name = self._cells[question.cell]
        if question.texts is not None:
            texts = [text for text, node in question.texts.items() if node in nodes]
            return self._is_one_of(question.cell, texts)
        if nodes >= {*question.nodes}:
            return f"{name} IS NOT NULL"
        edges = (-float("inf"), *question.cuts, float("inf"))
        (only,) = nodes
        at = question.nodes.index(only)
        return self._between(name, (edges[at], edges[at + 1]))

    def _between(self, name: str, bounds: tuple[float, float]) -> str:
        """Return that a number is greater than the low bound, at most the high one."""
        low, high = bounds
        above = f"{name} > {self.dialect.number(low)}" if isfinite(low) else ""
        below = f"{name} <= {self.dialect.number(high)}" if isfinite(high) else ""
        return f"({above} AND {below})" if above and below else above or below

    # Cells

    @cached_property
    def _columns(self) -> list[str]:
        """The expressions of the cells of columns."""
        return [self._read(column) for column in self.form.columns]

    @cached_property
    def _cells(self) -> list[str]:
        """The expressions of all cells."""
        return [*map(self._cell, range(len(self.form.cells)))]

    def _cell(self, at: int) -> str:
        """Return the expression of a cell; a made one has those of others in it."""
        n = len(self._columns)
        return self._columns[at] if at < n else self._made(self.form.made[at - n])

    def _read(self, column: Input) -> str:
        """Return the cell of a column: a number, or a value as it is."""
        types = {type(value) for value in column.values}
        if len(types) > 1 and not types <= {int, float}:
            what = f"column {column.name!r}, whose values are of several types"
            refuse_to_say("sql", what, "make them all texts")
        name = self.names.identifier(self.rows, column.name)
        if column.is_number or float in types:
            cell = self.dialect.cell.format(f"{self.rows}.{name}")
            if column.time is not None:
                cell = self.dialect.time(name, column.time, table=f"{self.rows}.")
            for number in column.missing:
                cell = f"NULLIF({cell}, {self.dialect.number(number)})"
            return cell
        return f"{self.rows}.{name}"

    @cached_property
    def _literals(self) -> list[Mapping[str, str]]:
        """The literals of the texts of each cell; one that is made is true or false."""
        made = {text: self.dialect.literal(text) for text in ("false", "true")}
        columns = [self._literals_of(column.values) for column in self.form.columns]
        return [*columns, *(made for _ in self.form.made)]

    def _literals_of(self, values: Sequence[Value]) -> Mapping[str, str]:
        exact = {type(value) for value in values} != {int, float}
        return {
            value_text(v): self.dialect.literal(v if exact else float(v))
            for v in values
        }

    def _is_one_of(self, cell: int, texts: Sequence[str]) -> str:
        """Return that a cell is one of some texts; no column stands for none."""
        name = self._cell(cell)
        literals = [self._literals[cell][text] for text in texts]
        if len(literals) == 1:
            return f"{name} = {literals[0]}"
        if literals and not self.dialect.lists:
            return f"({' OR '.join(f'{name} = {each}' for each in literals)})"
        return f"{name} IN ({', '.join(literals)})" if literals else self.dialect.false

    def _made(self, made: Made) -> str:
        """Return the expression of a cell that is made of columns."""
        columns, number = self._columns, self.dialect.number
        if isinstance(made, Both):
            known, holds = zip(*map(self._clause, made.clauses), strict=True)
            always = self.dialect.true
            known = tuple(each for each in known if each != always) or (always,)
            true, false = (self.dialect.literal(text) for text in ("true", "false"))
            given = f"WHEN {' AND '.join(known)} THEN {false}"
            return f"CASE WHEN {' AND '.join(holds)} THEN {true} {given} END"
        if isinstance(made, Sum):
            parts = [
                f"{number(factor)} * {columns[cell]}" for cell, factor in made.terms
            ]
            return f"({' + '.join(parts)})"
        return (
            f"({columns[made.first]} / NULLIF({columns[made.second]}, {number(0.0)}))"
        )

    def _clause(self, clause: FormClause) -> tuple[str, str]:
        """Return that the cell of a clause is known, and that it satisfies it."""
        cell, holds = clause.cell, clause.holds
        if isinstance(holds, Mapping):
            yes = [text for text, held in holds.items() if held]
            known, held = self._is_one_of(cell, [*holds]), self._is_one_of(cell, yes)
        else:
            known = f"{self._cell(cell)} IS NOT NULL"
            held = self._between(self._cell(cell), holds) or known
        if clause.missing:
            held = f"({held} OR NOT COALESCE({known}, {self.dialect.false}))"
            return self.dialect.true, held
        return known, held

    def _line(self, line: FormLine) -> str:
        """Return what a linear model says, added up in the order of its terms."""
        number, parts = self.dialect.number, []
        for term in line.terms:
            missing = number(term.missing)
            cell = f"COALESCE({self._cells[term.cell]}, {missing})"
            if term.texts is not None:
                cell = f"CASE {self._counts(term.cell, term.texts)} ELSE {missing} END"
            parts.append(f"{number(term.factor)} * {cell}")
        return f"({' + '.join([*parts, number(line.intercept)])})"

    def _counts(self, cell: int, texts: Mapping[str, float]) -> str:
        """Return what known texts count in a linear model."""
        number, by_count = self.dialect.number, dict[float, list[str]]()
        for text, count in texts.items():
            by_count.setdefault(count, []).append(text)
        return " ".join(
            f"WHEN {self._is_one_of(cell, own)} THEN {number(count)}"
            for count, own in by_count.items()
        )


def _lines(parts: Sequence[str]) -> str:
    """Return a CASE, on one line where it is short."""
    line = " ".join(parts)
    return line if len(line) <= MOST_SIGNS else "\n    ".join(parts)


@dataclass(frozen=True, slots=True)
class _Step:
    """The way from a parent to a node: when a row goes elsewhere, and else its share.

    All of a row goes where there is no share.
    """

    parent: int
    depth: int
    elsewhere: str
    share: str


def _steps_above(way: Mapping[int, _Step], number: int) -> list[_Step]:
    """Return the steps on the way to a node, the last one first."""
    steps = []
    while (step := way[number]).parent >= 0:
        steps.append(step)
        number = step.parent
    return steps


def _balanced(terms: Sequence[str], sign: str) -> str:
    """Return a sum or product that is nested as little as can be.

    Engines read terms of one sum from left to right, which is a step deeper for each,
    and count parentheses: SQLite reads 1000 of the first and 100 signs of the second.

    >>> _balanced(["a", "b", "c", "d"], "+")
    '(a + b + c + d)'
    """
    while len(terms) > 1:
        groups = [terms[at : at + WIDE] for at in range(0, len(terms), WIDE)]
        terms = [
            f"({f' {sign} '.join(group)})" if len(group) > 1 else group[0]
            for group in groups
        ]
    return terms[0]
