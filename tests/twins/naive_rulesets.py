"""Twins of the rulesets in plain loops: no arrays, no shared arithmetic.

A row is as in ``tests.twins.naive``: ``(cells, class, weight)``, None for a missing
cell.
"""

from collections.abc import Sequence
from math import comb, lgamma, log, log2

from tests.twins.naive import Cell, Row

from spinney.data.schema import Schema
from spinney.output.leaf_rules import Condition


def upper_limit(errors: int, total: int, confidence: float) -> float:
    """Return U with P(X ≤ errors) = confidence, by halving an interval."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        chance = sum(
            comb(total, k) * middle**k * (1 - middle) ** (total - k)
            for k in range(errors + 1)
        )
        if chance > confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def holds(condition: Condition, cell: Cell) -> bool:
    if cell is None:
        return condition.missing is True
    if condition.values is not None:
        return cell in condition.values
    return condition.low < cell <= condition.high


def satisfies(schema: Schema, tests: Sequence[Condition], cells: list[Cell]) -> bool:
    places = [schema.names.index(test.attribute.name) for test in tests]
    return all(holds(t, cells[p]) for t, p in zip(tests, places, strict=True))


def estimate(
    schema: Schema,
    tests: Sequence[Condition],
    code: int,
    rows: Sequence[Row],
    cf: float,
) -> float:
    """Return the pessimistic error of a rule over rows of weight 1."""
    here = [label for cells, label, _ in rows if satisfies(schema, tests, cells)]
    if not here:
        own = sum(label == code for _, label, _ in rows)
        return 1 - (own + 1) / (len(rows) + 2)
    wrong = sum(label != code for label in here)
    return 1.0 if wrong == len(here) else upper_limit(wrong, len(here), cf)


def simplify(
    schema: Schema,
    tests: Sequence[Condition],
    code: int,
    rows: Sequence[Row],
    cf: float,
) -> list[int]:
    """Return the numbers of the tests that are kept."""
    kept = list(range(len(tests)))
    while kept:
        now = estimate(schema, [tests[k] for k in kept], code, rows, cf)
        best, least = None, None
        for number in kept:
            others = [tests[k] for k in kept if k != number]
            value = estimate(schema, others, code, rows, cf)
            if least is None or value <= least + 1e-12:
                best = number
                least = value if least is None else min(least, value)
        assert best is not None
        if least > now + 1e-12:
            break
        kept.remove(best)
    return kept


def log2_choose(many: float, few: float) -> float:
    return (lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)) / log(2)


def log2_factorial(number: int) -> float:
    return sum(log2(k) for k in range(2, number + 1))


def answer_bits(schema: Schema, rows: Sequence[Row]) -> list[float]:
    """Return for each attribute the bits of an answer."""
    found = []
    total = sum(weight for _, _, weight in rows)
    for place, attribute in enumerate(schema.attributes):
        tally: dict[float, float] = {}
        for cells, _, weight in rows:
            cell = cells[place]
            if cell is not None:
                tally[cell] = tally.get(cell, 0.0) + weight
        if attribute.kind == "nominal":
            found.append(sum(w / total * log2(total / w) for w in tally.values()))
        else:
            found.append(1 + log2(len(tally)) / 2 if len(tally) > 1 else 0.0)
    return found


def rule_bits(
    schema: Schema, conditions: Sequence[Condition], rows: Sequence[Row]
) -> float:
    answers = answer_bits(schema, rows)
    whole = sum(answers)
    naming = sum(b / whole * log2(whole / b) for b in answers if b > 0)
    bits, n_tests = 0.0, 0
    for condition in conditions:
        attribute = condition.attribute
        answer = answers[schema.names.index(attribute.name)]
        if condition.values is not None and len(condition.values) > 1:
            answer = len(attribute.values)
        bounds = [b for b in (condition.low, condition.high) if abs(b) < 1e300]
        tests = 2 if len(bounds) == 2 else 1
        bits += tests * (naming + answer)
        n_tests += tests
    return bits + log2(n_tests) - log2_factorial(n_tests) if n_tests else 0.0


def set_bits(
    schema: Schema,
    rules: Sequence[Sequence[Condition]],
    code: int,
    rows: Sequence[Row],
    costs: Sequence[float],
) -> float:
    """Return what a set of rules of one class costs, with its exceptions."""
    covered = uncovered = positives = negatives = 0.0
    for cells, label, weight in rows:
        if any(satisfies(schema, conditions, cells) for conditions in rules):
            covered += weight
            positives += weight if label != code else 0.0
        else:
            uncovered += weight
            negatives += weight if label == code else 0.0
    exceptions = log2_choose(covered, positives) + log2_choose(uncovered, negatives)
    return 0.5 * (sum(costs) - log2_factorial(len(rules))) + exceptions
