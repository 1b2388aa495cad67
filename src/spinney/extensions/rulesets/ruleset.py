"""The finished rule set: ordered rules with a default class, prediction and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.atomic_file import write_whole
from spinney._support.in_notebooks import InNotebooks
from spinney._support.text import percent_text, shown
from spinney.data import Schema, Table, Target, TextFormat, Value
from spinney.data.readers import class_array, read_with_schema
from spinney.errors import DataError
from spinney.extensions.rulesets.paths import matches
from spinney.output.leaf_rules import Condition, condition_dict
from spinney.sources.rows import check_target

if TYPE_CHECKING:
    import os

DEFAULT = -1


@dataclass(frozen=True, slots=True)
class RankedRule:
    """IF all conditions hold, and no earlier rule fires, THEN the class.

    Parameters
    ----------
    order : int
        The rule's index; the first rule that a row satisfies decides.
    conditions : tuple of Condition
        One condition per attribute.
    target : Target
        The target, with its classes.
    code : int
        The code of the predicted class.
    weights : tuple of float
        The weight of each class among the training rows that satisfy the rule,
        including rows of earlier rules.
    estimate : float
        The pessimistic error, U_CF(errors, coverage).
    """

    order: int
    conditions: tuple[Condition, ...]
    target: Target
    code: int
    weights: tuple[float, ...]
    estimate: float

    @property
    def label(self) -> Value:
        """The class that the rule predicts."""
        return self.target.classes[self.code]

    @property
    def coverage(self) -> float:
        """The weight of the training rows that satisfy the rule."""
        return float(sum(self.weights))

    @property
    def errors(self) -> float:
        """The weight of the covered training rows of other classes."""
        return float(sum(w for code, w in enumerate(self.weights) if code != self.code))

    @property
    def confidence(self) -> float:
        """The Laplace estimate of the class: (right + 1) / (coverage + classes)."""
        return float(laplace_estimates(self.weights)[self.code])

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the rule as one line."""
        texts = [condition.text(ascii_only=ascii_only) for condition in self.conditions]
        premise = f"IF {' AND '.join(texts)} THEN " if texts else "ALWAYS "
        verdict = f"{shown(self.target.name)} = {shown(self.label)}"
        support = shown(round(self.coverage, 6))
        errors = shown(round(self.errors, 6))
        estimate = percent_text(self.estimate, 1)
        facts = f"support {support}, errors {errors}, estimated error {estimate}"
        return f"{premise}{verdict}  ({facts})"

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class RuleSet(InNotebooks):
    """Rules in order, and the class of rows that satisfy no rule.

    ``model.ruleset(table)`` makes a rule set. It predicts without the tree.

    Parameters
    ----------
    schema : Schema
        The attributes of the conditions, and the target.
    rules : tuple of RankedRule
        The rules in order; the first that a row satisfies decides.
    default_code : int
        The class of the other rows.
    default_weights : tuple of float
        The weight of each class among the training rows that satisfy no rule.
    class_weights : tuple of float
        The weight of each class among all training rows.
    level : float
        The confidence level of the pessimistic errors.

    Examples
    --------
    >>> import spinney
    >>> weather = {"wind": ["strong", "weak"] * 6, "sky": ["grey", "blue", "blue"] * 4,
    ...            "play": ["no", "yes"] * 6}
    >>> model = spinney.grow(weather, "play", recipe="id3")
    >>> rules = model.ruleset(weather)
    >>> print(rules)
    IF wind = strong THEN play = no  (support 6, errors 0, estimated error 20.6 %)
    IF wind = weak THEN play = yes  (support 6, errors 0, estimated error 20.6 %)
    OTHERWISE play = yes  (support 0)
    >>> rules.predict({"wind": ["weak", "strong"]}).tolist()
    ['yes', 'no']
    """

    kind: ClassVar[str] = "rules"
    schema: Schema
    rules: tuple[RankedRule, ...]
    default_code: int
    default_weights: tuple[float, ...]
    class_weights: tuple[float, ...]
    level: float

    # Predicting

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the columns that the conditions use."""
        return tuple(attribute.name for attribute in self.schema.attributes)

    def read(
        self,
        data: Any,
        *,
        format: str | None = None,
        encoding: str | None = None,
        text_format: TextFormat | None = None,
        target: bool = True,
    ) -> Table:
        """Read a table with the schema of the rules; columns are matched by name.

        ``target`` says whether the target column is read too, if there is one.
        """
        return read_with_schema(
            self.schema,
            range(len(self.schema.attributes)),
            data,
            target=target,
            format=format,
            encoding=encoding,
            text_format=text_format,
        )

    def apply(self, data: Any) -> Integers:
        """Return the index of the rule that decides each row; -1 for the default."""
        return self._deciding_rules(self.read(data, target=False))

    def _deciding_rules(self, table: Table) -> Integers:
        columns = self.schema.encode(table)
        fired = np.full(table.n_rows, DEFAULT, dtype=np.int64)
        for rule in self.rules:
            rest = np.flatnonzero(fired == DEFAULT)
            matching = matches(
                rule.conditions,
                [cells[rest] for cells in columns],
                schema=self.schema,
                n_rows=len(rest),
            )
            fired[rest[matching]] = rule.order
        return fired

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns of ``predict_proba``."""
        return class_array(self.schema.target.classes)

    @property
    def default(self) -> Value:
        """The class of rows that satisfy no rule."""
        return self.schema.target.classes[self.default_code]

    def _predicted_codes(self, table: Table) -> Integers:
        # The default is last, where -1 finds it.
        codes = np.array([*(rule.code for rule in self.rules), self.default_code])
        return np.asarray(codes[self._deciding_rules(table)])

    def predict(self, data: Any) -> Any:
        """Return the class of the first rule that each row satisfies.

        Another class may be more probable by ``predict_proba`` if the rule is wrong on
        many rows.
        """
        return self.classes_[self._predicted_codes(self.read(data, target=False))]

    def predict_proba(self, data: Any) -> Floats:
        """Return class probabilities by Laplace: (weight + 1) / (all + classes).

        The weights are those of the training rows that satisfy the deciding rule. For
        the default, they are those of the rows that satisfy no rule, or of all rows if
        every row satisfies a rule.
        """
        return np.asarray(self.shares[self.apply(data)])

    @property
    def shares(self) -> Floats:
        """The class probabilities by rule; the default is last, at index -1."""
        weights = [*(rule.weights for rule in self.rules), self._default_support]
        return np.array([laplace_estimates(support) for support in weights])

    def outputs(self, X: Any) -> Floats:
        """Return class probabilities, as every model does under this name."""
        return self.predict_proba(X)

    @property
    def _default_support(self) -> tuple[float, ...]:
        """The class weights for the probabilities of the default."""
        return self.default_weights if any(self.default_weights) else self.class_weights

    def score(self, data: Any, y: Any = None) -> float:
        """Return the accuracy; without y, the table must have the target column."""
        table = self.read(data)
        if y is not None:
            labels = np.asarray(y)
            if labels.shape != (table.n_rows,):
                msg = f"y has the shape {labels.shape}: pass {table.n_rows} labels"
                raise DataError(msg)
            return float(np.mean(self.classes_[self._predicted_codes(table)] == labels))
        target = self.schema.target
        column = check_target(table, target.name)
        right = self._predicted_codes(table) == target.encode(column)
        return float(np.mean(right[~column.missing]))

    # Reading

    def __len__(self) -> int:
        """Return the number of rules without the default."""
        return len(self.rules)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return one rule per line, in order, and the default."""
        lines = [rule.text(ascii_only=ascii_only) for rule in self.rules]
        verdict = f"{shown(self.schema.target.name)} = {shown(self.default)}"
        support = shown(round(float(sum(self.default_weights)), 6))
        head = "OTHERWISE" if lines else "ALWAYS"
        return "\n".join([*lines, f"{head} {verdict}  (support {support})"])

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self)} rules and the default {self.default!r}>"

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the rules as plain data; the default, without conditions, is last."""
        name = self.schema.target.name
        rules: list[dict[str, Any]] = [
            {
                "order": rule.order,
                "if": [condition_dict(condition) for condition in rule.conditions],
                "then": {"target": name, "label": rule.label},
                "coverage": rule.coverage,
                "errors": rule.errors,
                "estimated_error": rule.estimate,
                "confidence": rule.confidence,
            }
            for rule in self.rules
        ]
        weights = self.default_weights
        last = {
            "order": DEFAULT,
            "if": [],
            "then": {"target": name, "label": self.default},
            "coverage": float(sum(weights)),
            "errors": float(sum(weights) - weights[self.default_code]),
            "estimated_error": None,
            "confidence": float(
                laplace_estimates(self._default_support)[self.default_code]
            ),
        }
        return [*rules, last]

    def facts(self) -> dict[str, Any]:
        """Return a summary of the rule set as plain data."""
        target = self.schema.target
        return {
            "target": target.name,
            "classes": list(target.classes),
            "rules": len(self),
            "default": self.default,
            "confidence": self.level,
            "weight": float(sum(self.class_weights)),
            "attributes": {a.name: a.kind for a in self.schema.attributes},
        }

    # Keeping

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the rules as JSON, which :meth:`from_json` reads back."""
        write_whole(path, [self.to_json().encode("utf-8")], overwrite=overwrite)

    def export(
        self,
        format: str,
        *,
        path: "str | os.PathLike[str] | None" = None,
        dialect: str | None = None,
        table: str | None = None,
        keep: Sequence[str] | None = None,
    ) -> Any:
        """Return the rules in a format, and write them to a path.

        The formats are "text", "json", which :func:`spinney.load` reads back, and
        programs that predict as the rules do: "python", "javascript", "c", "onnx",
        "pmml", and "sql" with its options ``dialect``, ``table`` and ``keep``
        (``docs/exports.md``).
        """
        from spinney.output.export_formats import exported

        return exported(
            self, format, path=path, dialect=dialect, table=table, keep=keep
        )

    def to_json(self) -> str:
        """Return the rules as JSON that :meth:`from_json` reads back."""
        from spinney.extensions.rulesets.ruleset_json import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, source: str) -> "RuleSet":
        """Return the rules that :meth:`to_json` wrote.

        Raises
        ------
        ModelFormatError
            The text is not a rule set, is damaged, or has a newer version.
        """
        from spinney.extensions.rulesets.ruleset_json import from_json

        return from_json(source)


def laplace_estimates(weights: tuple[float, ...]) -> Floats:
    """Return (weight + 1) / (all weights + classes) for each class.

    >>> laplace_estimates((3.0, 1.0)).round(3)
    array([0.667, 0.333])
    """
    raised = np.asarray(weights, dtype=np.float64) + 1.0
    return np.asarray(raised / raised.sum())
