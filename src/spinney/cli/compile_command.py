"""The command that compiles all kernels ahead."""

import time

import click

from spinney.cli.shell_options import examples
from spinney.cli.shell_output import progress_bar, say


@click.command(
    "compile",
    epilog=examples("spinney compile"),
    short_help="Compile all kernels now, so that nobody waits for it later.",
)
def compile_() -> None:
    """Compile all kernels for this machine and keep them on disk.

    Otherwise they are compiled when they are first needed, once. It is for images of
    machines, and for those who do not like to wait in the middle of something. A second
    time it sees that all are there, and ends. Where none can be kept it is an error.
    """
    from spinney._support.jit.compilation_record import (
        check_code_storage,
        is_all_compiled,
        record_compiled,
    )
    from spinney.cli.compile_jobs import compile_ahead

    if is_all_compiled():
        say("all kernels are compiled already: there is nothing to do")
        return
    check_code_storage()
    start = time.perf_counter()
    with progress_bar("compiling") as progress:
        compile_ahead(progress or _say_progress)
    record_compiled()
    say(f"compiled all kernels in {time.perf_counter() - start:.0f} s")


def _say_progress(done: int, total: int) -> None:
    """Say in lines what a bar shows on a terminal."""
    say(f"compiling loops: {done} of {total} sets are done")
