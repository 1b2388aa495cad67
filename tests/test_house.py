"""The plan of the house: names that tell themselves apart, files of one idea."""

import ast
from collections import defaultdict
from pathlib import Path

from spinney.growth.prune import METHODS
from spinney.recipes.vocabulary import BUCKETINGS, CHOICES, GROUPINGS, MISSING_POLICIES
from spinney.search.buckets import METHODS as BUCKET_METHODS
from spinney.search.missing_values import POLICIES

SOURCE = Path(__file__).parents[1] / "src" / "spinney"
MODULES = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
# Beside the methods of pruning a recipe may name none, and M5's, which needs models.
OTHER_PRUNINGS = {"none", "adjusted-error"}
LONG = 600
# Names that the kernels of several engines give to what is alike in them, and two that
# the learner and its sources share.
OF_ENGINES = {"Grower", "Grown", "Rules", "Search", "Task", "Workspace"}


def test_no_two_modules_have_one_name():
    homes = defaultdict(list)
    for path in MODULES:
        if path.parent.name != "kernels":
            homes[path.stem].append(str(path.relative_to(SOURCE)))
    assert {stem: paths for stem, paths in homes.items() if len(paths) > 1} == {}


def test_no_two_classes_have_one_name():
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name not in OF_ENGINES:
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_module_has_a_name_that_its_package_offers():
    for door in SOURCE.rglob("__init__.py"):
        offered = {
            alias.asname or alias.name
            for node in ast.parse(door.read_text("utf-8")).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        beside = {path.stem for path in door.parent.glob("*.py")}
        assert not offered & beside, door


def test_every_package_says_what_it_is():
    for door in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(door.read_text("utf-8"))), door


def test_long_files_say_why():
    for path in MODULES:
        text = path.read_text("utf-8")
        if text.count("\n") > LONG:
            assert "one file" in (ast.get_docstring(ast.parse(text)) or ""), path


def test_the_hall_is_small():
    assert len([p for p in SOURCE.iterdir() if p.suffix == ".py"]) <= 7
    assert len([p for p in SOURCE.iterdir() if (p / "__init__.py").exists()]) <= 14


def test_names_of_recipes_are_those_of_what_they_name():
    assert tuple(POLICIES) == MISSING_POLICIES
    assert tuple(BUCKET_METHODS) == BUCKETINGS
    assert set(GROUPINGS) == {"multiway", "binary", "merge", "ordered"}
    assert set(CHOICES["pruning"]) <= {*METHODS, *OTHER_PRUNINGS}
