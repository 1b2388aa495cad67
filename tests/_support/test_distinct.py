"""Different numbers and their places: as NumPy finds them by sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spinney._support.arrays import distinct

CELLS = st.one_of(st.sampled_from([2.5, -1.0]), st.floats(allow_nan=False))


@given(st.one_of(st.lists(st.sampled_from([2.5, -1.0])), st.lists(CELLS)))
def test_numbers_and_flags_are_ranked_as_by_sorting(cells):
    numbers = np.array(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    values, places = distinct(numbers)
    wanted, ranks = np.unique(numbers, return_inverse=True)
    assert values.tolist() == wanted.tolist()
    assert places.tolist() == ranks.tolist()
    assert (values.dtype, places.dtype) == (wanted.dtype, ranks.dtype)
