"""Whether the candidates of all nodes are splits with the counts behind them."""

import numpy as np

from spinney.data.schema import Schema, Target
from spinney.files.model_arrays import FORMS, Arrays
from spinney.files.model_rules import (
    MOST_ROWS,
    SHARES_TOLERANCE,
    Places,
    amounts,
    close,
    grouped,
    numeric,
    possible,
    require,
    sizes,
    within,
)
from spinney.trees.split import Intervals

__all__ = ["check_candidates"]


def check_candidates(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless each candidate is a split of its node."""
    places = Places.of(arrays)
    _check_forms(arrays, schema)
    _check_thresholds(arrays, schema)
    _check_groups(arrays, schema, places)
    _check_values(arrays, schema, places)
    _check_counts(arrays, schema.target, places)


def _check_forms(arrays: Arrays, schema: Schema) -> None:
    kinds = np.array([attribute.kind for attribute in schema.attributes], dtype="U7")
    kind = kinds[arrays["candidate.attribute"]]
    wrong = np.where(grouped(arrays), kind == "numeric", kind == "nominal")
    wrong |= (arrays["candidate.form"] == FORMS.index(Intervals)) & (kind != "numeric")
    require(~wrong, "the split of candidate {} does not suit its attribute")
    require(
        within(arrays["candidate.missing"], -1, arrays["candidate.branches"]),
        "candidate {} sends missing values to a branch that is not there",
    )
    for name in ("candidate.gain", "candidate.merit"):
        require(np.isfinite(arrays[name]), f"{name!r} is no number at candidate {{}}")
    p = arrays["candidate.p_value"]
    require(np.isnan(p) | ((p >= 0) & (p <= 1)), "candidate {} has no possible p-value")
    exact = within(arrays["candidate.exact"], 0, 2)
    require(exact, "candidate {} has a bad mark (exact)")


def _check_thresholds(arrays: Arrays, schema: Schema) -> None:
    forms, branches = arrays["candidate.form"], arrays["candidate.branches"]
    thresholds = arrays["split.thresholds"]
    n_cuts = np.where(grouped(arrays), 0, branches - 1)
    asking = np.repeat(np.arange(len(forms)), n_cuts)
    last = np.append(asking[1:] != asking[:-1], True)[: len(asking)]
    rising = (thresholds[1:] > thresholds[:-1]) | last[:-1]
    require(rising, "candidate {} has cuts that do not rise", asking[1:])
    known = thresholds == np.inf  # the question whether the value is known
    require(
        known | np.isfinite(thresholds), "candidate {} has no finite threshold", asking
    )
    require(
        ~known | (last & (arrays["candidate.missing"] == branches - 1)[asking]),
        "candidate {} asks what is known and has no branch for what is not",
        asking,
    )
    attributes = arrays["candidate.attribute"][asking]
    between = (thresholds >= 0) & (thresholds < sizes(schema)[attributes] - 1)
    require(
        known | numeric(arrays, schema)[asking] | between,
        "candidate {} has a threshold outside of its attribute's values",
        asking,
    )


def _check_groups(arrays: Arrays, schema: Schema, places: Places) -> None:
    owners, codes = places.candidate_of_code, arrays["split.codes"]
    known = sizes(schema)[arrays["candidate.attribute"]]
    require(
        within(codes, 0, known[owners]),
        "candidate {} has a code that its attribute does not know",
        owners,
    )
    order = np.lexsort((codes, owners))
    again = (np.diff(codes[order]) == 0) & (np.diff(owners[order]) == 0)
    require(~again, "candidate {} has one code twice", owners[order][1:])
    owner = places.candidate_of_group
    first = np.searchsorted(owner, owner)
    branch = np.arange(len(owner)) - first
    require(
        (arrays["split.groups"] > 0) | (arrays["candidate.missing"][owner] == branch),
        "candidate {} has an empty branch that is not for missing values",
        owner,
    )


def _check_values(arrays: Arrays, schema: Schema, places: Places) -> None:
    """Check the values of the count tables, and that each has a branch."""
    numbered = numeric(arrays, schema)[places.candidate_of_line]
    attributes = arrays["candidate.attribute"]
    of_number = places.candidate_of_line[numbered]
    of_code = places.candidate_of_line[~numbered]
    numbers, codes = arrays["table.numbers"], arrays["table.codes"]
    require(
        np.isfinite(numbers), "candidate {} counts a value that is no number", of_number
    )
    require(
        within(codes, 0, sizes(schema)[attributes[of_code]]),
        "candidate {} counts a code that its attribute does not know",
        of_code,
    )
    for values, owners in ((numbers, of_number), (codes, of_code)):
        rising = (values[1:] > values[:-1]) | (owners[1:] != owners[:-1])
        require(rising, "candidate {} counts values that do not rise", owners[1:])
    widest = 1 + int(sizes(schema).max(initial=0))
    branched = places.candidate_of_code * widest + arrays["split.codes"]
    counted = of_code * widest + codes
    require(
        ~grouped(arrays)[of_code] | np.isin(counted, branched),
        "candidate {} counts a code that has no branch",
        of_code,
    )


def _check_counts(arrays: Arrays, target: Target, places: Places) -> None:
    """Check the counts of the tables, and that they are those of their node."""
    of_line, of_share = places.candidate_of_line, places.candidate_of_share
    absent, absent_rows = (
        arrays["candidate.missing_weights"],
        arrays["candidate.missing_rows"],
    )
    for weights, rows, owners in (
        (arrays["table.weights"], arrays["table.rows"], of_line),
        (absent, absent_rows, None),
    ):
        what = "candidate {} has a weight that is no amount"
        require(possible(weights, target), what, owners)
        impossible = "candidate {} has an impossible count of rows"
        require(within(rows, 0, MOST_ROWS + 1), impossible, owners)
        lone = "candidate {} has weight without rows"
        require((rows > 0) | (weights == 0), lone, owners)
    total, total_rows = absent.copy(), absent_rows.astype(np.float64)
    np.add.at(total, of_line, arrays["table.weights"])
    np.add.at(total_rows, of_line, arrays["table.rows"].astype(np.float64))
    node = places.node_of_candidate
    expected = arrays["node.weights"][node]
    other = "the counts of candidate {} are not those of its node"
    require(close(total, expected, target), other)
    require(total_rows.sum(axis=1) == arrays["node.rows"][node], other)
    shares = arrays["split.shares"]
    require(amounts(shares), "candidate {} has a share that is no amount", of_share)
    together = np.bincount(of_share, shares, minlength=len(node))
    require(
        np.abs(together - 1) <= SHARES_TOLERANCE,
        "the shares of candidate {} do not add up to 1",
    )
