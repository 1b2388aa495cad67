"""A bar on stderr while many trees grow, where somebody can see it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function of done and total that moves a bar; None without a terminal.

    The bar is there from the first move on, so that a refusal shows none.
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

    def move(done: int, total: int) -> None:
        bar.start()  # as often as one likes
        bar.update(task, completed=done, total=total)

    try:
        yield move
    finally:
        if bar.live.is_started:
            bar.stop()
