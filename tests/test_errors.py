"""Errors carry what they are about, and each front end says it in its own words."""

import ast
import copy
import pickle
import re
import warnings
from pathlib import Path

import pytest

import spinney
from spinney import DataError, ParameterError, SpinneyWarning, TreeClassifier
from spinney.cli import EXIT_CODES
from spinney.errors import (
    PythonOnly,
    Setting,
    SpinneyError,
    Step,
    in_words,
    refusal,
    refuse_unknown,
    warn,
)

SOURCE = Path(spinney.__file__).parent


def spoken(part):
    """Return a part in the words of some other front end."""
    if isinstance(part, PythonOnly):
        return ""
    return f"<{part.name}>"


def test_a_refusal_has_parameter_value_problem_and_remedy():
    advice = ("take ", Setting("pruning", "none"))
    error = refusal(Setting("folds", 9), "is more than the 5 rows", advice)
    assert isinstance(error, ParameterError)
    assert (error.parameter, error.value, error.remedy) == ("folds", 9, advice)
    assert str(error) == "folds=9 is more than the 5 rows: take pruning='none'"
    assert error.text(spoken) == "<folds> is more than the 5 rows: take <pruning>"


def test_a_plain_message_stays_as_it_is():
    error = DataError("no rows: {give} --some")
    assert str(error) == error.text(spoken) == "no rows: {give} --some"
    assert (error.parameter, error.value, error.remedy) == (None, None, "")
    assert str(SpinneyError()) == ""


@pytest.mark.parametrize("kind", [*SpinneyError.__subclasses__(), SpinneyWarning])
def test_every_kind_carries_parts(kind):
    message = kind(
        Setting("data"), " is missing", remedy=("give ", Setting("data", ...))
    )
    assert str(message) == "data is missing: give data=…"
    assert (message.parameter, message.value) == ("data", None)
    for again in (copy.copy(message), pickle.loads(pickle.dumps(message))):  # noqa: S301
        assert type(again) is kind
        assert (again.args, again.remedy) == (message.args, message.remedy)
        assert str(again) == str(message)


def test_parts_nest_and_words_of_python_alone_are_left_to_it():
    text = ("a ", ("b ", Setting("c", 1)), PythonOnly(", or None"))
    assert in_words(text, str) == "a b c=1, or None"
    assert in_words(text, spoken) == "a b <c>"
    assert (
        in_words(Step("prune", (Setting("alpha", 1),)), str) == "model.prune(alpha=1)"
    )


def test_unknown_names():
    with pytest.raises(ParameterError, match="did you mean 'id3'") as caught:
        refuse_unknown("recipe", "id4", ["id3"])
    assert (caught.value.parameter, caught.value.value) == ("recipe", "id4")


def test_warnings_carry_parts_too():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(Setting("folds", 3), " is few", remedy="take more")
    message = caught[0].message
    assert isinstance(message, SpinneyWarning)
    assert message.text(spoken) == "<folds> is few: take more"
    assert caught[0].filename == __file__


def test_what_a_user_is_told_names_the_parameter():
    with pytest.raises(ParameterError) as caught:
        TreeClassifier("cart", max_depth=-1).fit([[1], [2]], ["a", "b"])
    assert (caught.value.parameter, caught.value.value) == ("max_depth", -1)


def words_of(path):
    """Return the texts of a module that are no docstrings of its commands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_module_below_the_shell_speaks_of_its_options():
    shell = ("from spinney.cli", "import click")  # modules of commands import these
    paths = [
        path
        for path in SOURCE.rglob("*.py")
        if "cli" not in path.parts
        and not any(text in path.read_text(encoding="utf-8") for text in shell)
    ]
    assert len(paths) > 200
    for path in paths:
        for text in words_of(path):
            assert not re.search(r"(?<![\w-])--[a-z]", text), (path, text)


PAGE = SOURCE.parents[1] / "docs" / "errors.md"


def kinds_below(kind):
    """Return a kind of errors or warnings and all kinds of it."""
    yield kind
    for each in kind.__subclasses__():
        yield from kinds_below(each)


def test_the_page_lists_every_kind_with_its_exit_code():
    page = PAGE.read_text()
    lines = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| (\d?) ?\|", page, re.MULTILINE))
    kinds = {*kinds_below(SpinneyError), *kinds_below(SpinneyWarning)}
    ours = {kind for kind in kinds if kind.__module__ == "spinney.errors"}
    assert set(lines) == {kind.__name__ for kind in ours}
    for kind in ours:
        code = next((str(n) for k, n in EXIT_CODES if issubclass(kind, k)), "")
        assert lines[kind.__name__] == code, kind


def test_the_page_quotes_what_is_said():
    """Every message of the page stands in the source, but for names and numbers."""
    source = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    source = re.sub(r"[\"\']\s*\n\s*f?r?[\"\']", "", source)  # one text on two lines
    families = PAGE.read_text().split("\n## ")[1:]
    quoted = [m for each in families for m in re.findall(r"^\| `(.+?)` \|", each, re.M)]
    assert len(quoted) > 25
    for message in quoted:
        words = re.split(r"'x'|\d+ |the table| has|inf\b", message)
        longest = max(words, key=len).strip()
        assert longest in source, message
