"""Draw the pictures of the README and of docs/pictures.md: ``python -m tools.pictures``.

``--check`` writes nothing and fails where a picture is not what would be drawn.
"""

import argparse
from pathlib import Path

import spinney
from spinney.output.picture import Picture

ROOT = Path(__file__).resolve().parents[1]
MELONS = ROOT / "examples" / "melons.csv"
IRIS = ROOT / "tests" / "tables" / "iris.csv"


def pictures() -> dict[Path, Picture]:
    """Return the pictures by where they are kept."""
    melons = spinney.grow(MELONS, target="ripe", ignore=["id"], recipe="id3")
    iris = spinney.grow(IRIS, target="class", recipe="cart")
    docs = ROOT / "docs"
    return {
        docs / "melons.svg": melons.plot(),
        docs / "melons_teaching.svg": melons.plot(style="teaching"),
        docs / "iris_rules.svg": iris.plot(style="rules", horizontal=True, max_depth=3),
    }


def main() -> None:
    """Draw or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for path, picture in pictures().items():
        text = f"{picture.svg}\n"
        if check and path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path.name} is old: python -m tools.pictures")
        if not check:
            path.write_text(text, encoding="utf-8")
            print(f"drawn to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
