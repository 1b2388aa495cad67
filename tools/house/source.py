"""Measures of the source: public names, lines, functions."""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["Figure", "Module", "Section", "read_modules", "source_figures"]

Figure = int | float | str | list[int]
Section = dict[str, Figure]
Function = ast.FunctionDef | ast.AsyncFunctionDef

MANY_PARAMETERS = (8, 10)
# A display that names so many members of an enumeration gives each a number.
FEWEST_NUMBERED = 3


@dataclass(frozen=True)
class Module:
    """A file of the package: where it lies, its text, and what that says."""

    path: Path
    text: str
    tree: ast.Module


def read_modules(package: Path) -> list[Module]:
    """Return every module of the package, in the order of their paths."""
    modules = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path.relative_to(package), text, ast.parse(text)))
    return modules


def source_figures(package: Path, pyproject: Path) -> dict[str, Section]:
    """Return all figures that need no run."""
    modules = read_modules(package)
    return {
        "hall": hall(modules),
        "layers": {"layers of the contract": layers(pyproject)},
        "names": stems(modules),
        "lines": lines(modules),
        "core and extensions": extensions(modules),
        "functions": functions(modules),
        "forms of a tree": forms(modules),
    }


def hall(modules: Sequence[Module]) -> Section:
    """Return how many modules and packages lie directly in the package."""
    doors = {module.path.parts[0] for module in modules}
    n_modules = sum(door.endswith(".py") for door in doors)
    return {
        "top-level modules": n_modules,
        "top-level packages": len(doors) - n_modules,
    }


def extensions(modules: Sequence[Module]) -> Section:
    """Return the lines of the core and of each extension, and who imports them."""
    sizes, imports = Counter[str](), 0
    for module in modules:
        parts = module.path.parts
        name = parts[1] if parts[0] == "extensions" and len(parts) > 2 else "core"
        sizes[name] += module.text.count("\n")
        if parts[0] != "extensions":
            imports += sum(map(_imports_extension, _statements_at_run(module.tree)))
    core = sizes.pop("core")
    return {
        "core, lines": core,
        "extensions, lines": sum(sizes.values()),
        **{f"  {name}": sizes[name] for name in sorted(sizes)},
        "imports of extensions from the core": imports,
    }


def _statements_at_run(tree: ast.Module) -> Iterator[ast.AST]:
    """Give all statements but those for type checkers alone."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        waiting += ast.iter_child_nodes(node)


def _imports_extension(node: ast.AST) -> bool:
    names = []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    return any(name.startswith("spinney.extensions") for name in names)


def layers(pyproject: Path) -> int:
    """Return how many layers the first contract of layers has."""
    with pyproject.open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return next(len(c["layers"]) for c in contracts if c["type"] == "layers")


def stems(modules: Iterable[Module]) -> Section:
    """Return how many file names occur more than once, and in how many files."""
    times = Counter(
        module.path.stem
        for module in modules
        if module.path.stem != "__init__" and "kernels" not in module.path.parts[:-1]
    )
    repeated = [count for count in times.values() if count > 1]
    return {
        "module names that occur more than once": len(repeated),
        "files that bear such a name": sum(repeated),
    }


def lines(modules: Sequence[Module]) -> Section:
    """Return how many lines there are of each kind."""
    kinds: Counter[str] = Counter()
    for module in modules:
        kinds.update(line_kinds(module))
    imports = sum(len(import_lines(module.tree)) for module in modules)
    offered = sum(len(offer_lines(module.tree)) for module in modules)
    return {
        "files": len(modules),
        "lines": kinds.total(),
        "code": kinds["code"],
        "docstring": kinds["docstring"],
        "comment": kinds["comment"],
        "blank": kinds["blank"],
        "import (of code)": imports,
        "__all__ (of code)": offered,
    }


def line_kinds(module: Module) -> Counter[str]:
    """Return how many lines of a module are code, docstring, comment and blank."""
    documented = docstring_lines(module.tree)
    kinds: Counter[str] = Counter()
    for number, line in enumerate(module.text.splitlines(), start=1):
        written = line.strip()
        if number in documented:
            kinds["docstring"] += 1
        elif not written:
            kinds["blank"] += 1
        elif written.startswith("#"):
            kinds["comment"] += 1
        else:
            kinds["code"] += 1
    return kinds


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of all docstrings."""
    documented: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            documented |= docstring_of(node)
    return documented


def docstring_of(node: ast.Module | ast.ClassDef | Function) -> set[int]:
    """Return the numbers of the lines of the docstring, if there is one."""
    if ast.get_docstring(node, clean=False) is None:
        return set()
    return span(node.body[0])


def import_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of all import statements."""
    statements = (
        n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)
    )
    return set().union(*map(span, statements))


def offer_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that set ``__all__``."""
    offered: set[int] = set()
    for statement in tree.body:
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            offered |= span(statement)
    return offered


def span(node: ast.stmt) -> set[int]:
    """Return the numbers of the lines that a statement takes."""
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def functions(modules: Sequence[Module]) -> Section:
    """Return how many functions there are, how long, and with how many parameters."""
    defined = [function for module in modules for function in functions_of(module.tree)]
    lengths = [len(span(function) - docstring_of(function)) for function in defined]
    widths = [positional(function) for function in defined]
    figures: Section = {
        "functions": len(defined),
        "private functions used once": sum(map(used_once, modules)),
        "median length": median(lengths),
        "longest": max(lengths),
    }
    for many in MANY_PARAMETERS:
        figures[f"with {many} or more positional parameters"] = sum(
            width >= many for width in widths
        )
    return figures


def used_once(module: Module) -> int:
    """Return how many private functions of a module are named once beside their own."""
    names = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    private = (f.name for f in functions_of(module.tree) if f.name.startswith("_"))
    return sum(names[name] == 1 for name in private)


def functions_of(tree: ast.Module) -> Iterator[Function]:
    """Give all functions, methods and functions within functions."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def positional(function: Function) -> int:
    """Return how many parameters a caller can pass by position."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def forms(modules: Sequence[Module]) -> Section:
    """Return how many places make a node, and how many number the reasons of leaves."""
    return {
        "places that make a Node": sum(calls(m.tree, "Node") for m in modules),
        "modules that make a Node": sum(calls(m.tree, "Node") > 0 for m in modules),
        "numberings of Reason": sum(numberings(m.tree, "Reason") for m in modules),
    }


def calls(tree: ast.Module, name: str) -> int:
    """Return how many calls of ``name(…)`` or ``module.name(…)`` there are."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(
        name in (getattr(f, "id", None), getattr(f, "attr", None)) for f in called
    )


def numberings(tree: ast.Module, enumeration: str) -> int:
    """Return how many displays and comprehensions go through an enumeration."""
    return sum(numbers(node, enumeration) for node in ast.walk(tree))


def numbers(node: ast.AST, enumeration: str) -> bool:
    """Whether a node lists members of an enumeration, or takes them all."""
    if isinstance(node, ast.comprehension):
        return is_name(node.iter, enumeration)
    if not isinstance(node, ast.Tuple | ast.List | ast.Dict):
        return False
    items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
    takes_all = any(
        isinstance(item, ast.Starred) and is_name(item.value, enumeration)
        for item in items
    )
    members = sum(
        isinstance(item, ast.Attribute) and is_name(item.value, enumeration)
        for item in items
    )
    return takes_all or members >= FEWEST_NUMBERED


def is_name(node: ast.AST, name: str) -> bool:
    """Whether a node is this name and nothing else."""
    return isinstance(node, ast.Name) and node.id == name
