"""Grow a tree on the watermelons of the textbook, and question it."""

from pathlib import Path

import spinney

melons = Path(__file__).with_name("melons.csv")
model = spinney.grow(melons, target="ripe", ignore=["id"], recipe="id3")

print("The tree\n")
print(model)
print("\nIts rules\n")
print(model.rules())
print("\nThe arithmetic of the root\n")
print(model.explain(node=0))
