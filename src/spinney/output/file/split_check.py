"""Checks of splits against a schema: of candidates, surrogates and forests."""

import numpy as np

from spinney._support.arrays import Integers, ramps
from spinney.data import Schema
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.requirements import counted, require, shaped, within
from spinney.trees import FORMS, Intervals, SplitArrays, Threshold


def check_forms(
    splits: SplitArrays, schema: Schema, what: str, numbers: Integers | None = None
) -> None:
    """Check attributes, forms and numbers of branches.

    Messages name a split by ``what`` and its number, taken from ``numbers`` if given.
    """
    n_attributes = len(schema.attributes)
    alien = f"{what} {{}} has an unknown attribute"
    require(within(splits.attribute, 0, n_attributes), alien, numbers)
    neither = f"{what} {{}} is neither a threshold, groups nor intervals"
    require(within(splits.form, 0, len(FORMS)), neither, numbers)
    others = splits.form != FORMS.index(Threshold)
    single = f"{what} {{}} is a threshold without two branches"
    require(others | (splits.n_branches == 2), single, numbers)


def check_split_lengths(
    arrays: Arrays, splits: SplitArrays, room: str, *, least: int = 0
) -> None:
    """Check that the numbers of thresholds, groups and codes fit the branches."""
    shaped(arrays, f"{room}.thresholds", (int(splits.n_cuts.sum()),))
    shaped(arrays, f"{room}.groups", (int(splits.n_groups.sum()),))
    shaped(arrays, f"{room}.codes", (splits.codes.size,))
    counted(arrays, f"{room}.groups", total=splits.codes.size, least=least)


def check_splits(
    splits: SplitArrays,
    schema: Schema,
    what: str,
    numbers: Integers | None = None,
    *,
    ordered: bool = False,
) -> None:
    """Check the content of splits: kinds, missing values, thresholds and codes.

    With ``ordered`` values, nominal attributes may have thresholds.
    """
    lines = np.arange(len(splits.form))
    named = lines if numbers is None else numbers
    kind = np.array([a.kind for a in schema.attributes], "U7")[splits.attribute]
    n_codes = sizes(schema)[splits.attribute]
    # A split by known or missing suits attributes of any kind.
    asks_known = np.zeros(len(lines), bool)
    asks_known[np.repeat(lines, splits.n_cuts)[splits.thresholds == np.inf]] = True
    asks_known &= splits.n_cuts == 1
    cuts_names = (kind == "nominal") & ~asks_known & (not ordered)
    wrong = np.where(splits.grouped, kind == "numeric", cuts_names)
    wrong |= (splits.form == FORMS.index(Intervals)) & (kind != "numeric")
    require(~wrong, f"the split of {what} {{}} does not suit its attribute", named)
    require(
        within(splits.missing, -1, splits.n_branches),
        f"{what} {{}} sends missing values to an unknown branch",
        named,
    )
    cuts, of_cut = splits.thresholds, np.repeat(lines, splits.n_cuts)
    last = np.append(of_cut[1:] != of_cut[:-1], True)[: len(of_cut)]
    rising = (cuts[1:] > cuts[:-1]) | last[:-1]
    require(
        rising, f"{what} {{}} has thresholds that do not increase", named[of_cut[1:]]
    )
    known = cuts == np.inf  # the split by known or missing
    infinite = f"{what} {{}} has no finite threshold"
    require(known | np.isfinite(cuts), infinite, named[of_cut])
    require(
        ~known | (last & (splits.missing == splits.n_branches - 1)[of_cut]),
        f"{what} {{}} splits by known values and has no branch for missing ones",
        named[of_cut],
    )
    between = (cuts >= 0) & (cuts < n_codes[of_cut] - 1)
    require(
        known | (kind == "numeric")[of_cut] | between,
        f"{what} {{}} has a threshold outside of its attribute's values",
        named[of_cut],
    )
    of_group, branch = np.repeat(lines, splits.n_groups), ramps(splits.n_groups)
    codes, of_code = splits.codes, np.repeat(of_group, splits.groups)
    unknown = f"{what} {{}} has a code that its attribute does not know"
    require(within(codes, 0, n_codes[of_code]), unknown, named[of_code])
    order = np.lexsort((codes, of_code))
    again = (np.diff(codes[order]) == 0) & (np.diff(of_code[order]) == 0)
    require(~again, f"{what} {{}} has one code twice", named[of_code[order][1:]])
    require(
        (splits.groups > 0) | (splits.missing[of_group] == branch),
        f"{what} {{}} has an empty branch that is not for missing values",
        named[of_group],
    )


def sizes(schema: Schema) -> Integers:
    """Return the number of codes of each attribute."""
    return np.array([len(a.values) for a in schema.attributes], dtype=np.int64)
