"""Trees as SQL expressions: a CASE along the heaviest branches, or a sum.

A tree is a CASE along its heaviest branches, those with the most leaves: they come last
at every node, without a condition. Other branches are nested CASEs::

    node 0 ── a → leaf 1           CASE WHEN a THEN …            leaf 1
         └─ b → node 2 ─ c → 3          WHEN c THEN …            leaf 3
                       └ d → 4          ELSE … END               leaf 4

A row reaches a line only if it took none of the branches before. So each branch is
tested once, a deep chain is one flat CASE, and a nested CASE has at most half of the
leaves: CASEs nest at most log2(leaves) deep. If rows may be divided, a node is the sum
over its branches of the row's fraction times the branch's output. Sums are balanced,
and cut every few levels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spinney.errors import Setting
from spinney.extensions.exports.portable import FormNode, Portable, refuse_unsupported
from spinney.extensions.exports.sql_cells import SqlCells
from spinney.extensions.exports.sql_dialects import Dialect

MAX_LEVELS = 8  # levels of a tree in one expression: SQLite parses 100 levels
MAX_LINE_LENGTH = 80  # characters of a list or a CASE on one line
WIDE = 32  # terms of a sum without further parentheses
Says = Callable[[int], str]


@dataclass(frozen=True)
class SqlTrees:
    """The SQL expressions of a model's trees."""

    form: Portable
    dialect: Dialect
    cells: SqlCells

    def tree(self, root: int, outputs: Says) -> str:
        """Return the expression of a tree's output."""
        if root in self.divided:
            if self.form.majority:
                refuse_unsupported(
                    "sql",
                    "the majority vote of trees that divide rows",
                    ("take ", Setting("voting", "probability")),
                )
            return self._weighted(root, outputs)
        return self._cases(root, outputs)

    def _cases(self, root: int, outputs: Says) -> str:
        """Return the output of a tree without divided rows, as nested CASEs.

        Follows the heaviest branches. All others have at most half of the leaves, so
        CASEs nest at most log2(leaves) deep. Final conditions with equal outputs are
        omitted.
        """
        cases, number = list[tuple[str, str]](), root
        while (node := self.form.nodes[number]).splits:
            heavy = max(
                node.children, key=lambda c: (self._leaves[c], c == node.default_branch)
            )
            for child in node.children:
                if child != heavy:
                    cases.append((self._goes(node, child), self._cases(child, outputs)))
            number = heavy
        otherwise = outputs(number)
        while cases and cases[-1][1] == otherwise:
            cases.pop()
        if not cases:
            return otherwise
        whens = [f"WHEN {condition} THEN {output}" for condition, output in cases]
        return case_lines(["CASE", *whens, f"ELSE {otherwise} END"])

    @cached_property
    def _leaves(self) -> list[int]:
        """The number of leaves below each node."""
        counts = [0] * len(self.form.nodes)
        for number in reversed(range(len(counts))):
            below = self.form.nodes[number].children
            counts[number] = sum(counts[child] for child in below) if below else 1
        return counts

    @cached_property
    def divided(self) -> set[int]:
        """The roots of trees with divided rows."""
        roots = {0: 0}
        for number, node in enumerate(self.form.nodes):
            root = roots.setdefault(number, number)
            roots.update(dict.fromkeys(node.children, root))
        nodes = enumerate(self.form.nodes)
        return {
            roots[n] for n, node in nodes if node.splits and node.default_branch is None
        }

    def _weighted(self, root: int, outputs: Says) -> str:
        """Return the outputs of leaves, weighted by fractions of the row, as a sum.

        Every few levels, a subtree becomes a separate term, times all fractions on its
        path, which limits the depth of sums. Terms with fraction 0 are not evaluated.
        """
        zero, nodes, order = self.dialect.number(0.0), self.form.nodes, [root]
        steps: dict[int, _Step] = {root: _Step(-1, 0, "", "")}
        for number in order:  # grows during the loop
            for child in nodes[number].children:
                steps[child] = self._step(number, child, steps[number].depth + 1)
                order.append(child)
        sums, terms = dict[int, str](), list[str]()

        def weighted(path: Sequence[_Step], output: str) -> str:
            shares = [step.share for step in path if step.share]
            elsewhere = " OR ".join(step.elsewhere for step in path)
            term = f"{output} * {balanced(shares, '*')}" if shares else output
            return f"CASE WHEN {elsewhere} THEN {zero} ELSE {term} END"

        for number in reversed(order):
            below = [c for c in nodes[number].children if sums.get(c, zero) != zero]
            output = zero if nodes[number].splits else outputs(number)
            if below:
                parts = [weighted([steps[c]], sums.pop(c)) for c in below]
                output = balanced(parts, "+")
            if number != root and steps[number].depth % MAX_LEVELS == 0:
                terms.append(weighted(_path_steps(steps, number), output))
            else:
                sums[number] = output
        return balanced([sums[root], *reversed(terms)], "+")

    def _step(self, number: int, child: int, depth: int) -> "_Step":
        """Return the conditions and fraction of the step from a node to a child."""
        node = self.form.nodes[number]
        if node.default_branch is not None:
            elsewhere = f"({self._goes(node, child)}) IS NOT {self.dialect.true}"
            return _Step(number, depth, elsewhere, "")
        share = self.dialect.number(dict(node.parts).get(child, 0.0))
        # A row that is not sent elsewhere is sent here, or by no split.
        sends = self.cells.sends
        sent = [sends(each, {child}) for each in node.splits if child in each.below]
        if sent:
            whole = self.dialect.number(1.0)
            share = f"CASE WHEN {' OR '.join(sent)} THEN {whole} ELSE {share} END"
        elsewhere = self._goes_elsewhere(node, child) or self.dialect.false
        return _Step(number, depth, elsewhere, share)

    def _sent(self, node: FormNode) -> list[tuple[str, int]]:
        """Return the conditions of a node in order, each with its target node."""
        return [
            (self.cells.sends(split, {to}), to)
            for split in node.splits
            for to in split.below
        ]

    def _goes_elsewhere(self, node: FormNode, child: int) -> str:
        """Return the condition that a node sends a row whole to another child."""
        split, *surrogates = node.splits
        if surrogates:
            literal = self.dialect.literal
            sent = self._sent(node)
            whens = [
                f"WHEN {accepted} THEN {literal(to != child)}" for accepted, to in sent
            ]
            return f"CASE {' '.join(whens)} ELSE {self.dialect.false} END"
        if split.texts is not None:
            return self.cells.sends(split, {*node.children} - {child})
        return " OR ".join(accepted for accepted, to in self._sent(node) if to != child)

    def _goes(self, node: FormNode, child: int) -> str:
        """Return the condition that a row goes whole from a node to a child."""
        (split, *surrogates), otherwise = node.splits, node.default_branch
        if surrogates:
            whens = [f"WHEN {accepted} THEN {to}" for accepted, to in self._sent(node)]
            while whens and whens[-1].endswith(f" THEN {otherwise}"):
                whens.pop()
            return f"CASE {' '.join(whens)} ELSE {otherwise} END = {child}"
        if child != otherwise:
            return self.cells.sends(split, {child})
        others = {*split.below} - {child}
        if not others:
            return self.dialect.true
        if split.texts is None and len(others) > 1:
            missing = f"{self.cells.all[split.cell]} IS NULL"
            if child not in split.nodes:
                return missing
            return f"({self.cells.sends(split, {child})} OR {missing})"
        return f"({self.cells.sends(split, others)}) IS NOT {self.dialect.true}"


def case_lines(parts: Sequence[str]) -> str:
    """Return a CASE, on one line if it is short."""
    line = " ".join(parts)
    return line if len(line) <= MAX_LINE_LENGTH else "\n    ".join(parts)


@dataclass(frozen=True, slots=True)
class _Step:
    """The step from a parent to a node: when a row goes elsewhere, and its fraction.

    Without a share the whole row goes there.
    """

    parent: int
    depth: int
    elsewhere: str
    share: str


def _path_steps(steps: Mapping[int, _Step], number: int) -> list[_Step]:
    """Return the steps of the path to a node, the last one first."""
    path = []
    while (step := steps[number]).parent >= 0:
        path.append(step)
        number = step.parent
    return path


def balanced(terms: Sequence[str], sign: str) -> str:
    """Return a sum or product with minimum nesting.

    Each further term of a sum is a level deeper, and so is each parenthesis: SQLite
    limits the first to 1000 levels, the second to 100.

    >>> balanced(["a", "b", "c", "d"], "+")
    '(a + b + c + d)'
    """
    while len(terms) > 1:
        groups = [terms[at : at + WIDE] for at in range(0, len(terms), WIDE)]
        terms = [
            f"({f' {sign} '.join(group)})" if len(group) > 1 else group[0]
            for group in groups
        ]
    return terms[0]
