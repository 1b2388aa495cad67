"""How the shell says what users set: options instead of Python's parameters."""

import shlex
from collections.abc import Collection, Mapping

import click

from spinney.cli.shell_settings import text_of
from spinney.errors import NameAlone, Part, PythonOnly, Setting, Step


def option_name(parameter: str) -> str:
    """Return the option of a parameter of Python: its name with dashes.

    >>> option_name("random_state")
    '--random-state'
    """
    return f"--{parameter.replace('_', '-')}"


def option_of(parameter: str, known: Collection[str]) -> str | None:
    """Return which of a command's options sets a parameter of Python, if any does.

    A repeatable option may drop the plural s of its parameter. The seed of a recipe or
    a plan is what users call random_state.

    >>> option_of("n_jobs", ["--n-jobs"]), option_of("priors", ["--prior"])
    ('--n-jobs', '--prior')
    >>> option_of("folds", ["--n-jobs"]) is None
    True
    """
    name = option_name("random_state" if parameter == "seed" else parameter)
    names = (name, name.removesuffix("s"))
    return next((name for name in names if name in known), None)


class ShellWords:
    """Says parts of messages as one would type them for a command.

    Parameters
    ----------
    command : click.Command, optional
        The command that runs; without one everything reads as in Python.
    commands : click.Group, optional
        All of them, for messages that advise another one.

    Examples
    --------
    >>> option = click.Option(["--ignore"], multiple=True)
    >>> words = ShellWords(click.Command("grow", params=[option]))
    >>> words(Setting("ignore", ["id", "blood group"])), words(Setting("gamma", 2))
    ("--ignore id --ignore 'blood group'", 'gamma=2')
    """

    def __init__(
        self, command: click.Command | None = None, commands: click.Group | None = None
    ) -> None:
        self.options = {
            name: option
            for option in ([] if command is None else command.params)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        self.commands = commands

    def __call__(self, part: Part) -> str:
        """Return what the shell says for a part of a message."""
        if isinstance(part, PythonOnly):
            return ""
        if isinstance(part, Step):
            return self._step(part)
        return self._setting(part)

    def _setting(self, setting: Setting) -> str:
        name = option_of(setting.name, self.options)
        if name is not None:
            return _typed(self.options[name], setting.value)
        if "--set" in self.options and _is_of_recipes(setting.name):
            return _set(setting)
        return str(setting)

    def _step(self, step: Step) -> str:
        command = self.commands and self.commands.get_command(
            click.Context(self.commands), step.name
        )
        if command is None:
            return str(step)
        words = ShellWords(command)
        begin = f"spinney {step.name} {step.subject.upper()}"
        return " ".join([begin, *map(words, step.settings)])


def _typed(option: click.Option, value: object) -> str:
    """Return an option with a value, as it is typed."""
    name = next(name for name in option.opts if name.startswith("--"))
    if value is ...:
        return f"{name} {option.metavar or (option.name or '').upper()}"
    if value is False and option.secondary_opts:
        return option.secondary_opts[0]
    if value is True or value is NameAlone:
        return name
    if isinstance(value, Mapping) and option.multiple:
        value = [f"{key}={number}" for key, number in value.items()]
    if isinstance(value, (list, tuple)) and option.multiple:
        return " ".join(f"{name} {shlex.quote(str(each))}" for each in value)
    return f"{name} {value!r}"


def _set(setting: Setting) -> str:
    """Return a setting that has no option of its own, as it is typed."""
    if setting.value is NameAlone:
        return f"--set {setting.name}"
    value = "VALUE" if setting.value is ... else text_of(setting.value)
    return f"--set {shlex.quote(f'{setting.name}={value}')}"


def _is_of_recipes(name: str) -> bool:
    from spinney.recipes import SETTINGS

    return name in SETTINGS
