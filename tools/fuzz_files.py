"""Damage model files, and see that they are refused or do no harm.

``python -m tools.fuzz_files --count 1000000`` tries as many mutations of the files in
``tests/golden``: flipped bits, cut ends, other numbers in arrays, arrays that changed
places, other words in headers, most of them under a checksum that fits. Each loads, or
is a ``ModelFormatError``; what loads can be printed, predicted with, explained and
exported, or says why not by a ``SpinneyError``. Whatever else happens is a find: its
bytes are stored in ``tests/golden/damaged``, and ``tests/output/test_damaged_files.py``
tries them again for ever.
"""

import argparse
import json
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import spinney
from spinney.errors import ModelFormatError, SpinneyError
from spinney.output.file.container import DTYPES, METADATA

__all__ = [
    "DAMAGED",
    "RULES",
    "Trial",
    "mutated",
    "originals",
    "rows_for",
    "tried",
    "used",
]

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
DAMAGED = GOLDEN / "damaged"
RULES = "_rules.json"
SLOW = 2.0  # seconds of a processor: nothing that small may take longer

WHOLE = (
    0,
    1,
    2,
    3,
    -1,
    -2,
    127,
    2**15,
    2**31 - 1,
    -(2**31),
    2**62,
    -(2**63),
    2**63 - 1,
)
REAL = (0.0, -0.0, 0.5, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, np.inf, np.nan)
PLAIN: tuple[Any, ...] = (
    *(0, 1, -1, 2, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, 5e-324, True, False, None),
    *("", "x", "numeric", "nominal", "ordinal", "none", "\u202e", "\x1b[2J", "a" * 300),
    *([], {}, [1], [[1]], {"a": 1}),
)

Random = np.random.Generator
Rows = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a mutation: "refused", "used", or an error nobody meant."""

    outcome: str
    seconds: float
    problem: str = ""


@cache
def originals() -> dict[str, bytes]:
    """Return the sound files by name: trees, forests, clusters, rules; all versions."""
    paths = [*GOLDEN.glob("*.spinney"), *GOLDEN.glob(f"*{RULES}")]
    return {path.name: path.read_bytes() for path in sorted(paths)}


def loaded(path: Path) -> Any:
    """Return the model of a file; rules are text."""
    if not path.name.endswith(RULES):
        return spinney.load(path)
    return spinney.RuleSet.from_json(path.read_text("utf-8", errors="replace"))


@cache
def rows_for(name: str) -> Rows:
    """Return rows that a sound file predicts: known, unknown and missing cells."""
    model = loaded(GOLDEN / name)
    attributes = getattr(model, "clusters_", model).schema.attributes
    rows = {}
    for attribute in attributes:
        numbers: list[Any] = [None, -1e9, 0.0, 1.0, 3.5, 1e9]
        others = [None, *attribute.values[:4], "never seen"]
        cells = numbers if attribute.kind == "numeric" else others
        rows[attribute.name] = [cells[place % len(cells)] for place in range(6)]
    return rows


# Ways to damage a file. Those of bytes change them in place.


def flip(data: bytearray, random: Random) -> None:
    """Turn one bit."""
    bit = int(random.integers(len(data) * 8))
    data[bit // 8] ^= 1 << bit % 8


def byte(data: bytearray, random: Random) -> None:
    """Put any byte anywhere."""
    data[int(random.integers(len(data)))] = int(random.integers(256))


def copy(data: bytearray, random: Random) -> None:
    """Write a piece of the file over another."""
    length = int(random.integers(1, 64))
    source, target = random.integers(0, len(data) - length, 2).tolist()
    data[target : target + length] = data[source : source + length]


def cut(data: bytearray, random: Random) -> None:
    """Leave out a piece, now and then all that follows."""
    start = int(random.integers(len(data)))
    length = len(data) if random.random() < 0.2 else int(random.integers(1, 64))
    del data[start : start + length]


def digit(data: bytearray, random: Random) -> None:
    """Change a digit of the header."""
    end = min(8 + int.from_bytes(data[:8], "little"), len(data))
    digits = [place for place in range(8, end) if 48 <= data[place] < 58]
    if digits:
        data[digits[int(random.integers(len(digits)))]] = int(random.integers(48, 58))


def grow(data: bytearray, random: Random) -> None:
    """Add bytes at the end, or say that the header is longer."""
    if random.random() < 0.5:
        data += bytes(int(random.integers(1, 64)))
    else:
        data[:8] = int(random.integers(2**63 - 1) >> random.integers(63)).to_bytes(
            8, "little"
        )


def entry(data: bytearray, random: Random) -> None:
    """Write a number that hurts where an array has one."""
    entries, start = _entries(data)
    names = [name for name in entries if name not in (METADATA, "sha256")]
    if not names:
        return
    place = entries[names[int(random.integers(len(names)))]]
    dtype = DTYPES[place["dtype"]]
    first, last = place["data_offsets"]
    if last - first < dtype.itemsize:
        return
    at = (
        start
        + first
        + dtype.itemsize * int(random.integers((last - first) // dtype.itemsize))
    )
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            number = np.array(REAL[int(random.integers(len(REAL)))]).astype(dtype)
    else:
        whole = np.array(WHOLE[int(random.integers(len(WHOLE)))], np.int64)
        number = whole.astype(dtype)
    data[at : at + dtype.itemsize] = number.tobytes()


def header(data: bytearray, random: Random) -> None:
    """Change what the header says of an array, or two of them in each other's place."""
    entries, start = _entries(data)
    names = [name for name in entries if name != METADATA]
    one, other = (names[int(at)] for at in random.integers(len(names), size=2))
    deed = int(random.integers(4))
    if deed == 0:
        entries[one], entries[other] = entries[other], entries[one]
    elif deed == 1:
        entries[one]["shape"] = [
            int(WHOLE[int(at)])
            for at in random.integers(len(WHOLE), size=int(random.integers(4)))
        ]
    elif deed == 2:
        entries[one]["dtype"] = sorted(DTYPES)[int(random.integers(len(DTYPES)))]
    else:
        _change(entries, random)
    _write(data, entries, start)


def model(data: bytearray, random: Random) -> None:
    """Change what the JSON of the model says, or what is packed, or a version."""
    entries, start = _entries(data)
    texts = entries[METADATA]
    name = "model" if random.random() < 0.8 else str(random.choice(sorted(texts)))
    if name in ("model", "packed"):
        content = json.loads(texts[name])
        _change(content, random)
        texts[name] = json.dumps(content)
    else:
        texts[name] = str(PLAIN[int(random.integers(len(PLAIN)))])
    _write(data, entries, start)


def _change(content: Any, random: Random) -> None:
    """Change one thing of a tree of lists and dictionaries, anywhere in it."""
    spots = list[tuple[Any, Any]]()
    stack = [content]
    while stack:
        each = stack.pop()
        keys = each if isinstance(each, dict) else range(len(each))
        for key in keys:
            spots.append((each, key))
            if isinstance(each[key], (dict, list)):
                stack.append(each[key])
    if not spots:
        return
    held, key = spots[int(random.integers(len(spots)))]
    deed = random.random()
    if deed < 0.15:
        del held[key]
    elif deed < 0.3 and isinstance(held, list):
        held.insert(int(random.integers(len(held) + 1)), held[key])
    elif deed < 0.5:
        other, place = spots[int(random.integers(len(spots)))]
        held[key] = json.loads(json.dumps(other[place]))
    else:
        held[key] = PLAIN[int(random.integers(len(PLAIN)))]


def _entries(data: bytearray) -> tuple[dict[str, Any], int]:
    """Return the header of a sound file, and where its arrays begin."""
    start = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:start]), start


def _write(data: bytearray, entries: Mapping[str, Any], start: int) -> None:
    written = json.dumps(entries).encode("utf-8")
    data[:start] = len(written).to_bytes(8, "little") + written


Deed = Callable[[bytearray, Random], None]
# What keeps the file one that can be read comes before what may not.
INSIDE: Sequence[Deed] = (entry, entry, entry, model, model, header)
OUTSIDE: Sequence[Deed] = (flip, byte, copy, cut, digit, grow)


def mutated(name: str, random: Random) -> bytes:
    """Return a sound file, damaged one to three times."""
    data = bytearray(originals()[name])
    if name.endswith(RULES):
        return _mutated_text(data, random)
    for _ in range(int(random.integers(1, 4))):
        deeds = INSIDE if random.random() < 0.75 else OUTSIDE
        try:
            deeds[int(random.integers(len(deeds)))](data, random)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            break  # damaged before, so that this deed finds no header
    if random.random() < 0.9 and len(data) > 32:
        data[-32:] = sha256(data[:-32]).digest()
    return bytes(data)


def _mutated_text(data: bytearray, random: Random) -> bytes:
    """Return JSON of rules, damaged."""
    if random.random() < 0.2:
        OUTSIDE[int(random.integers(4))](data, random)
        return bytes(data)
    content = json.loads(data)
    for _ in range(int(random.integers(1, 4))):
        _change(content, random)
    return json.dumps(content).encode("utf-8")


def _uses(model: Any, rows: Rows) -> list[Callable[[], object]]:
    """Return all that a user might do with a model."""
    always: list[Callable[[], object]] = [
        lambda: str(model),
        lambda: model.predict(rows),
    ]
    kind = getattr(model, "kind", "clusters")
    if kind == "forest":
        return [*always, lambda: str(model.trees[0]), lambda: model.importances]
    if kind == "rules":
        return [*always, lambda: model.to_json()]
    if kind == "clusters":
        return always
    return [
        *always,
        lambda: model.facts(),
        lambda: str(model.rules()),
        lambda: str(model.explain(node=0)),
        lambda: model.export("json"),
    ]


def used(path: Path, rows: Rows) -> None:
    """Load a file, and do all with the model; only an error nobody meant passes."""
    for use in _uses(loaded(path), rows):
        try:
            use()
        except SpinneyError as error:
            str(error)


def tried(data: bytes, path: Path, rows: Rows) -> Trial:
    """Write a damaged file, and see what becomes of it."""
    path.write_bytes(data)
    start = time.process_time()
    outcome, problem = "used", ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            used(path, rows)
        except ModelFormatError:
            outcome = "refused"
        except Exception as error:  # noqa: BLE001 (whatever it is, it is a find)
            outcome, problem = type(error).__name__, _where(error)
    seconds = time.process_time() - start
    if seconds > SLOW and not problem:
        outcome, problem = "slow", f"{seconds:.1f} s"
    return Trial(outcome, seconds, problem)


def _where(error: Exception) -> str:
    frame = error.__traceback__
    lines = []
    while frame is not None:
        code = frame.tb_frame.f_code
        lines.append(f"{Path(code.co_filename).name}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return f"{' '.join(str(error).split())[:120]} ({', '.join(lines[-3:])})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try many, say what came of them, keep the finds; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=DAMAGED, help="where finds go")
    options = parser.parse_args(arguments)
    names, outcomes, finds = list(originals()), Counter[str](), dict[str, str]()
    slowest, random = 0.0, np.random.default_rng(options.seed)
    with TemporaryDirectory() as directory:
        for number in range(options.count):
            name = names[number % len(names)]
            data = mutated(name, random)
            path = Path(directory) / (f"m{RULES}" if RULES in name else "m.spinney")
            trial = tried(data, path, rows_for(name))
            outcomes[trial.outcome] += 1
            slowest = max(slowest, trial.seconds)
            if trial.problem and trial.problem.partition("(")[2] not in finds:
                finds[trial.problem.partition("(")[2]] = trial.problem
                options.keep.mkdir(exist_ok=True)
                stem = f"{name.partition('.')[0]}-{sha256(data).hexdigest()[:12]}"
                suffix = RULES if RULES in name else ".spinney"
                (options.keep / f"{stem}{suffix}").write_bytes(data)
                print(f"{stem}: {trial.outcome}: {trial.problem}", file=sys.stderr)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    counts = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common())
    print(
        f"{options.count} mutations of {len(names)} files: {counts}; the slowest took "
        f"{slowest:.2f} s, {memory} MB resident at most; {len(finds)} finds"
    )
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
