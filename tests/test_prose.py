"""The prose checker works; pages, help, messages and docstrings keep its rules.

`python -m tools.prose` shows what breaks them.
"""

import pytest
from tools.prose import Text, check, help_texts, pages, sentences, sources

PAGE = """\
# What is new

One sentence
over two lines. Where it ends, see [the page](page.md).

```python
what = "Of code nothing is checked"
```

| Of | a table |
|---|---|

- **Bold**: `code of many words` counts once.
- What now? Nothing.
"""
MODULE = '''\
"""What a module says."""


def refuse(name):
    """Return an error.

    Of the rest nothing is checked.
    """
    msg = f"column {name!r} is " + ("odd" if name else "without a name")
    raise DataError(msg, remedy=phrase("mend {} or leave it out", name))
'''


def _finds(text, *, kind="docs", place="docs/page.md:1"):
    return [find.split("\n")[0] for find in check(Text(kind, place, text))]


def test_sentences_end_where_they_should():
    text = "C4.5 splits (e.g. R). □ prunes, i.e. Γ. a is 0.5! Why?"
    assert sentences(text) == [
        "C4.5 splits (e.g. R).",
        "□ prunes, i.e. Γ.",
        "a is 0.5!",
        "Why?",
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("word " * 26 + ".", "26 words, at most 25"),
        ("Of two trees the smaller wins.", "begins with a clause"),
        ("Fine. Where rows are missing, nothing happens.", "begins with a clause"),
        ("So does CART.", "is inverted"),
        ("Splits that lost are kept.", "'Splits that lost': say competitor"),
        ("The Node asks for a value.", "'Node asks': say splits on, uses"),
        ("Its risk is 0.2.", "'risk': say error rate or loss"),
        ("Mend the cell.", "'Mend': say fix"),
        ("The bag tells how good it is.", "'The bag tells': say out-of-bag"),
    ],
)
def test_a_sentence_that_breaks_a_rule_is_found(text, rule):
    assert _finds(text) == [f"docs/page.md:1: {rule}"]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 25,
        "What is a leaf?",
        "Offers and Whatever.",
        "Commend it.",
        "So a node.",
    ],
)
def test_a_sentence_that_keeps_the_rules_is_not(text):
    assert _finds(text) == []


def test_a_word_is_allowed_in_its_places():
    assert _finds("Its risk is R(T).", place="docs/pruning.md:3") == []


def test_pages_are_read_without_code_tables_and_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert list(pages([page])) == [
        Text("heading", f"{page}:1", "What is new"),
        Text(
            "docs",
            f"{page}:3",
            "One sentence over two lines. Where it ends, see the page.",
        ),
        Text("docs", f"{page}:13", "Bold: □ counts once."),
        Text("docs", f"{page}:14", "What now? Nothing."),
    ]


def test_modules_give_messages_and_first_lines(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(MODULE, encoding="utf-8")
    assert list(sources([tmp_path])) == [
        Text("message", f"{module}:10", "column □ is without a name"),
        Text("message", f"{module}:10", "mend □ or leave it out"),
        Text("docstring", f"{module}:1", "What a module says."),
        Text("docstring", f"{module}:4", "Return an error."),
    ]


def test_help_is_that_of_commands_and_options():
    texts = list(help_texts())
    assert {"spinney grow", "spinney grow --recipe"} <= {text.place for text in texts}


def test_pages_keep_the_rules():
    assert [find for text in pages() for find in check(text)] == []


def test_sources_keep_the_rules():
    texts = list(sources())
    assert len(texts) > 2000
    assert [find for text in texts for find in check(text)] == []


def test_help_keeps_the_rules():
    texts = list(help_texts())
    assert len(texts) > 400
    assert [find for text in texts for find in check(text)] == []
