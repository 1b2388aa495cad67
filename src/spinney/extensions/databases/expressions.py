"""Building blocks of SQL statements: quoted names and bound values.

Names and values of users go through ``column``, ``table`` or ``param``. All other parts
of a statement are our own names and integers.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

Cell = str | float
"""A value that can be bound: a text or a number."""

FEW_NODES = 8
"""The maximum number of nodes in one CASE."""


def column(name: str, table: str | None = None) -> exp.Column:
    """Return a column with its name quoted.

    >>> print(column('the "best" one').sql())
    "the ""best"" one"
    """
    origin = None if table is None else exp.Identifier(this=table, quoted=True)
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=origin)


def table(name: str, schema: str | None = None) -> exp.Table:
    """Return a table with its name quoted."""
    return exp.table_(name, db=schema, quoted=True)


def alias(expression: exp.Expr, name: str) -> exp.Alias:
    """Return an expression under a name."""
    alias = exp.to_identifier(name, quoted=True)
    return exp.Alias(this=expression, alias=alias)


def param(value: Cell) -> exp.Placeholder:
    """Return a placeholder of a value, which an engine binds."""
    mark = exp.Placeholder(this="value")
    mark.meta["value"] = value
    return mark


def integer(number: int) -> exp.Expr:
    """Return an integer literal: the number of a node, a branch or a code."""
    literal = exp.Literal(this=str(abs(number)), is_string=False)
    return exp.Neg(this=literal) if number < 0 else literal


def double(expression: exp.Expr) -> exp.Cast:
    """Return an expression as a float of eight bytes."""
    return exp.Cast(this=expression, to=exp.DataType.build("double"))


def text(expression: exp.Expr) -> exp.Cast:
    """Return an expression as a text."""
    return exp.Cast(this=expression, to=exp.DataType.build("text"))


def is_null(expression: exp.Expr) -> exp.Is:
    """Return the condition that an expression is NULL."""
    return exp.Is(this=expression, expression=exp.Null())


def not_null(expression: exp.Expr) -> exp.Not:
    """Return the condition that an expression is not NULL."""
    return exp.Not(this=is_null(expression))


def case(
    *whens: tuple[exp.Expr, exp.Expr],
    subject: exp.Expr | None = None,
    default: exp.Expr | None = None,
) -> exp.Case:
    """Return a CASE of conditions, or of values that are compared with ``subject``."""
    ifs = [exp.If(this=condition, true=then) for condition, then in whens]
    return exp.Case(this=subject, ifs=ifs, default=default)


def by_node(
    expressions: Mapping[int, exp.Expr], default: int | None = None
) -> exp.Expr:
    """Return a CASE of expressions by node, a binary search if there are many nodes.

    >>> print(by_node({1: column("a"), 2: column("b")}).sql())
    CASE "node" WHEN 1 THEN "a" WHEN 2 THEN "b" END
    """
    nodes = sorted(expressions)
    if len(nodes) <= FEW_NODES:
        whens = ((integer(node), expressions[node]) for node in nodes)
        last = None if default is None else integer(default)
        return case(*whens, subject=column("node"), default=last)
    middle = len(nodes) // 2
    parts = (nodes[:middle], nodes[middle:])
    below, above = (
        by_node({node: expressions[node] for node in part}, default) for part in parts
    )
    is_below = exp.LT(this=column("node"), expression=integer(nodes[middle]))
    return case((is_below, below), default=above)


def coalesce(expressions: Sequence[exp.Expr]) -> exp.Expr:
    """Return the first of some expressions that is not NULL."""
    if len(expressions) == 1:
        return expressions[0]
    return exp.Coalesce(this=expressions[0], expressions=list(expressions[1:]))


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """Return the AND of conditions, nested as a balanced tree."""
    every = list(conditions)
    while len(every) > 1:
        couples = zip(every[::2], every[1::2], strict=False)
        pairs = [exp.And(this=a, expression=b) for a, b in couples]
        every = pairs + every[len(pairs) * 2 :]
    return every[0] if every else exp.true()


def add(terms: Sequence[exp.Expr]) -> exp.Expr:
    """Return the sum of expressions, added in their order."""
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return total


def is_in(cell: exp.Expr, codes: Iterable[int]) -> exp.Expr:
    """Return the condition that a cell is one of these codes."""
    listed = [integer(code) for code in codes]
    return exp.In(this=cell, expressions=listed) if listed else exp.false()


def product(one: exp.Expr, other: exp.Expr) -> exp.Mul:
    """Return a product."""
    return exp.Mul(this=one, expression=other)


def difference(one: exp.Expr, other: exp.Expr) -> exp.Paren:
    """Return a difference, in parentheses."""
    return exp.Paren(this=exp.Sub(this=one, expression=other))


def total(expression: exp.Expr) -> exp.Sum:
    """Return the sum over the rows of a group."""
    return exp.Sum(this=expression)


def count_all() -> exp.Count:
    """Return the number of rows of a group."""
    return exp.Count(this=exp.Star())


def select(
    listed: Iterable[exp.Expr],
    source: exp.Query | exp.Table,
    where: exp.Expr | None = None,
    *,
    name: str = "spinney rows",
) -> exp.Select:
    """Return a SELECT of expressions from a table or another select."""
    origin = source if isinstance(source, exp.Table) else source.subquery(copy=False)
    origin.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    query = exp.Select(expressions=list(listed))
    query.set(
        "from_" if "from_" in exp.Select.arg_types else "from", exp.From(this=origin)
    )
    if where is not None:
        query.set("where", exp.Where(this=where))
    return query


def grouped_by(query: exp.Select, keys: Iterable[exp.Expr]) -> exp.Select:
    """Return a select grouped by keys; without keys, all rows are one group."""
    listed = list(keys)
    if listed:
        query.set("group", exp.Group(expressions=listed))
    return query
