"""The export formats of pictures: SVG, PNG and PDF."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from spinney.errors import Setting, refusal
from spinney.extensions.pictures.axes_picture import svg_bytes
from spinney.output.export_formats import DRAWN, Format

LOOKS = ("data", "bars")


def _svg(model: Any, **options: Any) -> str:
    for name, value in options.items():
        if name not in signature(model.plot).parameters:
            problem = f"is not for pictures of the kind {model.kind!r}"
            raise refusal(Setting(name, value), problem, "leave it out")
    return str(model.plot(**options).svg)


def _picture_writer(suffix: str) -> Callable[..., bytes]:
    return lambda model, **options: svg_bytes(_svg(model, **options), suffix)


SVG = Format("svg", DRAWN, lambda m, **o: _svg(m, **o) + "\n", options=LOOKS)
PNG = Format("png", DRAWN, _picture_writer("png"), options=LOOKS)
PDF = Format("pdf", DRAWN, _picture_writer("pdf"), options=LOOKS)
