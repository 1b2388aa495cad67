"""Change the code in small ways, and see that a test fails for each.

``python -m tools.mutate --count 60`` draws changes of the criteria, the search and the
pruners: ``<`` becomes ``<=``, ``+`` becomes ``-``, ``and`` becomes ``or``, a number the
next one, a truth its opposite. For each some tests run, until one fails: those files of
tests that ran the changed line when branches were counted (``tools/branches.py``), the
quick ones first, or else those that are named for the area below. A change that no test
notices *survives*: it is printed with its line, and either wants a test or makes no
difference to anybody, which ``docs/trust.md`` then explains.

What became of each change is kept in ``build/mutate.json`` by a digest of the changed
module: a run that was ended goes on, an edited module is tried anew, and ``--again``
tries what has survived. Each change runs in a forked process, where
the module is imported with other code; no file is written. What Numba compiles (folders
called ``loops``) is left out: its twin in plain Python is what the tests hold it to.
"""

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from tools.covered_tests import FOLDER
from tools.pages import PAGE, dated, written

__all__ = ["AREAS", "Mutant", "drawn", "mutants_of", "survives", "tests_of"]

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "spinney"
KEPT = ROOT / "build" / "mutate.json"
COMMAND = "make mutate"
SECONDS = 60  # of a processor for a change; one that hangs is out of time
USUAL = 3.0  # seconds of a file of tests that is not known
ENOUGH = 30.0  # seconds that the tests of a change take, if it makes no difference

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

    @property
    def key(self) -> str:
        """The key of its verdict, which holds for this code with this change."""
        digest = sha256(self.code.encode()).hexdigest()[:16]
        return f"{self.path.relative_to(ROOT)} {digest}"

    def __str__(self) -> str:
        shown = self.path.relative_to(ROOT)
        return f"{shown}:{self.line}: {self.before}  →  {self.after}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Give every change of a module.

    >>> path = SOURCE / "trees" / "criteria" / "impurity.py"
    >>> any("→" in str(mutant) for mutant in mutants_of(path))
    True
    """
    return (mutant_at(path, number) for number in changeable(path))


def changeable(path: Path) -> list[int]:
    """Return the numbers of all nodes of a module that can be changed."""
    tree = ast.parse(path.read_text("utf-8"))
    unseen = _unseen(tree)
    numbered = list(enumerate(ast.walk(tree)))  # before anything is changed
    return [n for n, node in numbered if id(node) not in unseen and _change(node)]


def mutant_at(path: Path, number: int) -> Mutant:
    """Return the change of one node of a module."""
    tree = ast.parse(path.read_text("utf-8"))
    node = next(islice(ast.walk(tree), number, None))
    before = ast.unparse(node).partition("\n")[0]
    _change(node)
    after = ast.unparse(node).partition("\n")[0]
    code = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(path, getattr(node, "lineno", 0), before[:70], after[:70], code)


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


def outcome(mutant: Mutant, tests: Sequence[str]) -> str:
    """Return what becomes of a changed module: "survives" if all tests pass."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os._exit(_run(mutant, tests))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code > 2:  # pytest's own trouble: nothing is known of the change
        msg = f"pytest ended with {code} for {mutant}"
        raise RuntimeError(msg)
    if code == -signal.SIGXCPU:
        return "out of time"
    return "noticed" if code else "survives"


def survives(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether all tests pass with a changed module."""
    return outcome(mutant, tests) == "survives"


def unchanged(mutant: Mutant) -> Mutant:
    """Return the module of a change as it is: what must survive."""
    return replace(mutant, after=mutant.before, code=mutant.path.read_text("utf-8"))


def _run(mutant: Mutant, tests: Sequence[str]) -> int:
    import pytest

    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    changed = Changed(mutant)
    if changed.name in sys.modules:  # it would not be imported again
        return 3
    sys.meta_path.insert(0, changed)  # type: ignore[arg-type]
    try:
        importlib.import_module(changed.name)
    except Exception:  # noqa: BLE001  (tests cannot import it either)
        return 1
    quick = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    quick += ["--tb=no", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    with redirect_stdout(io.StringIO()):
        return int(pytest.main([*quick, *tests], plugins=[Unshrunk()]))


class Unshrunk:
    """Property tests that try the same each time, and fail at once."""

    def pytest_sessionstart(self) -> None:
        """Take the profile of the tests, without what makes a failure readable."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "unshrunk",
            settings.get_profile(settings.get_current_profile_name()),
            phases=phases,
            derandomize=True,
            database=None,
        )
        settings.load_profile("unshrunk")


@cache
def _contexts() -> Any:
    """Return which files of tests took which lines, if branches were counted."""
    if not (FOLDER / "data").exists():
        return None
    from coverage import CoverageData

    data = CoverageData(str(FOLDER / "data"))
    data.read()
    return data


@cache
def _seconds() -> Counter[str]:
    """Return what each file of tests took while branches were counted."""
    taken = Counter[str]()
    for path in FOLDER.glob("seconds-*.json"):
        taken.update(json.loads(path.read_text("utf-8")))
    return taken


def tests_of(mutant: Mutant, area: str) -> list[str]:
    """Return the files of tests that run a changed line.

    Those of the area come first, and quick ones before others.
    """
    named, data = list(AREAS[area][1]), _contexts()
    if data is None:
        return named
    lines = data.contexts_by_lineno(str(mutant.path))
    # What stands in the middle of a statement may be counted with its first line.
    line = max((line for line in lines if line <= mutant.line), default=0)
    taken = _seconds()
    names = {name for name in lines.get(line, ()) if (ROOT / name).is_file()}
    order = sorted(names, key=lambda name: (taken.get(name, USUAL), name))
    chosen, spent = list[str](), 0.0
    for name in sorted(order, key=lambda name: not name.startswith(tuple(named))):
        spent += taken.get(name, USUAL)
        if chosen and spent > ENOUGH:
            break
        chosen.append(name)
    # What runs at import is noted for the first tests that import it, and no others.
    return chosen if len(chosen) > 2 else [*chosen, *named]


def drawn(area: str, count: int, seed: int) -> list[Mutant]:
    """Return some of the changes of an area, each as likely as any other."""
    paths = sorted((SOURCE / AREAS[area][0]).rglob("*.py"))
    plain = [path for path in paths if "kernels" not in path.parts]
    places = [(path, number) for path in plain for number in changeable(path)]
    chosen = Random(f"{area} {seed}").sample(places, min(count, len(places)))
    return [mutant_at(path, number) for path, number in chosen]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try some changes, and list those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="changes of each area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--areas", default=",".join(AREAS), help="divided by commas")
    parser.add_argument("--again", action="store_true", help="what has survived")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    for warm in (
        "numpy",
        "scipy.stats",
        "numba",
        "sklearn.tree",
        "pandas",
        "hypothesis",
    ):
        __import__(warm)
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    tried = dict[str, Counter[str]]()
    for area in options.areas.split(","):
        tried[area] = Counter()
        mutants = drawn(area, options.count, options.seed)
        if not survives(unchanged(mutants[0]), tests_of(mutants[0], area)):
            sys.exit(f"tests of {area} fail without any change")
        for mutant in mutants:
            key = mutant.key
            if key not in kept or (options.again and kept[key] == "survives"):
                kept[key] = outcome(mutant, tests_of(mutant, area))
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False), "utf-8")
            tried[area][kept[key]] += 1
            print(f"{kept[key]:11} {mutant}", flush=True)
    lines = table(tried)
    print(*lines, sep="\n")
    if set(tried) == set(AREAS):
        head = f"{dated()}, seed {options.seed}:"
        page = written(PAGE.read_text("utf-8"), [head, "", *lines], command=COMMAND)
        PAGE.write_text(page, "utf-8")
    return 0


def table(tried: dict[str, Counter[str]]) -> list[str]:
    """Return what became of the changes of each area as lines of Markdown.

    >>> table({"search": Counter(noticed=3, survives=1)})[-1]
    '| search | 4 | 3 | 0 | 1 |'
    """
    outcomes = ("noticed", "out of time", "survives")
    lines = [
        f"| changes of | drawn | {' | '.join(outcomes)} |",
        "|---|---|---|---|---|",
    ]
    for area, counts in tried.items():
        numbers = (counts.total(), *(counts[each] for each in outcomes))
        lines.append(f"| {area} | {' | '.join(map(str, numbers))} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
