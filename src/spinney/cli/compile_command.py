"""The command ``compile``: all kernels, compiled in advance."""

import time

import click

from spinney.cli.shell_options import examples
from spinney.cli.shell_output import progress_bar, say


@click.command(
    "compile",
    epilog=examples("spinney compile"),
    short_help="Compile all kernels now, to avoid the first-run delay.",
)
def compile_() -> None:
    """Compile all kernels for this machine and store them on disk.

    Otherwise each kernel is compiled when it is first used, once. Use this for Docker
    images, or to avoid the first-run delay. The command fails if kernels cannot be
    stored.
    """
    from spinney._support.jit.compilation_record import (
        check_code_storage,
        is_all_compiled,
        record_compiled,
    )
    from spinney.cli.compile_jobs import compile_ahead

    if is_all_compiled():
        say("all kernels are already compiled")
        return
    check_code_storage()
    start = time.perf_counter()

    def report(done: int, total: int) -> None:
        say(f"compiling: {done} of {total} sets of kernels done")

    with progress_bar("compiling") as progress:
        compile_ahead(progress or report)
    record_compiled()
    say(f"compiled all kernels in {time.perf_counter() - start:.0f} s")
