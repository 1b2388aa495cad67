"""The style sheet of pictures: light, dark on dark screens, and light on paper.

Every rule applies inside pictures only, so the rest of a page does not change, and
several pictures share the rules.
"""

from spinney._support.colours import COLOURS

SCOPE = ".spinney-tree"
FONTS = 'Helvetica,Arial,"Liberation Sans","Nimbus Sans",sans-serif'
# The colours of pictures, of the explorer and of plots, by name.
LIGHT = {
    "page": "#ffffff",
    "text": "#1c2126",
    "note": "#4a545e",
    "frame": "#5f6b76",
    "branch": "#b3bcc5",
    "axis": "#8a95a0",
    "empty": "#dfe4e9",
}
DARK = {
    "page": "#14171a",
    "text": "#eceff2",
    "note": "#b9c2cb",
    "frame": "#8a95a0",
    "branch": "#505a64",
    "axis": "#75808b",
    "empty": "#333b43",
}
# The blue is too dark for a dark page.
DARK_COLOURS = {"k0": "#2186c8"}
PAINTS = {
    ".page,.pill": ("fill", "page"),
    "text": ("fill", "text"),
    ".note": ("fill", "note"),
    ".frame": ("stroke", "frame"),
    ".branch": ("stroke", "branch"),
    ".axis": ("stroke", "axis"),
    ".cut": ("stroke", "text"),
    ".mark": ("fill", "text"),
    ".empty,.merit": ("fill", "empty"),
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
    ".cut": "stroke-width:1.5;stroke-dasharray:3 3",
}


def _css_rules(rules: dict[str, str]) -> str:
    return "".join(
        f"{','.join(f'{SCOPE} {name}' for name in names.split(','))}{{{rule}}}"
        for names, rule in rules.items()
    )


def _stroke_rules(colours: dict[str, str]) -> dict[str, str]:
    return {names: f"{how}:{colours[what]}" for names, (how, what) in PAINTS.items()}


def _fill_rules(colours: dict[str, str]) -> dict[str, str]:
    return {f".{name}": f"fill:{colour}" for name, colour in colours.items()}


CLASS_COLOURS = {f"k{place}": colour for place, colour in enumerate(COLOURS)}


def element_style(element: str, classes: str) -> dict[str, str]:
    """Return the light style of an element with these classes.

    >>> element_style("rect", "k1")
    {'fill': '#E69F00'}
    """
    selectors = {element, *(f".{name}" for name in classes.split())}
    style: dict[str, str] = {}
    for rules in (SHAPES, _fill_rules(CLASS_COLOURS), _stroke_rules(LIGHT)):
        for names, rule in rules.items():
            if selectors & set(names.split(",")):
                style |= dict(part.split(":", 1) for part in rule.split(";"))
    return style


STYLE_SHEET = (
    f"{SCOPE}{{max-width:100%;height:auto;color-scheme:light dark}}"
    + _css_rules(SHAPES)
    + _css_rules(_fill_rules(CLASS_COLOURS))
    + _css_rules(_stroke_rules(LIGHT))
    + "@media screen and (prefers-color-scheme:dark)"
    + f"{{{_css_rules(_stroke_rules(DARK))}{_css_rules(_fill_rules(DARK_COLOURS))}}}"
)


def variables(*, dark: bool) -> str:
    """Return the colours as variables of CSS, the page's colour first.

    >>> variables(dark=False)[6:15], variables(dark=True)[6:15]
    (':#ffffff;', ':#14171a;')
    """
    dark_colours = {**DARK, **CLASS_COLOURS, **DARK_COLOURS}
    colours = dark_colours if dark else {**LIGHT, **CLASS_COLOURS}
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def colours() -> str:
    """Return the colours of pictures as variables, light and dark."""
    light, dark = variables(dark=False), variables(dark=True)
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark)"
        f"{{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
