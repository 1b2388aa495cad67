"""``python -m spinney`` is the shell tool."""

from spinney.cli import main

main()
