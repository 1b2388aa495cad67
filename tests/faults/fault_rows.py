"""Small tables of faults, and how to grow and ask a tree of them."""

import numpy as np

import spinney

AB = ["a", "a", "b", "b"]
NAN = float("nan")


def grown(rows, recipe="id3", **options):
    """Return the tree of some columns, whose target is y."""
    return spinney.grow(rows, "y", recipe=recipe, **options)


def answers(model, rows):
    """Return what a model predicts of rows, which may hold y."""
    return list(model.predict({name: rows[name] for name in rows if name != "y"}))


def random_rows(n_rows=60, *, missing=0.0, seed=0):
    """Return rows of a number, a word and a class, some cells missing."""
    random = np.random.default_rng(seed)
    x, words = random.normal(size=n_rows).round(1), random.choice(list("uvw"), n_rows)
    y = np.where(x + (words == "u") + random.normal(size=n_rows) > 0.3, "p", "q")
    x[random.random(n_rows) < missing] = np.nan
    words = [w if random.random() >= missing else None for w in words.tolist()]
    return {"x": x.tolist(), "word": words, "y": y.tolist()}


def root_gains(model):
    """Return the gains of the root's candidates by the name of their attribute."""
    names = [attribute.name for attribute in model.schema.attributes]
    return {names[c.split.attribute]: c.gain for c in model.tree.root.candidates}
