"""A model as one C99 file: tables and functions, without memory allocation.

The functions, in ``model.c``, match those of ``python_code``. Tables are flat: a node
has a range of questions, and a question a range of answers.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite

from spinney._support.json_text import json_text
from spinney._support.text import value_text
from spinney.extensions.exports.form_data import head, read_parts
from spinney.extensions.exports.portable import (
    DerivedCell,
    FormCondition,
    FormConjunction,
    FormNode,
    FormSplit,
    FormSum,
    Input,
    Portable,
    free_name,
    refuse_unsupported,
)

_PARTS = read_parts("model.c")
# Reserved words of C and C++, names of <math.h> and <string.h>, and our own names.
RESERVED_WORDS = re.compile(
    "(M|FP|N|MATH|HUGE)_|("
    "NAN|NULL|INFINITY|MAJORITY|MOST_PARTS|linux|unix|"
    "auto|break|case|char|class|const|continue|default|delete|do|"
    "double|else|enum|extern|float|for|goto|if|inline|int|long|new|"
    "register|restrict|return|short|signed|sizeof|static|struct|switch|"
    "template|this|typedef|union|unsigned|void|volatile|while"
    ")$"
)


def to_c(form: Portable) -> str:
    """Return C with ``model_predict`` and, for classes, ``model_probabilities``.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> code = to_c(portable(spinney.grow(shop, "sold", recipe="id3")))
    >>> print(code[code.index("struct model_row") : code.index("#define")])
    struct model_row {
      double size; // "size": a number
    };
    <BLANKLINE>
    """
    names = field_names(form.columns)
    pairs = [*zip(names, form.columns, strict=True)]
    row = [
        head(form, "//", json_text),
        _PARTS["about"],
        "struct model_row {",
        *(f"  {_field(n, c)} // {json_text(c.name)}: {_asked(c)}" for n, c in pairs),
        *(() if pairs else ("  int nothing; // no column is used",)),
        "};",
        "",
    ]
    body = _by_nodes(form, pairs) if form.centres is None else _by_centres(form, pairs)
    return "\n".join([*row, *body])


def _by_nodes(form: Portable, pairs: list[tuple[str, Input]]) -> list[str]:
    """Return the tables of trees or rules, and their functions."""
    tables = _Tables(form)
    classes = [string(value_text(value)) for value in form.target.classes]
    return [
        *tables.sizes(),
        *([f"const char *const model_classes[] = {_list(classes)};"] * bool(classes)),
        _PARTS["structs"],
        *[_PARTS["number"]]
        * any(not isinstance(derived, FormConjunction) for derived in form.derived),
        *[_PARTS["same"]]
        * any(isinstance(derived, FormConjunction) for derived in form.derived),
        *tables.lines(),
        *([_costs(form.cost_lines)] if form.cost_lines is not None else ()),
        "",
        "static void read_cells(const struct model_row *row, struct cell *cells) {",
        *(f"  {_read(at, *pair)}" for at, pair in enumerate(pairs)),
        *(
            f"  {line}"
            for at, derived in enumerate(form.derived, len(form.columns))
            for line in _derived_cell(at, derived)
        ),
        *(() if pairs else ("  (void)row; (void)cells;",)),
        "}",
        _PARTS["walk"],
        _PARTS["numeric"] if form.target.is_numeric else _classes(form),
    ]


def _by_centres(form: Portable, pairs: list[tuple[str, Input]]) -> list[str]:
    """Return the function that finds the nearest centre."""
    assert form.centres is not None
    numbers, texts = form.centres.numbers, form.centres.texts
    lines = [
        f"#define N_CLUSTERS {len(form.target.classes)}",
        "",
        "struct apart { const char *text; double from[N_CLUSTERS]; };",
        *(
            f"static const double CENTRES_{at}[N_CLUSTERS] = "
            f"{_list(map(repr, each.centres))};"
            for at, each in enumerate(numbers)
        ),
    ]
    for at, known in enumerate(texts):
        entries = [
            f"  {{{string(text)}, {_list(map(repr, distances))}}}"
            for text, distances in known.distances.items()
        ]
        content = ",\n".join(entries or ["  {0}"])
        lines.append(f"static const struct apart APART_{at}[] = {{\n{content}\n}};")
    lines += [_PARTS["number_apart"]] * bool(numbers)
    lines += [_PARTS["text_apart"]] * bool(texts)
    largest = max((abs(x) for each in numbers for x in each.centres), default=0.0)
    lines += [_PARTS["nearest"].replace("LARGEST", repr(largest))]
    reads = [(_read_number(*pairs[each.cell]), repr(each.scale)) for each in numbers]
    for number, scale in reads:
        lines.append(f"  largest = fmax(largest, fabs({number} / {scale}));")
    lines.append(_PARTS["power"])
    for at, (number, scale) in enumerate(reads):
        lines += [
            f"  if (!add_number({number}, {scale}, CENTRES_{at}, "
            f"{int(form.centres.allows_missing)}, power, totals))",
            "    return -1;",
        ]
    lines += [
        f"  add_text(row->{pairs[t.cell][0]}, APART_{at}, {len(t.distances)}, others);"
        for at, t in enumerate(texts)
    ]
    return [*lines, _PARTS["least"].replace("GAMMA", repr(form.centres.gamma))]


def field_names(columns: Iterable[Input]) -> list[str]:
    """Return distinct C names for columns, of letters, digits and underscores.

    >>> field_names([Input("a b", True), Input("A-b", True), Input("int", True)])
    ['a_b', 'A_b', 'int_']
    """
    names: list[str] = []
    for column in columns:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", column.name)[:60] or "_"
        if not name[0].isalpha() or name == "_":
            name = f"column_{name.strip('_')}".rstrip("_")
        if RESERVED_WORDS.match(name):
            name += "_"
        names.append(free_name(name, names, "_"))
    return names


def string(text: str) -> str:
    r"""Return a text as a C string literal in UTF-8.

    >>> print(string('say "hi" ??/ é'))
    "say \"hi\" \?\?/ \303\251"
    """
    if "\0" in text:
        refuse_unsupported("c", f"{text!r}, which has a NUL character", "rename it")
    signs = []
    for byte in text.encode("utf-8", "surrogatepass"):
        sign = chr(byte)
        if sign in '"\\?':
            signs.append(f"\\{sign}")
        else:
            signs.append(sign if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(signs)}"'


@dataclass
class _Tables:
    """The C tables of a model, filled node by node."""

    form: Portable
    answers: list[str] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill the tables."""
        for node in self.form.nodes:
            self.nodes.append(self._node(node))

    def _node(self, node: FormNode) -> str:
        start = len(self.splits), len(self.parts), len(self.terms), len(self.outputs)
        self.splits += [self._split(split) for split in node.splits]
        self.parts += [f"{{{child}, {share!r}}}" for child, share in node.parts]
        plus = 0.0
        if node.line is not None:
            plus = node.line.intercept
            for term in node.line.terms:
                first = len(self.answers)
                self._add_texts({t: (n, 0) for t, n in (term.texts or {}).items()})
                size = len(self.answers) - first
                numbers = f"{term.factor!r}, {term.missing!r}"
                self.terms.append(f"{{{term.cell}, {numbers}, {first}, {size}}}")
        elif not node.splits:
            self.outputs.append(_list(map(repr, node.outputs)))
        counts = (
            len(self.splits) - start[0],
            len(self.parts) - start[1],
            len(self.terms) - start[2],
        )
        outputs = start[3] if len(self.outputs) > start[3] else -1
        if outputs >= 0 and self.form.has_labels:
            self.labels.append(str(node.label))
        otherwise = -1 if node.default_branch is None else node.default_branch
        return (
            f"{{{start[0]}, {counts[0]}, {otherwise}, {start[1]}, {counts[1]}, "
            f"{outputs}, {start[2]}, {counts[2]}, {plus!r}}}"
        )

    def _split(self, split: FormSplit) -> str:
        first = len(self.answers)
        if split.texts is not None:
            self._add_texts({t: (0.0, node) for t, node in split.texts.items()})
        else:
            bounds = [*map(repr, split.cuts), "INFINITY"]
            pairs = zip(bounds, split.nodes, strict=True)
            self.answers += [f"{{0, {bound}, {node}}}" for bound, node in pairs]
        is_text = int(split.texts is not None)
        size = len(self.answers) - first
        return f"{{{split.cell}, {is_text}, {first}, {size}}}"

    def _add_texts(self, texts: Mapping[str, tuple[float, int]]) -> None:
        for text, (number, node) in texts.items():
            self.answers.append(f"{{{string(text)}, {number!r}, {node}}}")

    def sizes(self) -> list[str]:
        """Return the array sizes as constants."""
        form = self.form
        n_leaves = sum(not node.splits for node in form.nodes)
        return [
            f"#define N_CELLS {max(1, len(form.columns) + len(form.derived))}",
            f"#define N_OUTPUTS {form.target.n_outputs}",
            f"#define N_TREES {len(form.roots)}",
            f"#define MOST_PARTS {max(1, n_leaves) if form.divides else 1}",
            f"#define MAJORITY {int(form.majority)}",
        ]

    def lines(self) -> list[str]:
        """Return the array definitions; an empty array has a line of zeros."""
        rows = {
            "struct answer ANSWERS[]": self.answers,
            "struct question QUESTIONS[]": self.splits,
            "struct part PARTS[]": self.parts,
            "struct term TERMS[]": self.terms,
            "double SAYS[][N_OUTPUTS]": self.outputs,
            "struct node NODES[]": self.nodes,
            "int ROOTS[]": [str(root) for root in self.form.roots],
            **({"int LABELS[]": self.labels} if self.labels else {}),
        }
        return [
            f"static const {name} = {{\n  " + ",\n  ".join(each or ["{0}"]) + "\n};"
            for name, each in rows.items()
        ]


def _list(parts: Iterable[str]) -> str:
    return f"{{{', '.join(parts)}}}"


def _field(name: str, column: Input) -> str:
    return f"double {name};" if column.is_number else f"const char *{name};"


def _asked(column: Input) -> str:
    """Return the comment on a field."""
    if column.is_number:
        return "a number" if column.unit is None else f"a number of {column.unit}"
    return f"text, {len(column.values)} values"


def _read(at: int, name: str, column: Input) -> str:
    if not column.is_number:
        return f"cells[{at}].text = row->{name};"
    return f"cells[{at}].number = {_read_number(name, column)};"


def _read_number(name: str, column: Input) -> str:
    """Return the expression of a number of a row, NAN if missing."""
    lacks = " || ".join(f"row->{name} == {number!r}" for number in column.missing)
    return f"({lacks}) ? NAN : row->{name}" if lacks else f"row->{name}"


def _derived_cell(at: int, derived: DerivedCell) -> list[str]:
    """Return the lines that compute a derived cell."""
    if isinstance(derived, FormConjunction):
        known, accepted = zip(*map(_clause, derived.clauses), strict=True)
        return [
            f"cells[{at}].text = !({' && '.join(known)}) ? 0",
            f'  : {" && ".join(accepted)} ? "true" : "false";',
        ]
    if isinstance(derived, FormSum):
        parts = [f"{factor!r} * cells[{cell}].number" for cell, factor in derived.terms]
        return [f"cells[{at}].number = number_or_nan({' + '.join(parts)});"]
    first, second = (
        f"cells[{cell}].number" for cell in (derived.first, derived.second)
    )
    return [f"cells[{at}].number = number_or_nan({first} / {second});"]


def _clause(clause: FormCondition) -> tuple[str, str]:
    """Return two conditions: the clause's cell is known, and satisfies the clause."""
    cell, accepted = clause.cell, clause.accepted
    if isinstance(accepted, Mapping):
        yes = [text for text, held in accepted.items() if held]
        known, held = _is_any_of(cell, accepted), _is_any_of(cell, yes)
    else:
        name, (low, high) = f"cells[{cell}].number", accepted
        bounds = [f"{name} > {low!r}"] * isfinite(low)
        bounds += [f"{name} <= {high!r}"] * isfinite(high)
        known, held = f"!isnan({name})", " && ".join(bounds) or "1"
    return ("1", f"(!{known} || ({held}))") if clause.missing else (known, held)


def _is_any_of(cell: int, texts: Iterable[str]) -> str:
    same = [f"same(cells[{cell}].text, {string(text)})" for text in texts]
    return f"({' || '.join(same) or '0'})"


def _costs(cost_lines: list[list[float]]) -> str:
    lines = [_list(map(repr, line)) for line in cost_lines]
    return f"static const double COSTS[N_OUTPUTS][N_OUTPUTS] = {_list(lines)};"


def _classes(form: Portable) -> str:
    if form.has_labels:
        return _PARTS["shares"] + _PARTS["labels"]
    return _PARTS["shares"] + _PARTS["classes"].replace(
        "MERITS", _PARTS["by_cost"] if form.cost_lines is not None else ""
    )
