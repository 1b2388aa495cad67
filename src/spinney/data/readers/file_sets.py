"""Tables in several files: a folder of Parquet files, or a wildcard pattern.

The files are those below the folder, or matched by the pattern, in path order. A folder
``key=value`` in a path is a Hive partition: its key is a column. For a folder, only
folders below it count, so the table can be moved; for a pattern, all folders that it
names count, so that it can select partitions.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from glob import glob
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote

from spinney.errors import DataError

WILDCARDS = re.compile(r"[*?\[]")
HIDDEN = (".", "_")
"""Prefixes of files and folders that are not part of the table."""
NO_VALUE = ("", "__HIVE_DEFAULT_PARTITION__")
PARQUET = ".parquet"


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file of a table, with the keys and values of its partition."""

    path: Path
    keys: tuple[tuple[str, str | None], ...] = ()


def is_file_set(path: str) -> bool:
    """Return whether a path is a folder, or a pattern rather than an existing file.

    >>> is_file_set("table.parquet"), is_file_set("no such folder/*.parquet")
    (False, True)
    """
    if "://" in path or "\0" in path:
        return False
    if os.path.lexists(path):
        return os.path.isdir(path)
    return WILDCARDS.search(path) is not None


def files_of_table(
    path: str, suffixes: Sequence[str], *, declared: str | None = None
) -> tuple[TableFile, ...]:
    """Return the Parquet files of a folder or a pattern, in path order.

    ``suffixes`` are those of all table formats; other files are ignored, unless their
    format is ``declared``.
    """
    is_folder = os.path.isdir(path)
    base = Path(path) if is_folder else _fixed_part(path)
    paths = _files_below(base) if is_folder else _matched(path, base)
    names_of = {file: file.name.lower().removesuffix(".gz") for file in paths}
    tables = [
        file
        for file in paths
        if declared is not None or Path(names_of[file]).suffix in suffixes
    ]
    if not tables:
        _refuse_empty_set(path, is_folder=is_folder)
    if declared not in (None, "parquet"):
        raise _only_parquet(path, f"files of format {declared}")
    by_suffix = {Path(names_of[file]).suffix: file for file in reversed(tables)}
    if declared is None and len(by_suffix) > 1:
        kinds = " and ".join(sorted(by_suffix))
        msg = f"{path!r} has files of several formats ({kinds})"
        remedy = f"name those of one, such as {_pattern(path, is_folder=is_folder)!r}"
        raise DataError(msg, remedy=remedy)
    if declared is None and PARQUET not in by_suffix:
        raise _only_parquet(path, f"{next(iter(by_suffix))} files")
    above = len(base.parts) if is_folder else 0
    files = tuple(TableFile(file.absolute(), _keys(file, above)) for file in tables)
    _check_keys(files)
    return files


def _fixed_part(pattern: str) -> Path:
    """Return the folder part of a pattern before its first wildcard."""
    parts = Path(pattern).parts[:-1]
    return Path(*takewhile(lambda part: not WILDCARDS.search(part), parts))


def _files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, except hidden ones."""
    paths: list[Path] = []
    try:
        for inside, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
            shown = (name for name in names if not name.startswith(HIDDEN))
            paths.extend(Path(inside, name) for name in shown)
    except OSError as error:
        msg = f"folder {error.filename!r} cannot be read (permission denied)"
        raise DataError(msg) from None
    return sorted(paths, key=lambda name: name.parts)


def _raise(error: OSError) -> None:
    raise error


def _matched(pattern: str, base: Path) -> list[Path]:
    """Return all files matched by a pattern, or below matched folders."""
    paths: set[Path] = set()
    for match in map(Path, glob(pattern, recursive=True)):
        inside = match.parts[len(base.parts) :]
        if any(part.startswith(HIDDEN) for part in inside):
            continue
        paths.update(_files_below(match) if match.is_dir() else [match])
    return sorted(paths, key=lambda match: match.parts)


def _refuse_empty_set(path: str, *, is_folder: bool) -> None:
    if is_folder:
        msg = f"{path!r} is a folder without Parquet files"
        raise DataError(msg, remedy="name a file, or the folder that they are in")
    msg = f"no file of a table matches {path!r}"
    raise DataError(msg, remedy="check the pattern, or name the files' folder")


def _only_parquet(path: str, what: str) -> DataError:
    msg = f"{path!r} has {what}: a table in several files must be Parquet"
    remedy = "name one file, or write the files as Parquet"
    return DataError(msg, remedy=remedy)


def _pattern(path: str, *, is_folder: bool) -> str:
    if is_folder:
        return os.path.join(path, "**", f"*{PARQUET}")
    return re.sub(r"[^*\\/]*$", f"*{PARQUET}", path)


def _keys(path: Path, above: int) -> tuple[tuple[str, str | None], ...]:
    """Return the keys and values of a file's folders, except the first ``above``."""
    keys = []
    for part in path.parts[above:-1]:
        name, is_key, value = part.partition("=")
        if is_key and name:
            key_value = None if value in NO_VALUE else unquote(value)
            keys.append((unquote(name), key_value))
    return tuple(keys)


def _check_keys(files: Sequence[TableFile]) -> None:
    """Refuse a file with a repeated key, or with other keys than the first file."""
    for file in files:
        names = [name for name, _ in file.keys]
        for name in names:
            if names.count(name) > 1:
                msg = f"{str(file.path)!r} repeats the partition key {name!r}"
                remedy = "rename one of its folders, so that each key occurs once"
                raise DataError(msg, remedy=remedy)
    first = [name for name, _ in files[0].keys]
    for file in files:
        names = [name for name, _ in file.keys]
        if sorted(names) != sorted(first):
            msg = (
                f"{str(file.path)!r} has the partition keys {_listed(names)}, and "
                f"{str(files[0].path)!r} has {_listed(first)}"
            )
            remedy = "name a folder in which all files have the same keys"
            raise DataError(msg, remedy=remedy)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def key_types(files: Sequence[TableFile]) -> dict[str, str]:
    """Return the SQL type of each key, inferred from its values.

    >>> path = Path("a.parquet")
    >>> key_types([TableFile(path, (("year", "2024"), ("day", "2024-02-01")))])
    {'year': 'BIGINT', 'day': 'DATE'}
    """
    values: dict[str, list[str]] = {name: [] for name, _ in files[0].keys}
    for file in files:
        for name, value in file.keys:
            if value is not None:
                values[name].append(value)
    return {name: _type_of(found) for name, found in values.items()}


def _type_of(values: Sequence[str]) -> str:
    if not values:
        return "VARCHAR"
    for pattern, name in ((r"-?\d{1,18}", "BIGINT"), (r"-?\d{1,15}\.\d+", "DOUBLE")):
        if all(re.fullmatch(pattern, value, re.ASCII) for value in values):
            return name
    return "DATE" if all(map(_is_day, values)) else "VARCHAR"


def _is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII)) and bool(
            date.fromisoformat(text)
        )
    except ValueError:
        return False
