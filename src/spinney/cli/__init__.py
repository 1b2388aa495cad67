"""The shell tool: results to stdout, messages to stderr, and an exit code.

0 done, 1 failed, 2 usage, 3 bad data, 4 model rejected, 130 interrupted.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from spinney import registry
from spinney._version import __version__
from spinney.cli.shell_output import say
from spinney.cli.shell_words import ShellWords
from spinney.errors import (
    DataError,
    Message,
    ModelFormatError,
    ParameterError,
    SpinneyError,
    SpinneyNote,
    SpinneyWarning,
    did_you_mean,
)

INTERRUPTED = 130
EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (DataError, 3),
    (ParameterError, 2),
    (ModelFormatError, 4),
    (SpinneyError, 1),
)

# Remedies for likely options that a command does not have.
HINTS = {
    **dict.fromkeys(
        [("show", "-o"), ("show", "--output"), ("show", "--png")],
        "use --svg FILE, or spinney plot tree MODEL -o tree.png",
    ),
    ("forest", "--model"): "-o FILE saves the forest, --recipe chooses its trees",
}


class _Commands(click.Group):
    """Loads a command when it is called, so that --help starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(registry.installed("command"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if not registry.is_known("command", cmd_name):
            return None
        command: click.Command = registry.load("command", cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:  # as in other tools
            args = [*args[1:2], "--help"]
        if (
            args
            and not args[0].startswith("-")
            and not registry.is_known("command", args[0])
        ):
            remedy = did_you_mean(args[0], registry.names("command"))
            msg = f"there is no command {args[0]!r}: {remedy}"
            raise click.UsageError(msg, ctx)
        name, command, arguments = super().resolve_command(ctx, args)
        if isinstance(ctx.obj, list):
            ctx.obj.append(command)
        return name, command, arguments


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  spinney look melons.csv
  spinney grow melons.csv --target ripe --ignore id -o melons.spinney
  spinney rules melons.spinney
  spinney explore melons.spinney --open
  spinney prune melons.spinney --validation more.csv -o smaller.spinney
  spinney predict melons.spinney new.csv -o out.csv
  spinney score melons.spinney test.csv
  spinney export melons.spinney --format sql --table melons
  spinney forest melons.csv --target ripe --ignore id
  spinney cluster melons.csv --columns density,sugar --n-clusters auto -o labels.csv
  spinney evaluate melons.csv --target ripe --ignore id --folds 5

Exit codes: 0 done, 1 failed, 2 usage, 3 bad data, 4 model rejected, 130 interrupted.
""",
)
@click.version_option(__version__, prog_name="spinney")
def cli() -> None:
    """Grow decision trees and forests, explain every number in them, and predict."""


def main(arguments: list[str] | None = None) -> None:
    """Run the shell tool and exit."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the shell tool and return its exit code, without a traceback."""
    running: list[click.Command] = []  # the command, and the kind of a plot

    def say_warning(message: Any, *_: Any, **__: Any) -> None:
        kind = "note" if isinstance(message, SpinneyNote) else "warning"
        reading = getattr(message, "of_reading", False)
        see = "; spinney look shows more" if reading else ""
        say(f"{kind}: {_in_shell_words(message, running)}{see}")

    with warnings.catch_warnings(), _noted_interrupts() as interrupts:
        warnings.showwarning = say_warning
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SpinneyWarning)
        try:
            # The return value is the exit code of --help and --version, or None.
            code = cli.main(arguments, "spinney", standalone_mode=False, obj=running)
            if interrupts:  # Python drops an interrupt that meets a finalizer
                say("interrupted")
                return INTERRUPTED
            return code or 0
        except click.ClickException as error:
            return _misused(error)
        except (click.Abort, KeyboardInterrupt):
            say("interrupted")
            return INTERRUPTED
        except SystemExit:
            # Click exits if the reader of the output has gone, which is no error.
            return 0
        except Exception as error:  # noqa: BLE001 - the last line before the user
            if interrupts:  # DuckDB makes an error of its own out of an interrupt
                say("interrupted")
                return INTERRUPTED
            return _failed(error, running)


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Give a list that is not empty once the user has interrupted us."""
    noted: list[int] = []

    def note(number: int, _: Any) -> NoReturn:
        noted.append(number)
        raise KeyboardInterrupt

    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _misused(error: click.ClickException) -> int:
    """Report a mistake in the command line, in one line."""
    context = getattr(error, "ctx", None)
    path = "spinney" if context is None else context.command_path
    if type(error).__name__ == "NoArgsIsHelpError":  # not in every Click
        error.show()
    elif isinstance(error, click.NoSuchOption):
        near = error.possibilities
        remedy = f"{did_you_mean(error.option_name, near)} See" if near else "see"
        if hint := HINTS.get((path.rpartition(" ")[2], error.option_name)):
            remedy = f"{hint}; see"
        say(f"error: there is no option {error.option_name!r}: {remedy} {path} --help")
    else:
        message = error.format_message().rstrip(".")
        see = " See" if message.endswith("?") else "; see"
        say(f"error: {message[:1].lower()}{message[1:]}{see} {path} --help")
    return error.exit_code


def _failed(error: Exception, running: list[click.Command]) -> int:
    if os.environ.get("SPINNEY_TRACEBACK"):
        raise error
    for kind, code in EXIT_CODES:
        if isinstance(error, kind):
            say(f"error: {_in_shell_words(error, running)}")
            return code
    if isinstance(error, MemoryError):
        say("error: out of memory: exclude columns, or use --engine duckdb")
    elif isinstance(error, OSError):
        say(f"error: the operating system reported: {error}")
    else:
        say(
            f"error: unexpected {type(error).__name__}: {error}. This is a bug in "
            "Spinney; SPINNEY_TRACEBACK=1 shows the traceback"
        )
    return 1


def _in_shell_words(message: Any, running: list[click.Command]) -> str:
    """Return an error or warning in the words of the running command."""
    if isinstance(message, Message):
        return message.text(ShellWords(running[-1] if running else None, commands=cli))
    return str(message)
