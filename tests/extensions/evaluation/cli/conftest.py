"""The fixtures of the shell."""

from tests.cli.conftest import *  # noqa: F403 - fixtures
