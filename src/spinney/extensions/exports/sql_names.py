"""Unambiguous names in an exported query.

The table may have any columns, such as ``leaf`` or the predictions of an earlier run.
So the query lists the columns that it uses, each prefixed by its table or subquery::

    SELECT q."x", CASE q."leaf" … END AS "predicted y"
    FROM (SELECT t."x", CASE WHEN t."x" > 2.5 … END AS "leaf" FROM "shop" AS t) AS q

All names in ``q`` are known, so new columns get unused names, as the engine compares
names.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from spinney._support.text import value_text
from spinney.errors import Setting, refusal
from spinney.extensions.exports.portable import (
    Portable,
    free_name,
    prediction_name,
    refuse_unsupported,
)
from spinney.extensions.exports.sql_dialects import Dialect

ROWS, SCORED = "t", "q"  # aliases of the table, and of the subquery over it
LEAF = "leaf"


@dataclass(frozen=True)
class QueryNames:
    """The names of the columns of a query.

    Parameters
    ----------
    form : Portable
    dialect : Dialect
    keep : sequence of str
        The columns of the table to keep, before those that the model reads.
    """

    form: Portable
    dialect: Dialect
    keep: Sequence[str] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the query selects from the table, each once."""
        folded = self.dialect.folded
        by_folded = dict[str, str]()
        for column in self.form.columns:
            alike = by_folded.setdefault(folded(column.name), column.name)
            if alike != column.name:
                what = f"the columns {alike!r} and {column.name!r}, which are one name"
                remedy = "rename one of them, and grow the model again"
                refuse_unsupported("sql", f"{what} to {self.dialect.name}", remedy)
        for name in self.predictions_in(self.keep):
            problem = "is the name of a prediction of the query"
            raise refusal(Setting("keep", name), problem, "leave it out")
        keep = {folded(name): by_folded.get(folded(name), name) for name in self.keep}
        return tuple({**keep, **by_folded}.values())

    @cached_property
    def nested(self) -> dict[str, str]:
        """The name of each column in a subquery.

        A name that the engine does not permit there is replaced.
        """
        names = dict[str, str]()
        for name in self.columns:
            nested = name
            if self.dialect.folded(name) in self.dialect.constants:
                taken = (*self.columns, *self.outputs, *names.values())
                nested = self._free(f"column {name}", taken)
            names[name] = nested
        return names

    def identifier(self, table: str, name: str) -> str:
        """Return the quoted name of a column in ``ROWS`` or ``SCORED``."""
        nested = self.nested[name] if table == SCORED else name
        return self.dialect.identifier(nested)

    def selected(self, table: str, *, is_nested: bool) -> list[str]:
        """Return the columns of a SELECT over ``ROWS`` or ``SCORED``."""
        listed = []
        for name in self.columns:
            source = self.identifier(table, name)
            output = self.identifier(SCORED if is_nested else ROWS, name)
            alias = f" AS {output}" if output != source else ""
            listed.append(f"{table}.{source}{alias}")
        return listed

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The names of the prediction, and of the class probabilities or distances.

        An output with the name of a column gets the prefix "predicted ", and one with
        the name of another output a number.
        """
        target, centres = self.form.target, self.form.centres
        wanted = [f"predicted {target.name}"]
        if centres is not None:
            what = "distance" if centres.allows_missing else "squared distance"
            wanted += [f"{what}({label})" for label in target.classes]
        elif not target.is_numeric:
            wanted += [f"p({value_text(label)})" for label in target.classes]
        columns = [column.name for column in self.form.columns]
        names: list[str] = []
        for each in wanted:
            name = prediction_name(each, columns, self.dialect.folded)
            names.append(self._free(name, (*columns, *names)))
        return tuple(names)

    def predictions_in(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that have the names of outputs."""
        made = {*map(self.dialect.folded, self.outputs)}
        return [name for name in columns if self.dialect.folded(name) in made]

    @cached_property
    def leaf(self) -> str:
        """The name of the leaf column in a subquery."""
        return self._free(LEAF, (*self.columns, *self.nested.values()))

    def _free(self, wanted: str, taken: Collection[str]) -> str:
        folded, ended = self.dialect.folded, self.dialect.with_ending
        return free_name(wanted, {*map(folded, taken)}, folded=folded, ended=ended)
