"""The style sheet of pictures: light, dark where the screen is, and light on paper.

Every rule is for what is inside a picture, so that one that stands in a page changes
nothing else there, and several share their rules.
"""

from spinney._support.colours import COLOURS

__all__ = ["STYLE_SHEET", "style_of"]

SCOPE = ".spinney-tree"
FONTS = 'Helvetica,Arial,"Liberation Sans","Nimbus Sans",sans-serif'
LIGHT = {
    ".page,.pill": "fill:#ffffff",
    "text": "fill:#1c2126",
    ".note": "fill:#4a545e",
    ".frame": "stroke:#5f6b76",
    ".branch": "stroke:#b3bcc5",
    ".axis": "stroke:#8a95a0",
    ".empty,.merit": "fill:#dfe4e9",
}
DARK = {
    ".page,.pill": "fill:#14171a",
    "text": "fill:#eceff2",
    ".note": "fill:#b9c2cb",
    ".frame": "stroke:#8a95a0",
    ".branch": "stroke:#505a64",
    ".axis": "stroke:#75808b",
    ".empty,.merit": "fill:#333b43",
    ".k0": "fill:#2186c8",  # the blue is too dark for a dark page
}
SHAPES = {
    "text": f"font-family:{FONTS}",
    ".title": "font-size:13px;font-weight:bold",
    ".strong": "font-size:12px;font-weight:bold",
    ".plain,.label": "font-size:12px",
    ".note": "font-size:11px",
    ".middle": "text-anchor:middle",
    ".end": "text-anchor:end",
    ".frame": "fill:none;stroke-width:1",
    ".leaf": "stroke-width:2",
    ".stub": "stroke-dasharray:3 3",
    ".branch": "fill:none",
    ".dashed": "stroke-dasharray:3 3",
    ".merit": "fill-opacity:.8",
}


HUES = {f".k{place}": f"fill:{colour}" for place, colour in enumerate(COLOURS)}


def style_of(element: str, classes: str) -> dict[str, str]:
    """Return what the sheet says of an element with these classes, on a light page.

    >>> style_of("rect", "k1")
    {'fill': '#E69F00'}
    """
    named = {element, *(f".{one}" for one in classes.split())}
    style: dict[str, str] = {}
    for rules in (SHAPES, HUES, LIGHT):
        for names, rule in rules.items():
            if named & set(names.split(",")):
                style |= dict(part.split(":", 1) for part in rule.split(";"))
    return style


def _rules(rules: dict[str, str]) -> str:
    return "".join(
        f"{','.join(f'{SCOPE} {one}' for one in names.split(','))}{{{rule}}}"
        for names, rule in rules.items()
    )


STYLE_SHEET = (
    f"{SCOPE}{{max-width:100%;height:auto;color-scheme:light dark}}"
    + _rules(SHAPES)
    + _rules(HUES)
    + _rules(LIGHT)
    + f"@media screen and (prefers-color-scheme:dark){{{_rules(DARK)}}}"
)
