"""Our SVG drawn by Matplotlib is the same picture: shapes, texts, colours, bytes."""

from xml.etree import ElementTree

import pytest

import spinney
from spinney.extensions.pictures import draw_svg, svg_bytes
from spinney.extensions.pictures.style_sheet import element_style

pytest.importorskip("matplotlib")

SHOP = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}


@pytest.fixture(scope="module")
def svg():
    return spinney.grow(SHOP, "sold", recipe="c4.5").plot(style="teaching").svg


def elements(svg, name):
    return [
        e for e in ElementTree.fromstring(svg).iter() if e.tag.endswith(f"}}{name}")
    ]


def test_every_element_is_drawn(svg):
    axes = draw_svg(svg)
    assert [text.get_text() for text in axes.texts] == [
        element.text for element in elements(svg, "text")
    ]
    shapes = sum(
        len(elements(svg, name)) for name in ("rect", "path", "line", "circle")
    )
    assert len(axes.patches) == shapes > 10


def test_places_and_colours_are_those_of_the_picture(svg):
    axes = draw_svg(svg)
    first = elements(svg, "text")[0]
    assert axes.texts[0].get_position() == (
        float(first.get("x")),
        float(first.get("y")),
    )
    page = axes.patches[0]
    assert page.get_facecolor()[:3] == (1, 1, 1)
    box = page.get_path().get_extents()
    _, _, width, height = map(float, ElementTree.fromstring(svg).get("viewBox").split())
    assert (box.width, box.height) == (width, height)


def test_a_class_of_the_style_sheet_hides_no_other():
    assert element_style("rect", "frame leaf") == {
        "fill": "none",
        "stroke-width": "2",
        "stroke": "#5f6b76",
    }
    assert "font-size" not in element_style("rect", "k0")
    assert element_style("text", "note end")["text-anchor"] == "end"


@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures_are_bytes_that_do_not_change(svg, suffix, begin, tmp_path):
    content = svg_bytes(svg, suffix)
    assert content.startswith(begin)
    assert svg_bytes(svg, suffix) == content
    model = spinney.grow(SHOP, "sold", recipe="c4.5")
    model.plot().save(tmp_path / f"tree.{suffix}")
    exported = model.export(suffix, path=tmp_path / "other")
    assert (tmp_path / f"tree.{suffix}").read_bytes() == exported
    assert (tmp_path / "other").read_bytes() == exported


def test_names_are_no_formulas():
    table = {"$x^{": SHOP["size"], "_y_$": SHOP["sold"]}
    model = spinney.grow(table, "_y_$", recipe="c4.5")
    assert svg_bytes(model.plot().svg, "png").startswith(b"\x89PNG")
