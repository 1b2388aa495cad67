"""A slow, obvious twin of model trees: plain loops over plain rows, no NumPy.

A row is ``(cells, number, weight)``; None is a missing cell. Written from what
``docs/model_trees.md`` says. A node is a dict: rows, split (place, sides), children,
model (intercept and coefficients by term). A term is ``(place, codes)``; codes are
None for a number. Sides are a threshold, or two tuples of codes.
"""

from itertools import pairwise
from math import sqrt
from typing import Any

TOLERANCE = 1e-12
CLOSE = 1e-7


def weight_of(rows: list[Any]) -> float:
    return sum(w for *_, w in rows)


def mean_of(rows: list[Any]) -> float:
    return sum(w * y for _, y, w in rows) / weight_of(rows)


def variance(rows: list[Any]) -> float:
    centre = mean_of(rows)
    return sum(w * (y - centre) ** 2 for _, y, w in rows) / weight_of(rows)


def typical(rows: list[Any], place: int, kind: str) -> Any:
    """Return the mean of a number, the commonest code of the first of equals."""
    known = [(cells[place], w) for cells, _, w in rows if cells[place] is not None]
    if not known:
        return 0
    if kind == "numeric":
        mean = sum(v * w for v, w in known) / sum(w for _, w in known)
        return float(f"{mean:.12g}")
    sizes = {v: sum(w for u, w in known if u == v) for v, _ in known}
    best = max(sizes.values())
    return min(v for v, size in sizes.items() if size >= best - TOLERANCE)


class Filled(float):
    """A number that stands in the place of a missing one."""


def filled(rows: list[Any], kinds: list[str]) -> list[Any]:
    """Return the rows, every missing cell replaced by the typical one of all."""
    stands = [typical(rows, place, kind) for place, kind in enumerate(kinds)]
    stands = [
        Filled(s) if kind == "numeric" else s
        for s, kind in zip(stands, kinds, strict=True)
    ]
    return [
        ([s if c is None else c for c, s in zip(cells, stands, strict=True)], y, w)
        for cells, y, w in rows
    ]


def orders(rows: list[Any], kinds: list[str], sizes: list[int]) -> list[Any]:
    """Return for each nominal attribute its codes by mean target, lowest first."""
    found: list[Any] = []
    for place, kind in enumerate(kinds):
        if kind == "numeric":
            found.append(None)
            continue
        means = {}
        for code in range(sizes[place]):
            having = [row for row in rows if row[0][place] == code]
            means[code] = mean_of(having or rows)
        found.append(sorted(means, key=lambda code, m=means: (m[code], code)))
    return found


def parts_of(rows: list[Any], place: int, sides: Any) -> list[list[Any]]:
    if isinstance(sides, tuple):
        return [[row for row in rows if row[0][place] in group] for group in sides]
    left = [row for row in rows if row[0][place] <= sides]
    return [left, [row for row in rows if row[0][place] > sides]]


def ways(rows: list[Any], place: int, order: Any) -> list[Any]:
    values = sorted({cells[place] for cells, *_ in rows})
    if order is None:
        # Beyond the known numbers, one that stands for a missing one is no cut.
        known = [c[place] for c, *_ in rows if not isinstance(c[place], Filled)]
        if not known:
            return []
        values = [value for value in values if min(known) <= value <= max(known)]
        return [(low + high) / 2 for low, high in pairwise(values)]
    here = [code for code in order if code in values]
    cuts = [order.index(code) + 1 for code in here[:-1]]
    return [(tuple(sorted(order[:c])), tuple(sorted(order[c:]))) for c in cuts]


def gain(rows: list[Any], parts: list[list[Any]]) -> float:
    total = weight_of(rows)
    after = sum(weight_of(part) / total * variance(part) ** 0.2 for part in parts)
    return variance(rows) ** 0.2 - after


def best_split(rows: list[Any], order: list[Any]) -> Any:
    """Return the best (place, sides), the first of equals, or None."""
    found = []
    for place in range(len(order)):
        for sides in ways(rows, place, order[place]):
            parts = parts_of(rows, place, sides)
            total = weight_of(rows)
            if any(weight_of(p) < 2 or weight_of(p) <= 0.2 * total for p in parts):
                continue
            merit = gain(rows, parts)
            found.append((merit, place, sides))
    best = max((merit for merit, *_ in found), default=0.0)
    for place in range(len(order)):
        own = [way for way in found if way[1] == place]
        top = max((merit for merit, *_ in own), default=-1.0)
        if top >= best - 1e-9 * max(1, abs(best)):
            first = next(way for way in own if way[0] >= top - 1e-9 * max(1, abs(top)))
            return first[1:]
    return None


def grown(rows: list[Any], order: list[Any], least: float) -> dict[str, Any]:
    node: dict[str, Any] = {"rows": rows, "split": None, "children": []}
    if weight_of(rows) < 4 or sqrt(variance(rows)) < least or variance(rows) < 1e-12:
        return node
    node["split"] = best_split(rows, order)
    if node["split"] is not None:
        parts = parts_of(rows, *node["split"])
        node["children"] = [grown(part, order, least) for part in parts]
    return node


def terms_of(node: dict[str, Any]) -> set[Any]:
    if node["split"] is None:
        return set()
    place, sides = node["split"]
    found = {(place, sides[1] if isinstance(sides, tuple) else None)}
    for child in node["children"]:
        found |= terms_of(child)
    return found


def value_of(term: Any, cells: list[Any]) -> float:
    place, codes = term
    return float(cells[place] if codes is None else cells[place] in codes)


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve linear equations by Gauss's elimination with the greatest pivot."""
    size = len(right)
    lines = [[*line, right[i]] for i, line in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda j, i=i: abs(lines[j][i]))
        lines[i], lines[pivot] = lines[pivot], lines[i]
        for j in range(i + 1, size):
            factor = lines[j][i] / lines[i][i]
            lines[j] = [a - factor * b for a, b in zip(lines[j], lines[i], strict=True)]
    answer = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(lines[i][j] * answer[j] for j in range(i + 1, size))
        answer[i] = (lines[i][size] - rest) / lines[i][i]
    return answer


def regression(rows: list[Any], terms: list[Any]) -> tuple[float, list[float]]:
    """Return intercept and coefficients, the terms scaled to deviation 1."""
    total = weight_of(rows)
    columns = [[value_of(term, cells) for cells, *_ in rows] for term in terms]
    weights = [w for *_, w in rows]
    means = [
        sum(v * w for v, w in zip(c, weights, strict=True)) / total for c in columns
    ]
    scales, scaled = [], []
    for column, centre in zip(columns, means, strict=True):
        pairs = list(zip(column, weights, strict=True))
        scale = sqrt(sum(w * (v - centre) ** 2 for v, w in pairs) / (total - 1))
        scales.append(scale)
        scaled.append([(v - centre) / scale for v in column])
    centre_y = mean_of(rows)
    numbers = [y - centre_y for _, y, _ in rows]
    matrix = [
        [sum(w * a * b for w, a, b in zip(weights, x, z, strict=True)) for z in scaled]
        for x in scaled
    ]
    for i in range(len(terms)):
        matrix[i][i] += 1e-8
    right = [
        sum(w * a * b for w, a, b in zip(weights, x, numbers, strict=True))
        for x in scaled
    ]
    slopes = solved(matrix, right) if terms else []
    found = [slope / scale for slope, scale in zip(slopes, scales, strict=True)]
    inner = sum(c * m for c, m in zip(found, means, strict=True))
    return centre_y - inner, found


def predicted(model: Any, cells: list[Any]) -> float:
    intercept, coefficients = model
    return intercept + sum(c * value_of(t, cells) for t, c in coefficients.items())


def error_of(rows: list[Any], model: Any) -> float:
    return sum(w * (y - predicted(model, cells)) ** 2 for cells, y, w in rows)


def linear(rows: list[Any], terms: list[Any]) -> Any:
    """Return the model after dropping collinear terms, then those that do not pay."""
    total = weight_of(rows)
    spread = variance(rows) * total
    terms = [t for t in terms if len({value_of(t, cells) for cells, *_ in rows}) > 1]
    if spread < 1e-12:
        terms = []

    def importance(coefficients: list[float], terms: list[Any]) -> list[float]:
        found = []
        for term, coefficient in zip(terms, coefficients, strict=True):
            as_target = [(c, value_of(term, c), w) for c, _, w in rows]
            found.append(abs(coefficient) * sqrt(variance(as_target) * total / spread))
        return found

    def fit(terms: list[Any]) -> tuple[Any, float, list[float]]:
        intercept, coefficients = regression(rows, terms)
        model = (intercept, dict(zip(terms, coefficients, strict=True)))
        error = max(error_of(rows, model), TOLERANCE * spread)
        return model, error, importance(coefficients, terms)

    model, error, sizes = fit(terms)
    while terms and max(sizes) > 1.5 + CLOSE:
        place = next(i for i, s in enumerate(sizes) if s >= max(sizes) - CLOSE)
        terms = terms[:place] + terms[place + 1 :]
        model, error, sizes = fit(terms)
    full, n_full = error, len(terms) + 1
    score = total + n_full
    while terms:
        place = next(i for i, s in enumerate(sizes) if s <= min(sizes) + CLOSE)
        fewer = terms[:place] + terms[place + 1 :]
        later, error, smaller = fit(fewer)
        akaike = error / full * (total - n_full) + 2 * (len(fewer) + 1)
        if not akaike < score - CLOSE:
            break
        terms, model, sizes, score = fewer, later, smaller, akaike
    return model


def sorted_terms(node: dict[str, Any]) -> list[Any]:
    return sorted(terms_of(node), key=lambda t: (t[0], -len(t[1] or ()), t[1] or ()))


def fit_all(node: dict[str, Any]) -> None:
    node["model"] = linear(node["rows"], sorted_terms(node))
    for child in node["children"]:
        fit_all(child)


def adjusted(error: float, count: int, weight: float) -> float:
    if weight <= count:
        return 10 * sqrt(error / weight)
    return sqrt(error / weight) * (weight + 2 * count) / (weight - count)


def prune(node: dict[str, Any], negligible: float) -> tuple[float, int]:
    """Prune below a node; return the squared error and the parameters of the rest."""
    rows = node["rows"]
    own = error_of(rows, node["model"]), len(node["model"][1]) + 1
    if not node["children"]:
        return own
    parts = [prune(child, negligible) for child in node["children"]]
    below = sum(e for e, _ in parts), sum(n for _, n in parts) + 1
    as_leaf = adjusted(*own, weight_of(rows))
    as_tree = adjusted(*below, weight_of(rows))
    if as_leaf <= as_tree * (1 + CLOSE) or as_leaf < negligible:
        node["split"], node["children"] = None, []
        return own
    return below


def smoothed(path: list[dict[str, Any]], constant: float, cells: list[Any]) -> float:
    """Return the prediction of the last node of a path, smoothed up to the root."""
    number = predicted(path[-1]["model"], cells)
    for above, node in reversed(list(pairwise(path))):
        n, q = weight_of(node["rows"]), predicted(above["model"], cells)
        number = (n * number + constant * q) / (n + constant)
    return number


def leaf_path(root: dict[str, Any], cells: list[Any]) -> list[dict[str, Any]]:
    path = [root]
    while path[-1]["children"]:
        place, sides = path[-1]["split"]
        right = (
            cells[place] in sides[1]
            if isinstance(sides, tuple)
            else (cells[place] > sides)
        )
        path.append(path[-1]["children"][int(right)])
    return path


def model_tree(rows: list[Any], kinds: list[str], sizes: list[int]) -> Any:
    """Return the root of a pruned model tree over rows without missing cells."""
    least = 0.05 * sqrt(variance(rows))
    root = grown(rows, orders(rows, kinds, sizes), least)
    fit_all(root)
    prune(root, 1e-5 * sqrt(variance(rows)))
    return root
