"""Where rows go, and in which format: the options of ``predict`` and ``cluster``."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.shell_options import all_of, check_output, output_options
from spinney.cli.shell_output import STANDARD_OUTPUT, write_bytes
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.data.writers import Batch, RowStream

JSON = "json"

rows_options = all_of(
    output_options,
    click.option(
        "--spreadsheet",
        is_flag=True,
        help="Put an apostrophe before text of CSV or TSV that a spreadsheet would "
        "take for a formula.",
    ),
)

format_option = click.option(
    "--output-format",
    metavar="NAME",
    help="csv, tsv, jsonl or parquet, where no suffix of -o tells; csv without -o.",
)


@dataclass(frozen=True, slots=True)
class RowsOutput:
    """Where rows go: a file, or standard output, in a format.

    Rows in the format "json" are one document, which :meth:`write_json` writes.
    """

    path: str | None
    format: str
    overwrite: bool
    spreadsheet: bool

    def write(self, rows: "RowStream") -> int:
        """Write a stream of rows, and return how many there were."""
        from spinney.data.writers import text_rows, write_rows

        n_rows, text, batches = 0, self._cell_text(), rows.batches

        def counted() -> Iterator["Batch"]:
            nonlocal n_rows
            for batch in batches:
                n_rows += len(batch[0])
                yield batch

        rows = replace(rows, batches=counted())
        if self.path is None:
            for part in text_rows(rows, self.format, cell_text=text):
                write_bytes(part)
            return n_rows
        options: Any = {"format": self.format, "overwrite": self.overwrite}
        write_rows(self.path, rows, **options, cell_text=text)
        return n_rows

    def write_json(self, parts: Iterable[str]) -> None:
        """Write the parts of a document."""
        from spinney.data.writers import write_parts

        encoded = (part.encode("utf-8", "backslashreplace") for part in parts)
        if self.path is None:
            for part in encoded:
                write_bytes(part)
            return
        write_parts(self.path, encoded, overwrite=self.overwrite)

    def _cell_text(self) -> Callable[[Any], str]:
        """Return how cells read: as they are, unless somebody would obey them."""
        from spinney.data.writers import plain_text, printable_text, spreadsheet_safe

        if self.spreadsheet:
            return spreadsheet_safe
        seen = self.path is None and sys.stdout is not None and sys.stdout.isatty()
        return printable_text if seen else plain_text


def rows_output(options: Mapping[str, Any], *, json_: bool = False) -> RowsOutput:
    """Return where rows go by the options, and refuse what cannot be written.

    ``json_`` says whether --json is about the rows, and was given.
    """
    from spinney.data.writers import output_format_of

    path = None if options["output"] == STANDARD_OUTPUT else options["output"]
    check_output(path, overwrite=options["overwrite"])
    declared = options.get("output_format")
    if json_ and declared not in (None, JSON):
        msg = f"--json and --output-format {declared} exclude each other: leave one out"
        raise ParameterError(msg)
    format_ = output_format_of(path, declared=JSON if json_ else declared)
    if path is None and format_ == "parquet":
        msg = "parquet does not go to standard output: name a file with -o"
        raise ParameterError(msg)
    if options["spreadsheet"] and format_ not in ("csv", "tsv"):
        msg = f"--spreadsheet is of CSV and TSV, not of {format_}: leave it out"
        raise ParameterError(msg)
    return RowsOutput(path, format_, options["overwrite"], options["spreadsheet"])
