"""Change the code in small ways, and see that a test fails for each.

``python -m tools.mutate --count 30`` draws changes of the criteria, the search and the
pruners: ``<`` becomes ``<=``, ``+`` becomes ``-``, ``and`` becomes ``or``, a number the
next one, a truth its opposite. For each the tests of that area run, until one fails. A
change that no test notices *survives*: it is printed with its line, and either wants a
test or makes no difference to anybody, which ``docs/trust.md`` then explains.

Each change runs in a forked process, where the module is imported with other code; no
file is written. What Numba compiles (folders called ``loops``) is left out: its twin in
plain Python is what the tests hold it to.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import io
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

__all__ = ["AREAS", "Mutant", "mutants_of", "survives"]

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "spinney"
SECONDS = (
    300  # of a processor, for all tests of an area: a change that hangs is noticed
)

AREAS = {
    "criteria": (
        "trees/criteria",
        (
            *("tests/trees/test_criteria.py", "tests/trees/test_separation.py"),
            *("tests/trees/test_significance.py", "tests/trees/test_costs.py"),
            *("tests/trees/test_significance_criteria.py", "tests/textbook"),
            *("tests/trees/test_user_function.py", "tests/properties/test_twin.py"),
            *("tests/oracle/test_chaid.py", "tests/output/test_node_explanation.py"),
            *("tests/search/test_groupings.py", "tests/search/test_bounded_subsets.py"),
            *("tests/growth/test_learner_many_values.py", "src/spinney/trees/criteria"),
        ),
    ),
    "search": (
        "search",
        (
            *("tests/search", "tests/textbook", "tests/properties"),
            *("tests/oracle", "tests/growth/test_learner.py", "src/spinney/search"),
            "tests/output/test_node_explanation.py",
        ),
    ),
    "pruners": (
        "growth/prune",
        (
            *("tests/growth/test_prune_methods.py", "tests/growth/test_error_based.py"),
            *("tests/growth/test_prune_methods_each.py",),
            *("tests/growth/test_prune_folds.py", "tests/growth/test_error_limits.py"),
            *(
                "tests/growth/test_while_growing.py",
                "tests/growth/test_reserve_rows.py",
            ),
            *("tests/growth/test_error_limits_added.py", "tests/models/test_prune.py"),
            *("tests/models/test_prune_record.py", "tests/properties/test_pruning.py"),
            *("tests/oracle/test_rpart_pruning.py",),
            *("tests/oracle/test_scikit_learn_pruning.py", "src/spinney/growth/prune"),
        ),
    ),
}

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed module: where, what it was and what it is."""

    path: Path
    line: int
    before: str
    after: str
    code: str

    def __str__(self) -> str:
        shown = self.path.relative_to(ROOT)
        return f"{shown}:{self.line}: {self.before}  →  {self.after}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Give every change of a module.

    >>> path = SOURCE / "trees" / "criteria" / "impurity.py"
    >>> any("→" in str(mutant) for mutant in mutants_of(path))
    True
    """
    tree = ast.parse(path.read_text("utf-8"))
    unseen = _unseen(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in unseen:
            continue
        if not _change(deepcopy(node)):
            continue
        copy = deepcopy(tree)
        changed = next(islice(ast.walk(copy), number, None))
        _change(changed)
        code = ast.unparse(ast.fix_missing_locations(copy))
        before, after = (
            ast.unparse(each).partition("\n")[0] for each in (node, changed)
        )
        yield Mutant(path, getattr(node, "lineno", 0), before[:70], after[:70], code)


def _unseen(tree: ast.Module) -> set[int]:
    """Return what makes no difference when tests run: annotations, texts, imports."""
    roots: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            roots.append(node)
        elif (isinstance(node, ast.arg) and node.annotation) or isinstance(
            node, ast.AnnAssign
        ):
            roots.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            roots += [node.returns] if node.returns else []
            roots += node.decorator_list
    return {id(inner) for root in roots for inner in ast.walk(root)}


def _change(node: ast.AST) -> bool:
    """Change a node in place; return whether there is a way."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        node.ops[0] = COMPARED[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in COMPUTED:
        node.op = COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        node.value += 1
    elif isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    else:
        return False
    return True


class Changed(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Import one module with the code of a mutant."""

    def __init__(self, mutant: Mutant) -> None:
        parts = mutant.path.relative_to(SOURCE.parent).with_suffix("").parts
        self.name, self.mutant = ".".join(parts), mutant

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        """Return where the module comes from, if it is the one."""
        if name != self.name:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(self.mutant.path))
        spec.has_location = True
        return spec

    def get_source(self, _: str) -> str:
        """Return the changed code."""
        return self.mutant.code

    def is_package(self, _: str) -> bool:
        """Say that it is a module."""
        return False


def survives(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether all tests pass with a changed module."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os._exit(_run(mutant, tests))
    status = os.waitpid(child, 0)[1]
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def _run(mutant: Mutant, tests: Sequence[str]) -> int:
    import pytest

    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.meta_path.insert(0, Changed(mutant))  # type: ignore[arg-type]
    quick = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with redirect_stdout(io.StringIO()):
        return int(pytest.main([*quick, *tests]))


def drawn(area: str, count: int, seed: int) -> list[Mutant]:
    """Return some of the changes of an area, each as likely as any other."""
    folder, _ = AREAS[area]
    paths = sorted((SOURCE / folder).rglob("*.py"))
    plain = [path for path in paths if "loops" not in path.parts]
    weights = [len(path.read_text("utf-8")) for path in plain]
    random, chosen = Random(f"{area} {seed}"), list[Mutant]()
    cache: dict[Path, list[Mutant]] = {}
    for path in random.choices(plain, weights, k=count):
        mutants = cache.setdefault(path, list(mutants_of(path)))
        if mutants:
            chosen.append(random.choice(mutants))
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Try some changes, and list those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=30, help="changes of each area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--areas", default=",".join(AREAS), help="divided by commas")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    for warm in ("numpy", "scipy.stats", "numba", "sklearn.tree", "pandas", "pytest"):
        __import__(warm)
    tried, survivors = Counter[str](), list[Mutant]()
    for area in options.areas.split(","):
        for mutant in drawn(area, options.count, options.seed):
            tried[area] += 1
            if survives(mutant, AREAS[area][1]):
                survivors.append(mutant)
                print(f"survives: {mutant}", flush=True)
            else:
                print(f"noticed:  {mutant}", flush=True)
    counts = ", ".join(f"{n} of {area}" for area, n in tried.items())
    print(f"{tried.total()} changes ({counts}): {len(survivors)} survive")
    return 0


if __name__ == "__main__":
    sys.exit(main())
