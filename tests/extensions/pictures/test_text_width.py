"""Widths of texts: those of the fonts, as a library that draws them measures them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.extensions.pictures.text_width import shortened, text_width, wrapped

PRINTABLE = st.text().filter(str.isprintable)


# The sums of advance widths in Liberation Sans 1.07.4, in thousandths of the size.
@pytest.mark.parametrize(
    "text, regular, bold",
    [("texture", 3057, 3334), ("Iris-versicolor", 5945, 6614), ("17 rows", 3501, 3724)],
)
def test_widths_are_those_of_the_font_or_a_little_more(text, regular, bold):
    assert text_width(text, 1000) == pytest.approx(regular, rel=0.01)
    assert 0.99 * bold <= text_width(text, 1000, bold=True) <= 1.1 * bold


def test_wide_signs_are_wide_and_accents_take_no_room():
    assert text_width("家族", 10) > 20
    assert text_width("é", 10) == text_width("e", 10) == text_width("e\u0301", 10)


@given(PRINTABLE, st.floats(30, 300))
def test_what_is_shortened_fits(text, max_width):
    short = shortened(text, max_width, 12)
    assert text_width(short, 12) <= max_width
    assert short == text or ("…" in short and text_width(text, 12) > max_width)


@given(PRINTABLE, st.floats(30, 300))
def test_what_is_wrapped_fits(text, max_width):
    assert all(
        text_width(line, 12) <= max_width for line in wrapped(text, max_width, 12)
    )


def test_the_end_of_a_name_is_kept():
    short = shortened("income_of_the_household_in_2021", 110, 12)
    assert short.startswith("income")
    assert short.endswith("2021")
