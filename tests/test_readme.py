"""The Python tour of README says what really happens."""

import doctest
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_python_tour(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(readme, {}, "README.md", None, 0)
    assert len(test.examples) > 10
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0


def test_picture_is_the_tree_of_the_demo():
    import spinney

    model = spinney.grow(
        ROOT / "examples" / "melons.csv", "ripe", ignore=["id"], recipe="id3"
    )
    assert str(model) in (ROOT / "README.md").read_text(encoding="utf-8")
