"""How many errors C4.5 expects of a leaf: figures by hand and from books."""

import pytest

from spinney.growth.prune.error_limits import added_errors


def test_no_error_is_exact():
    # Quinlan 1993, page 41: U(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.750.
    assert [round(added_errors(n, 0) / n, 3) for n in (6, 9, 1)] == [0.206, 0.143, 0.75]


def test_the_labour_example_of_the_weka_book():
    # Witten and Frank, Data Mining, section 6.1, estimate the errors 2 of 6, 1 of 2
    # and 5 of 14 as 0.47, 0.72 and 0.46, with z = 0.69 and without the half row of
    # the continuity correction. With it, by hand for 5 of 14 and z = 0.6745:
    # f = 5.5/14 = 0.39286; z²/2n = 0.016247; f/n − f²/n = 0.017037;
    # z²/4n² = 0.00058025; √ = 0.132730; (0.39286 + 0.016247 + 0.089526) / 1.032494
    assert added_errors(14, 5) == pytest.approx(14 * 0.482940 - 5, abs=1e-4)


def test_between_no_error_and_one_it_is_interpolated():
    none, one = added_errors(10, 0), added_errors(10, 1)
    assert added_errors(10, 0.25) == pytest.approx(none + (one - none) / 4)


def test_where_all_but_half_a_row_are_wrong_all_are():
    assert added_errors(3, 2.5) == 0.5
    assert added_errors(3, 2.75) == 0.25
    assert added_errors(1, 1) == 0


@pytest.mark.parametrize("errors", [0, 0.5, 1, 3, 9.5])
def test_less_confidence_expects_more(errors):
    estimates = [added_errors(20, errors, c) for c in (0.05, 0.1, 0.25, 0.5)]
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[-1] >= 0
