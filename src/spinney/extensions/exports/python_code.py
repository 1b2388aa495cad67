"""A model as a Python module without imports.

The operations are those of :mod:`spinney.trees.predict.flat_tree`, in the same order,
so that predictions have the same bits.
"""

from spinney.extensions.exports.form_data import Language
from spinney.extensions.exports.portable import Portable


def to_python(form: Portable) -> str:
    """Return Python with ``predict(row)`` and, for classes, ``probabilities(row)``.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> names = {}
    >>> exec(to_python(portable(spinney.grow(shop, "sold", recipe="id3"))), names)
    >>> names["predict"]({"size": 3}), names["probabilities"]({"size": None})
    ('yes', {'no': 0.5, 'yes': 0.5})
    """
    return _LANGUAGE.text(form)


_PARTS = {
    "missing": """\
# None and NaN are missing values.
#""",
    "about": """\
# A node asks [column, upper bounds, nodes] or [column, {text: node}], in this order
# until one of them knows the next node. Other rows go "else", or "divide" by shares.
""",
    "numeric": '''

def predict(row):
    """Return the number that is predicted of a row, a mapping of values by column."""
    return _says(row)[0]
''',
    "classes": '''

def predict(row):
    """Return the class of a row, a mapping of values by column."""
    merits = shares = _says(row)
    if COSTS:
        merits = [-sum(s * cost for s, cost in zip(shares, line)) for line in COSTS]
    return CLASSES[_best(merits)]
''',
    "labels": '''

def predict(row):
    """Return the class of a row, a mapping of values by column."""
    cells, node = _cells(row), NODES[ROOTS[0]]
    while "ask" in node:
        node = NODES[_following(cells, node)]
    return CLASSES[node["label"]]
''',
    "shares": '''

def probabilities(row):
    """Return the share of each class for a row, a mapping of values by column."""
    return dict(zip(CLASSES, _says(row)))
''',
    "walk": '''
def _best(merits):
    """Return the last of the best, within 1e-12: rounding decides nothing."""
    best = max(merits)
    least = best - 1e-12 * max(1.0, abs(best))
    return max(at for at, merit in enumerate(merits) if merit >= least)


def _says(row):
    """Return the mean of what the trees say of a row, or of their votes."""
    cells, totals = _cells(row), None
    for root in ROOTS:
        says = _tree_says(cells, root)
        if MAJORITY:
            best = _best(says)
            says = [float(at == best) for at in range(len(says))]
        totals = says if totals is None else [t + s for t, s in zip(totals, says)]
    return [total / len(ROOTS) for total in totals]


def _tree_says(cells, root):
    """Return what the leaves of a tree say of a row, each by its part of the row."""
    totals, here = [0.0] * (len(CLASSES) or 1), [(root, 1.0)]
    while here:
        whole, divided = [], []
        for number, weight in here:
            node = NODES[number]
            if "ask" not in node:
                says = node["say"] if "say" in node else [_line(cells, node)]
                totals = [total + said * weight for total, said in zip(totals, says)]
                continue
            following = _following(cells, node)
            if following is not None:
                whole.append((following, weight))
                continue
            parts = [(child, weight * share) for child, share in node["divide"]]
            divided += [(child, part) for child, part in parts if part > 0]
        here = whole + divided
    return totals


def _following(cells, node):
    """Return the node that comes next, None where the row is divided."""
    for column, asks, *nodes in node["ask"]:
        cell = cells[column]
        if cell is None:
            continue
        if nodes:
            return nodes[0][sum(cell > bound for bound in asks)]
        if cell in asks:
            return asks[cell]
    return node.get("else")


def _line(cells, node):
    """Return what the linear model of a leaf says."""
    total = 0.0
    for column, factor, missing, *texts in node["line"]:
        cell = cells[column]
        if texts:
            cell = texts[0].get(cell)
        total += factor * (missing if cell is None else cell)
    return total + node["plus"]


def _cells(row):
    """Return the cells of a row, and those that are made of them."""
    cells = _read(row)
    for name, formula in FORMULAS:
        cells[name] = _made(cells, formula)
    return cells
''',
    "centres": '''

def predict(row):
    """Return the cluster of a row, a mapping of values by column."""
    cells, n = _read(row), CENTRES["clusters"]
    totals, others, numbers = [0.0] * n, [0.0] * n, []
    for name, scale, centres in CENTRES["numbers"]:
        cell = cells[name]
        if cell is None and CENTRES["missing"]:
            continue
        if cell is None:
            raise ValueError(f"column {name!r} is missing")
        if abs(cell / scale) == float("inf"):
            raise ValueError(f"column {name!r} holds {cell!r}, too large to measure")
        numbers.append([cell / scale, *centres])
    # Squares of very large numbers are those of a part of them.
    largest, part = max([abs(each) for line in numbers for each in line] or [0]), 1.0
    while largest / part >= 2.0**400:
        part *= 2
    for cell, *centres in numbers:
        parts = [cell / part - centre / part for centre in centres]
        totals = [total + apart * apart for total, apart in zip(totals, parts)]
    for name, by_text in CENTRES["texts"]:
        if cells[name] is not None:
            parts = by_text.get(cells[name], [1.0] * n)
            others = [other + apart for other, apart in zip(others, parts)]
    gamma = CENTRES["gamma"] / part / part
    totals = [total + gamma * other for total, other in zip(totals, others)]
    return totals.index(min(totals))
''',
    "read": '''
def _read(row):
    """Return the cells of a row: numbers and texts, None where missing."""
    cells = {}
    for name, form in COLUMNS:
        value = row.get(name) if "optional" in form else row[name]
        if type(value).__name__ == "datetime64":
            value = value.astype("datetime64[us]")
        value = value.item() if hasattr(value, "item") else value
        if value is None or value != value or value == "":
            cells[name] = None
        elif "number" in form:
            number = _time(name, value, form["time"]) if "time" in form else value
            cells[name] = _number(name, number, form["number"])
        elif isinstance(value, bool):
            cells[name] = form["words"][value]
        else:
            whole = isinstance(value, float) and value == int(value)
            text = str(int(value) if whole else value)
            cells[name] = text.lower() if form["small"] else text
    return cells


def _number(name, value, missing):
    """Return a number, None where it stands for a missing one."""
    text = value if isinstance(value, str) else ""
    if "_" in text or not text.isascii():
        raise ValueError(f"column {name!r} holds {value!r}, which is no number")
    number = float(value)
    if number != number or number in missing:
        return None
    if abs(number) == float("inf"):
        raise ValueError(f"column {name!r} holds {value!r}, which is not finite")
    return number
''',
    "make": '''
def _made(cells, formula):
    """Return a cell that is made of others; None where one of them is missing."""
    if "both" in formula:
        holds = [_holds(cells[column], *asks) for column, *asks in formula["both"]]
        return None if None in holds else "true" if all(holds) else "false"
    if "ratio" in formula:
        first, second = (cells[column] for column in formula["ratio"])
        if first is None or not second:
            return None
        number = first / second
    else:
        if any(cells[column] is None for column, _ in formula["sum"]):
            return None
        first, *others = (cells[column] * factor for column, factor in formula["sum"])
        number = first
        for other in others:
            number += other
    return number if abs(number) < float("inf") else None


def _holds(cell, asks, missing):
    """Return whether a cell satisfies a clause; None where it is missing."""
    if cell is None or isinstance(asks, dict) and cell not in asks:
        return True if missing else None
    if isinstance(asks, dict):
        return asks[cell]
    low, high = asks
    return (low is None or cell > low) and (high is None or cell <= high)
''',
    "times": '''
import datetime


def _time(name, value, kind):
    """Return a date or time as the number that it stands for: days or seconds."""
    if isinstance(value, str):
        value = _from_text(name, value, kind)
    if kind == "clock" and isinstance(value, datetime.time):
        whole = (value.hour * 60 + value.minute) * 60 + value.second
        return (whole * 1000000 + value.microsecond) / 1e6
    if kind != "clock" and isinstance(value, datetime.datetime):
        since = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
        since -= value.utcoffset() or datetime.timedelta()
        micros = since // datetime.timedelta(microseconds=1)
        return float(since.days) if kind == "day" else micros / 1e6
    if kind != "clock" and isinstance(value, datetime.date):
        since = value - datetime.date(1970, 1, 1)
        return float(since.days) if kind == "day" else since.total_seconds()
    if isinstance(value, (datetime.date, datetime.time)):
        _refuse_time(name, value, kind)
    return value


def _from_text(name, text, kind):
    """Return what a text of ISO 8601 is: 2026-11-18, 2026-11-18T10:30, 10:30."""
    first = datetime.time if kind == "clock" else datetime.date
    for each in (first, datetime.datetime)[: 1 if kind == "clock" else 2]:
        try:
            return each.fromisoformat(text)
        except ValueError:
            continue
    _refuse_time(name, text, kind)


def _refuse_time(name, value, kind):
    """Say what a column holds instead."""
    such = "date such as 2026-11-18"
    if kind == "clock":
        such = "time of day such as 09:30:00"
    raise ValueError(f"column {name!r} holds {value!r}, which is no {such}")
''',
}

_LANGUAGE = Language(
    statement="{} = {}",
    comment="#",
    literal=repr,
    times="as one of datetime, as text of ISO 8601, or as {}",
    parts=_PARTS,
)
