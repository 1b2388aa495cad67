"""What the shell tool writes: data to stdout or a file, talk to stderr.

Data, which is CSV or JSON, is UTF-8 wherever it goes. Text for people is in the
encoding of the terminal; where that lacks the signs of a tree, they are ASCII.
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
PATIENCE = 1.0  # seconds without a sign of work


def say(text: str) -> None:
    """Say one line on stderr; control characters are escaped."""
    with suppress(OSError):  # nobody listens
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
    """Write text for people; ``text`` makes it, with signs of ASCII if asked."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        data = _tame(text(ascii_only)).encode(encoding)
    except UnicodeEncodeError:
        data = _tame(text(True)).encode(encoding, "backslashreplace")
    write_bytes(data)


def write_result(
    kind: str, found: Any, text: Callable[[bool], str], options: Mapping[str, Any]
) -> None:
    """Write what was found as the options say: data or text, to stdout or a file.

    ``found`` has ``as_dict``; ``text`` makes it for people, in ASCII if asked.
    """
    plain, output = options["ascii_"], options["output"]
    if not options["json_"] and output in (None, STANDARD_OUTPUT):
        write_text(text, ascii_only=plain)
        return
    data = text(plain)
    if options["json_"]:
        data = as_json(kind, found.as_dict(), ascii_only=plain)
    write_data(data, output, overwrite=options["overwrite"])


def _tame(text: str) -> str:
    """Return lines without control characters; a second line of defence."""
    return "".join(f"{shown(line)}\n" for line in text.split("\n"))


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout now, so that a failure is known before we exit."""
    if sys.stdout is None:
        msg = "standard output is closed: there is nowhere to write to"
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

    The bar is there from the first move on, so that a refusal shows none; or so many
    seconds ``after`` that, so that it does not flicker where little is to do.
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
    # The bar goes when it is done: what stays on the screen is the result.
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)
    later = Timer(after, bar.start)
    later.daemon = True

    def move(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if not after:
            bar.start()  # as often as one likes
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
def working(what: str, *, after: float = PATIENCE) -> Iterator[None]:
    """Say what is being done, after some seconds, where nobody knows how much it is.

    On a terminal only; it goes when it is done.
    """
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
def waiting(
    what: str, *, counted: bool, after: float = PATIENCE
) -> Iterator[Callable[[int, int], None] | None]:
    """Give what moves a bar where work is ``counted``; else say what is being done."""
    if counted:
        with progress_bar(what, after=after) as move:
            yield move
    else:
        with working(what, after=after):
            yield None


def line_width() -> int | None:
    """Return how wide lines may be; None where nobody looks at them."""
    if os.environ.get("COLUMNS", "").isdigit():
        return max(20, int(os.environ["COLUMNS"]))
    return get_terminal_size().columns if is_seen() else None


def text_width(output: str | None) -> int | None:
    """Return how wide lines may be; None where the text goes to a file."""
    return line_width() if output in (None, STANDARD_OUTPUT) else None


def is_seen() -> bool:
    """Return whether what goes to stdout goes straight to a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()
