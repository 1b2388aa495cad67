"""Draw the pictures of README and docs/pictures.md: ``python -m tools.pictures``.

``tests/test_readme.py`` holds that they are those of the tables here.
"""

from pathlib import Path

import spinney

__all__ = ["pictures"]

ROOT = Path(__file__).resolve().parents[1]
MELONS = ROOT / "examples" / "melons.csv"
IRIS = ROOT / "tests" / "tables" / "iris.csv"
PENGUINS = ROOT / "tests" / "tables" / "penguins.csv"


def pictures() -> dict[Path, str]:
    """Return the pictures as text, by where they are kept."""
    melons = spinney.grow(MELONS, target="ripe", ignore=["id"], recipe="id3")
    iris = spinney.grow(IRIS, target="class", recipe="cart")
    penguins = spinney.grow(PENGUINS, target="species", recipe="cart", max_depth=2)
    drawn = {
        "melons.svg": melons.plot(),
        "melons_teaching.svg": melons.plot(style="teaching"),
        "iris_rules.svg": iris.plot(style="rules", horizontal=True, max_depth=3),
        "penguins_bars.svg": penguins.plot(bars=True),
        "penguins_histograms.svg": penguins.plot(bars=True, data=PENGUINS),
    }
    return {ROOT / "docs" / name: f"{each.svg}\n" for name, each in drawn.items()}


if __name__ == "__main__":
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
        print(f"drawn to {path.relative_to(ROOT)}")
