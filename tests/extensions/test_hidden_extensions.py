"""Without the folder of an extension the rest works, and says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import spinney
from spinney import registry

ROOT = Path(spinney.__file__).parent
MELONS = Path(__file__).parents[1] / "tables" / "watermelon_3.0.csv"
EXTENSIONS = sorted(
    path.name
    for path in (ROOT / "extensions").iterdir()
    if (path / "__init__.py").exists()
)
# What somebody asks of each, as code of Python.
ASKED = {
    "clustering": "spinney.KMeans",
    "databases": "spinney.grow('sqlite:///melons.db', 'ripe', table='melons')",
    "evaluation": "spinney.evaluate(data, 'ripe', ['cart'], folds=2)",
    "explorer": "model.explore()",
    "exports": "model.export('python')",
    "incremental": "model.updated(data)",
    "lessons": "model.lesson()",
    "optimal": "spinney.grow(data, 'ripe', recipe='optimal', max_depth=1)",
    "partitions": "spinney.grow([data], 'ripe', engine='partitions')",
    "pictures": "model.plot()",
    "plots": "spinney.plots",
    "rulesets": "model.ruleset(data)",
    "streaming": "spinney.grow(data, 'ripe', recipe='hoeffding')",
}
WITHOUT_EACH = """
import sys
import spinney
from spinney.cli import run

class Hidden:
    name = ""
    def find_spec(self, name, path=None, target=None):
        if name == self.name or name.startswith(self.name + "."):
            raise ModuleNotFoundError(name, name=name)

hidden, data = Hidden(), sys.argv[1]
sys.meta_path.insert(0, hidden)

def core():
    for recipe in ("auto", "id3", "c4.5", "cart", "chaid"):
        model = spinney.grow(data, "ripe", ignore=["id"], recipe=recipe)
        model.predict(data), str(model), model.rules(), model.explain(0).text()
    model.save("melons.spinney")
    assert spinney.load("melons.spinney").tree.n_leaves == model.tree.n_leaves
    model.export("json"), model.facts(), model.score(data)
    assert "text/plain" in model._repr_mimebundle_()
    spinney.ForestClassifier(3).fit([[0], [1]], ["a", "b"])
    for arguments in (
        ["look", data], ["show", "melons.spinney"], ["rules", "melons.spinney"],
        ["info", "melons.spinney"], ["predict", "melons.spinney", data], ["--help"],
        ["grow", data, "--target", "ripe", "--ignore", "id"], ["recipes"],
    ):
        assert run(arguments) == 0, arguments
    return model

for name, asked in zip(sys.argv[2::2], sys.argv[3::2]):
    hidden.name = "spinney.extensions." + name
    for module in [*sys.modules]:
        if module.startswith("spinney.extensions."):
            del sys.modules[module]
    model = core()
    try:
        eval(asked)
    except spinney.MissingExtraError as error:
        print("MISSING", error)
"""


def test_each_extension_is_asked_for():
    assert sorted(ASKED) == EXTENSIONS


def test_the_registry_names_what_there_is():
    for kind, entries in registry.ENTRIES.items():
        for name in entries:
            registry.load(kind, name)


def test_the_core_works_without_each(tmp_path):
    asked = [word for name in EXTENSIONS for word in (name, ASKED[name])]
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_EACH, str(MELONS), *asked],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    missing = [x for x in found.stdout.splitlines() if x.startswith("MISSING")]
    assert len(missing) == len(EXTENSIONS)
    for name, line in zip(EXTENSIONS, missing, strict=True):
        assert f"extension {name!r}, which is not installed" in line


def test_every_extension_has_a_short_readme():
    for name in EXTENSIONS:
        lines = (ROOT / "extensions" / name / "README.md").read_text().splitlines()
        assert len(lines) <= 10, name
