"""Contracts of our own for import-linter; ``pyproject.toml`` registers them."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grimp import DetailedImport, ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.helpers import module_expressions_to_modules

__all__ = ["DoorsContract"]


class DoorsContract(Contract):
    """From another package one imports what its ``__init__`` offers.

    A plain module may be imported by the modules of its own top-level package, and by
    nobody else; the packages within a package are doors, too. Modules that lie directly
    in the root package are open to all.

    Options
    -------
    open : list of module expressions, optional
        Modules, or packages with all that is in them, that anyone may import.
    interfaces : list of module expressions, optional
        Modules of the core that extensions may import beside its doors, or of an
        extension that others may import.
    open_folders : list of str, optional
        Packages of this name, wherever they lie, whose modules anyone may import:
        ``loops`` if not said.
    """

    type_name = "doors"

    open: Any = fields.SetField(subfield=fields.ModuleExpressionField(), default=set())
    interfaces: Any = fields.SetField(
        subfield=fields.ModuleExpressionField(), default=set()
    )
    open_folders: Any = fields.SetField(
        subfield=fields.StringField(), default={"kernels"}
    )

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: FBT001
        """Find every import that goes past a door."""
        broken = list(self._past_doors(graph))
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each broken import."""
        for line in lines(check.metadata["broken"]):
            output.print(line)
        output.new_line()

    def _past_doors(self, graph: ImportGraph) -> Iterator[DetailedImport]:
        """Give the details of each import that goes past a door."""
        interfaces = _modules_of(graph, self.interfaces)
        for imported in graph.modules - self._open_modules(graph):
            for importer in graph.find_modules_that_directly_import(imported):
                if imported in interfaces and is_extension(importer):
                    continue
                if top_level(importer) != top_level(imported):
                    yield from graph.get_import_details(
                        importer=importer, imported=imported
                    )

    def _open_modules(self, graph: ImportGraph) -> set[str]:
        """Return the modules that anyone may import: doors, and those said open."""
        return _modules_of(graph, self.open) | {
            module
            for module in graph.modules
            if is_in_root(module)
            or is_package(module)
            or folder(module) in self.open_folders
        }


def _modules_of(graph: ImportGraph, expressions: Any) -> set[str]:
    """Return the modules that expressions name, with all that is in packages."""
    named = module_expressions_to_modules(
        graph, expressions, as_packages=True, raise_if_unmatched=True
    )
    return {module.name for module in named}


def is_extension(module: str) -> bool:
    """Whether a module lies in an extension."""
    return module.split(".")[1:2] == ["extensions"]


def lines(broken: Iterable[DetailedImport]) -> list[str]:
    """Return a line for each import, in order."""
    places = sorted((b["importer"], b["imported"], b["line_number"]) for b in broken)
    return [
        f"{importer} -> {imported} (line {number})"
        for importer, imported, number in places
    ]


def top_level(module: str) -> str:
    """Return the package or module directly below the root that a module lies in.

    Each extension is one.
    """
    names = module.split(".")
    return ".".join(names[: 3 if is_extension(module) else 2])


def folder(module: str) -> str:
    """Return the name of the package that holds a module."""
    return module.split(".")[-2]


def is_in_root(module: str) -> bool:
    """Whether a module is the root package or lies directly in it."""
    return module.count(".") <= 1


def is_package(module: str) -> bool:
    """Whether a module is a package, even one that holds no module."""
    root, *names = module.split(".")
    spec = find_spec(root)
    places = (spec and spec.submodule_search_locations) or []
    return any(Path(place, *names, "__init__.py").exists() for place in places)
