"""Check the prose of pages, help, messages and docstrings: length, openings, words.

``python -m tools.prose [--docs] [--help-texts] [--messages] [--docstrings] [PATH…]``
prints the place, the rule and the sentence. Without an option all kinds are checked;
paths, files or folders, narrow pages and sources.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "spinney"
PAGES = (
    *(ROOT / "docs", ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", SOURCE / "extensions"),
)
LONGEST = 25
HOLE = "□"  # stands for code, or for what a message inserts; it counts as one word


class Text(NamedTuple):
    """A paragraph, a help text, a message or the first line of a docstring."""

    kind: str
    place: str
    text: str


RISK = r"prun|cost|optimal|criteria|cart|auto|glossary"  # R of cost-complexity pruning
# Words of ours, a regular expression; those of the field; places where ours may stand.
WORDS = (
    (r"risks?", "error rate or loss", RISK),
    (r"held (rows|out of)|rows (that are |were )?held", "validation set, held-out", ""),
    (r"(fit|it|that|which) keeps? no rows", "does not store rows", ""),
    (r"(columns?|attributes?|nodes?|trees?|splits?) asks?", "splits on, uses", ""),
    (r"asks? (most|less|more|below|about)|asked (below|about)", "splits on, uses", ""),
    (r"(nodes?|trees?|splits?|root|binary|best|no|of)('s)? questions?", "split", ""),
    (r"(trees?|leaf|leaves|forests?|models?) (tells?|says?)", "predicts", ""),
    (r"(is|are|was|were|be) told( by)?", "predicted, reported", ""),
    (r"(rows )?out of (the )?bags?|the bags? tells?", "out-of-bag", ""),
    (r"shares? of (the )?(all|rows?|errors?|trees?|gain)", "fraction, proportion", ""),
    (r"(true|predicted|class) shares?", "observed frequency, probability", ""),
    (r"doubts?", "issue, warning", ""),
    (r"mend(s|ed|ing)?", "fix", ""),
    (r"(bears?|bore|borne) (out|the same)", "confirm, tolerate", ""),
    (r"passed over", "skipped", ""),
    (r"at hand", "in memory, available", ""),
    (r"(are|is|stays?|lie) away|stays? where (it is|they are)", "remote", ""),
    (r"gives? (it|the target|\S+) away", "target leakage", ""),
    (r"tables? in parts|parts of (a|the) table", "partitions", ""),
    (r"(compiled|translated|numba|all) loops", "kernels", ""),
    (r"crowds?|nurser(y|ies)|tolls?|different minds", "the field's word", ""),
    (r"surprises?", "self-information", ""),
    (r"r[i]vals?|splits? that lost", "competitor", ""),
    (r"anew|unasked|betimes", "again, automatic", ""),
    (r"in the place of", "instead of", ""),
    (r"talk to stderr", "messages to stderr", ""),
)
PATTERNS = [
    (re.compile(rf"\b(?:{ours})\b", re.IGNORECASE), better, re.compile(allowed or "^$"))
    for ours, better, allowed in WORDS
]
OPENINGS = [
    (re.compile(r"(Of|What|Where|That which|So it is|Nor)\b"), "begins with a clause"),
    (re.compile(r"(Thus|So|Then) (is|are|does|do|has|have|can)\b"), "is inverted"),
]
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?(?:[A-ZÀ-Ý□0-9]|\w\s))")
ABBREVIATION = re.compile(r"(e\.g|i\.e|cf|vs|etc|No|Fig)\.$")


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph.

    >>> sentences("C4.5 splits. CART (e.g. R) prunes! Why?")
    ['C4.5 splits.', 'CART (e.g. R) prunes!', 'Why?']
    """
    found: list[str] = []
    for piece in SENTENCE_END.split(" ".join(text.split())):
        if found and ABBREVIATION.search(found[-1]):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return [sentence for sentence in found if sentence]


def check(text: Text) -> Iterator[str]:
    """Give every sentence that breaks a rule, after its place and the rule."""
    for sentence in sentences(text.text):
        words = [x for x in sentence.split() if HOLE in x or any(map(str.isalnum, x))]
        broken = []
        if len(words) > LONGEST and words[:2] != ["Measured", "on:"]:  # versions
            broken.append(f"{len(words)} words, at most {LONGEST}")
        if text.kind != "heading" and not sentence.endswith("?"):
            broken += [why for opening, why in OPENINGS if opening.match(sentence)]
        for pattern, better, allowed in PATTERNS:
            if (found := pattern.search(sentence)) and not allowed.search(text.place):
                broken.append(f"{found[0]!r}: say {better}")
        yield from (f"{text.place}: {rule}\n    {sentence}" for rule in broken)


def _files(paths: Iterable[Path], suffix: str) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob(f"*{suffix}"))
        if path.suffix == suffix:
            yield path


def _place(path: Path, line: int) -> str:
    path = path.resolve()
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{name}:{line}"


def _plain(markdown: str) -> str:
    """Return Markdown without marks: code is a hole, a link is its text."""
    text = re.sub(r"``.+?``|`[^`]+`", HOLE, markdown)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)|<!--.*?-->", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^(#+|[-*]|\d+\.) ", "", text)
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text).strip()


def pages(paths: Iterable[Path] = PAGES) -> Iterator[Text]:
    """Give the paragraphs of Markdown, without code, tables and quotes."""
    for path in _files(paths, ".md"):
        paragraph, first, fence = "", 0, False
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate([*lines, ""], 1):
            bare = line.strip()
            is_fence = bare.startswith(("```", "~~~"))
            is_start = bool(re.match(r"(#+|[-*]|\d+\.) ", bare))
            is_prose = bool(bare) and not (fence or is_fence or bare[0] in "|><")
            if paragraph and (is_start or not is_prose):
                yield Text("docs", _place(path, first), _plain(paragraph))
                paragraph = ""
            if is_prose:
                first = first if paragraph else number
                paragraph += f" {bare}" if paragraph else bare
            if is_prose and bare.startswith("#"):  # a heading ends with its line
                yield Text("heading", _place(path, first), _plain(paragraph))
                paragraph = ""
            fence = fence != is_fence


def help_texts() -> Iterator[Text]:
    """Give the help of every command of the shell, and of its options."""
    import click

    from spinney.cli import cli

    def walk(name: str, command: click.Command) -> Iterator[Text]:
        for text in re.split(r"\n\s*\n", command.help or ""):
            if not text.startswith("\b"):
                yield Text("help", name, text)
        for option in command.params:
            if isinstance(option, click.Option) and option.help:
                yield Text("help", f"{name} {option.opts[-1]}", option.help)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                if below := command.get_command(context, each):
                    yield from walk(f"{name} {each}", below)

    yield from walk("spinney", cli)


MAKERS = re.compile(
    r"\w*(Error|Warning|Note|Usage|remedy)$|phrase$|missing_extra$|echo$"
    r"|_?(refuse|refusal|refused|warn|note|say)(_\w+)?$"
)


def _words(node: ast.expr, bound: dict[str, ast.expr]) -> str:
    """Return the words of an expression, with a hole for what they insert."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts):
            return "".join(_words(part, bound) for part in parts)
        case ast.BinOp(left=left, right=right, op=ast.Add()):
            return _words(left, bound) + _words(right, bound)
        case ast.IfExp(body=body, orelse=other):
            return max(_words(body, bound), _words(other, bound), key=len)
        case ast.Name(id=name) if name in bound:
            return _words(bound[name], {})
    return HOLE


def _messages(tree: ast.Module, path: Path) -> Iterator[Text]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.Call)]
    bound: dict[str, ast.expr] = {}  # what each name holds at this line
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Assign):
            if isinstance(node.targets[0], ast.Name):
                bound[node.targets[0].id] = node.value
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if MAKERS.match(name):
            texts = [_words(part, bound) for part in node.args]
            if name == "phrase":
                texts = texts[:1]  # the others are inserted into it
            elif not name.lstrip("_").startswith("refus"):
                texts = ["".join(texts)]  # pieces of one sentence
            texts += [_words(part.value, bound) for part in node.keywords]
            for text in texts:
                if " " in text.strip():
                    plain = text.replace("{}", HOLE).strip()
                    yield Text("message", _place(path, node.lineno), plain)


def sources(paths: Iterable[Path] = (SOURCE,)) -> Iterator[Text]:
    """Give messages, and the first lines of docstrings, of modules."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for path in _files(paths, ".py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from _messages(tree, path)
        for node in ast.walk(tree):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                place = _place(path, getattr(node, "lineno", 1))
                yield Text("docstring", place, _plain(text.split("\n")[0]))


def main(arguments: list[str] | None = None) -> int:
    """Print what breaks a rule; return 1 if anything does."""
    parser = argparse.ArgumentParser(prog="python -m tools.prose", description=__doc__)
    for kind in ("docs", "help-texts", "messages", "docstrings"):
        parser.add_argument(f"--{kind}", action="store_true")
    parser.add_argument("paths", nargs="*", type=Path)
    chosen = parser.parse_args(arguments)
    paths, options = chosen.paths, vars(chosen)
    if not (chosen.docs or chosen.help_texts or chosen.messages or chosen.docstrings):
        options.update(docs=True, help_texts=not paths, messages=True, docstrings=True)
    texts = [*pages(paths or PAGES)] if chosen.docs else []
    texts += help_texts() if chosen.help_texts else []
    if chosen.messages or chosen.docstrings:
        found = sources(paths or [SOURCE])
        texts += [text for text in found if options[f"{text.kind}s"]]
    broken = [find for text in texts for find in check(text)]
    print(*broken, sep="\n", end="\n" if broken else "")
    print(f"{len(texts)} texts, {len(broken)} finds", file=sys.stderr)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
