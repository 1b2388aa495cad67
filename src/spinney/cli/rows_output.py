"""The file and format of rows that ``predict`` and ``cluster`` write."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.shell_options import check_output, combined_options, output_options
from spinney.cli.shell_output import STANDARD_OUTPUT, is_terminal, write_bytes
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.data.writers import Batch, RowStream

JSON = "json"

rows_options = combined_options(
    output_options,
    click.option(
        "--spreadsheet",
        is_flag=True,
        help="Put an apostrophe before CSV or TSV text that a spreadsheet would run "
        "as a formula.",
    ),
)

format_option = click.option(
    "--output-format",
    metavar="NAME",
    help="csv, tsv, jsonl, xlsx or parquet.  [default: by the suffix of -o, else csv]",
)


@dataclass(frozen=True, slots=True)
class RowsOutput:
    """The destination of rows, a file or standard output, and their format.

    Rows in the format "json" are one document, which :meth:`write_json` writes.
    """

    path: str | None
    format: str
    overwrite: bool
    spreadsheet: bool

    def write(self, rows: "RowStream") -> int:
        """Write a stream of rows, and return how many there were."""
        from spinney.data.writers import text_rows, write_rows

        n_rows, cell_text, batches = 0, self._cell_text(), rows.batches

        def counted() -> Iterator["Batch"]:
            nonlocal n_rows
            for batch in batches:
                n_rows += len(batch[0])
                yield batch

        rows = replace(rows, batches=counted())
        if self.path is None:
            for part in text_rows(rows, self.format, cell_text=cell_text):
                write_bytes(part)
            return n_rows
        options: Any = {"format": self.format, "overwrite": self.overwrite}
        write_rows(self.path, rows, **options, cell_text=cell_text)
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
        """Return the writer of cells, guarded for a spreadsheet or a terminal."""
        from spinney.data.writers import plain_text, printable_text, spreadsheet_safe

        if self.spreadsheet:
            return spreadsheet_safe
        return printable_text if self.path is None and is_terminal() else plain_text


def rows_output(options: Mapping[str, Any], *, json_: bool = False) -> RowsOutput:
    """Return the destination of rows, or refuse one that cannot be written.

    ``json_`` says whether --json was given for the rows.
    """
    from spinney.data.writers import WHOLE_FILES, output_format_of

    path = None if options["output"] == STANDARD_OUTPUT else options["output"]
    check_output(path, overwrite=options["overwrite"])
    declared = options.get("output_format")
    if json_ and declared not in (None, JSON):
        msg = f"--json and --output-format {declared} exclude each other: remove one"
        raise ParameterError(msg)
    format_ = output_format_of(path, declared=JSON if json_ else declared)
    if path is None and format_ in WHOLE_FILES:
        msg = f"{format_} cannot be written to standard output: name a file with -o"
        raise ParameterError(msg)
    if options["spreadsheet"] and format_ not in ("csv", "tsv"):
        msg = f"--spreadsheet needs CSV or TSV, not {format_}: remove it"
        raise ParameterError(msg)
    return RowsOutput(path, format_, options["overwrite"], options["spreadsheet"])
