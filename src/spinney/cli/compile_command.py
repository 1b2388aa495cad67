"""The command that compiles all loops ahead."""

import time

import click

from spinney.cli.shell_options import examples
from spinney.cli.shell_output import progress_bar, say


@click.command(
    "compile",
    epilog=examples("spinney compile"),
    short_help="Compile all loops now, so that nobody waits for it later.",
)
def compile_() -> None:
    """Compile all loops for this machine and keep them on disk.

    Otherwise they are compiled when they are first needed, once. It is for images of
    machines, and for those who do not like to wait in the middle of something.
    """
    from spinney.cli.compile_jobs import compile_ahead

    start = time.perf_counter()
    with progress_bar("compiling") as progress:
        compile_ahead(progress)
    say(f"compiled all loops in {time.perf_counter() - start:.0f} s")
