"""Output of the shell tool: results to stdout or a file, messages to stderr.

Data, which is CSV or JSON, is UTF-8 wherever it goes. Text for people is in the
encoding of the terminal; if it lacks the characters of a tree, they are ASCII.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from threading import Timer
from typing import Any

import click

from spinney._support.json_text import escaped, without_infinity
from spinney._support.text import shown
from spinney.errors import SpinneyError

STANDARD_OUTPUT = "-"
TREE_WIDTH = 80
TREE_LINES = 40  # of a tree, unless --max-lines is given
STATUS_DELAY = 1.0  # seconds before a status is shown


def say(text: str) -> None:
    """Say one line on stderr; control characters are escaped."""
    with suppress(OSError):  # stderr is closed
        click.echo(f"spinney: {shown(text)}", err=True)


def as_json(kind: str, content: Any, *, ascii_only: bool = False) -> str:
    """Return content as JSON, under the name and version of its schema.

    JSON has no infinity: it is the text "infinity" there.
    """
    data = {"schema": f"spinney/{kind}/1", **without_infinity(content)}
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    return escaped(text, ascii_only=ascii_only)


def write_data(
    text: str, output: str | None = None, *, overwrite: bool = False
) -> None:
    """Write data to stdout, or whole to a file."""
    data = (text + "\n").encode("utf-8", "backslashreplace")
    if output is None or output == STANDARD_OUTPUT:
        write_bytes(data)
        return
    from spinney._support.atomic_file import write_whole

    write_whole(output, [data], overwrite=overwrite)


def write_text(text: Callable[[bool], str], *, ascii_only: bool = False) -> None:
    """Write text for people; ``text`` makes it, in ASCII if its argument is true."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        data = _escape_lines(text(ascii_only)).encode(encoding)
    except UnicodeEncodeError:
        data = _escape_lines(text(True)).encode(encoding, "backslashreplace")
    write_bytes(data)


def write_result(
    kind: str, result: Any, text: Callable[[bool], str], options: Mapping[str, Any]
) -> None:
    """Write a result by the options: JSON or text, to stdout or a file.

    ``result`` has ``as_dict``; ``text`` makes the text, as for :func:`write_text`.
    """
    plain, output = options["ascii_"], options["output"]
    if not options["json_"] and output in (None, STANDARD_OUTPUT):
        write_text(text, ascii_only=plain)
        return
    data = text(plain)
    if options["json_"]:
        data = as_json(kind, result.as_dict(), ascii_only=plain)
    write_data(data, output, overwrite=options["overwrite"])


def _escape_lines(text: str) -> str:
    """Return text with control characters escaped, a second line of defence."""
    return "".join(f"{shown(line)}\n" for line in text.split("\n"))


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout and flush, so that a failure is reported."""
    if sys.stdout is None:
        msg = "standard output is closed: write to a file with -o"
        raise SpinneyError(msg)
    try:
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:  # a stream of text in memory
            sys.stdout.write(data.decode("utf-8"))
    except BrokenPipeError:
        raise
    except OSError as error:
        msg = f"cannot write to standard output: {error.strerror}"
        raise SpinneyError(msg) from error


@contextmanager
def progress_bar(
    what: str, *, after: float = 0.0
) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function of done and total that moves a bar; None without a terminal.

    The bar appears ``after`` some seconds from its first move, so that errors and short
    work show none.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)
    later = Timer(after, bar.start)
    later.daemon = True

    def move(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not after:
            bar.start()  # may be called again
        elif later.ident is None:
            later.start()

    try:
        yield move
    finally:
        later.cancel()
        if later.ident is not None:
            later.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def show_status(what: str, *, after: float = STATUS_DELAY) -> Iterator[None]:
    """Show a status on a terminal, after some seconds, until the work is done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{what} …")
    later = Timer(after, status.start)
    later.daemon = True
    later.start()
    try:
        yield
    finally:
        later.cancel()
        later.join()
        status.stop()


@contextmanager
def show_progress(
    what: str, *, counted: bool, after: float = STATUS_DELAY
) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar if the work is ``counted``, else a status."""
    if counted:
        with progress_bar(what, after=after) as move:
            yield move
    else:
        with show_status(what, after=after):
            yield None


def tree_width() -> int:
    """Return the width of the lines of a tree: 80 without a terminal."""
    return line_width() or TREE_WIDTH


def line_width() -> int | None:
    """Return the width of lines; None (unlimited) without a terminal."""
    if os.environ.get("COLUMNS", "").isdigit():
        return max(20, int(os.environ["COLUMNS"]))
    return get_terminal_size().columns if is_terminal() else None


def text_width(output: str | None) -> int | None:
    """Return the width of lines; None (unlimited) in a file."""
    return line_width() if output in (None, STANDARD_OUTPUT) else None


def is_terminal() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()
