"""All pages are of one kind: one policy, one way to be saved."""

import pytest

import spinney
from spinney.errors import ParameterError
from spinney.extensions.pictures.offline_page import OfflinePage, make_page


def test_pages_have_one_frame():
    shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    model = spinney.grow(shop, "sold", recipe="id3")
    picture, explorer, lesson = model.plot(), model.explore(), model.lesson()
    for page in (picture, explorer, lesson):
        assert page.html.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>')
        assert "base-uri 'none'; form-action 'none'" in page.html
    assert "script-src 'none'" in picture.html
    assert "<script" not in picture.html
    assert isinstance(explorer, OfflinePage)
    assert isinstance(lesson, OfflinePage)


def test_a_page_is_saved_once(tmp_path):
    page = OfflinePage(make_page("a < b", "<p>body</p>", style="p{margin:0}"))
    assert "<title>a &lt; b · Spinney</title>" in page.html
    page.save(tmp_path / "page.html", overwrite=False)
    assert (tmp_path / "page.html").read_text("utf-8") == page.html
    with pytest.raises(ParameterError, match="exists"):
        page.save(tmp_path / "page.html", overwrite=False)
    with pytest.raises(ParameterError, match=r"does not end in \.html"):
        page.save(tmp_path / "page.txt")
