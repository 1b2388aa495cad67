"""Messages in the words of the shell: options instead of Python's parameters."""

import shlex
from collections.abc import Collection, Mapping

import click

from spinney.cli.shell_settings import format_setting
from spinney.errors import NameAlone, Part, PythonOnly, Setting, Step


def option_name(parameter: str) -> str:
    """Return the option for a parameter of Python: its name with dashes.

    >>> option_name("random_state")
    '--random-state'
    """
    return f"--{parameter.replace('_', '-')}"


def matching_option(parameter: str, options: Collection[str]) -> str | None:
    """Return the option of a command that sets a parameter of Python, if any.

    A repeatable option may drop the plural s of its parameter. The seed of a recipe or
    a plan is what users call random_state.

    >>> matching_option("n_jobs", ["--n-jobs"]), matching_option("priors", ["--prior"])
    ('--n-jobs', '--prior')
    >>> matching_option("folds", ["--n-jobs"]) is None
    True
    """
    name = option_name("random_state" if parameter == "seed" else parameter)
    names = (name, name.removesuffix("s"))
    return next((name for name in names if name in options), None)


class ShellWords:
    """Translates parts of messages to the options of a command.

    Parameters
    ----------
    command : click.Command, optional
        The running command; without one, messages read as in Python.
    commands : click.Group, optional
        All commands, for messages that recommend another one.

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
        """Return a part of a message in the words of the shell."""
        if isinstance(part, PythonOnly):
            return ""
        if isinstance(part, Step):
            return self._step(part)
        return self._setting(part)

    def _setting(self, setting: Setting) -> str:
        name = matching_option(setting.name, self.options)
        if name is not None:
            return option_text(self.options[name], setting.value)
        from spinney.recipes import SETTINGS

        if "--set" in self.options and setting.name in SETTINGS:
            return _set_text(setting)
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


def option_text(option: click.Option, value: object) -> str:
    """Return an option with a value, as users type it."""
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
        return " ".join(f"{name} {shlex.quote(str(item))}" for item in value)
    return f"{name} {value!r}"


def _set_text(setting: Setting) -> str:
    """Return a setting as users type it for --set."""
    if setting.value is NameAlone:
        return f"--set {setting.name}"
    value = "VALUE" if setting.value is ... else format_setting(setting.value)
    return f"--set {shlex.quote(f'{setting.name}={value}')}"
