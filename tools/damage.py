"""Damages of a model file: flipped bits, cut ends, wrong numbers, other words.

``mutated(sound, random)`` damages a sound file one to three times, mostly inside
and under a checksum that fits, so that what is behind the checksum is reached.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np

from spinney.output.file.container import DTYPES, METADATA

__all__ = ["mutated", "mutated_json", "mutated_text"]

WHOLE = (
    *(0, 1, 2, 3, -1, -2, 127, 2**15, 2**31 - 1, -(2**31)),
    *(2**62, -(2**63), 2**63 - 1),
)
REAL = (
    *(0.0, -0.0, 0.5, 1.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, 1e155, -1e155),
    *(np.inf, -np.inf, np.nan),
)
PLAIN: tuple[Any, ...] = (
    *(0, 1, -1, 2, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, 5e-324, True, False, None),
    *("", "x", "numeric", "nominal", "ordinal", "none", "\u202e", "\x1b[2J", "a" * 300),
    *([], {}, [1], [[1]], {"a": 1}),
)


@lru_cache(64)
def _read(header: bytes) -> dict[str, Any]:
    """Return a header; parsed once, so not to be changed."""
    entries: dict[str, Any] = json.loads(header)
    return entries


def _start(data: bytearray) -> int:
    """Return where arrays begin."""
    return 8 + int.from_bytes(data[:8], "little")


def _entries(data: bytearray) -> dict[str, Any]:
    """Return the header of a file as one's own."""
    entries = _read(bytes(data[8 : _start(data)]))
    texts = entries[METADATA]
    return {
        **{name: {**place} for name, place in entries.items() if name != METADATA},
        METADATA: {**texts},
    }


def _write(data: bytearray, entries: Mapping[str, Any]) -> None:
    written = json.dumps(entries).encode("utf-8")
    data[: _start(data)] = len(written).to_bytes(8, "little") + written


# Damage that knows nothing of the file.


def flip(data: bytearray, random: Random) -> None:
    """Turn one bit."""
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def byte(data: bytearray, random: Random) -> None:
    """Put any byte anywhere."""
    data[random.randrange(len(data))] = random.randrange(256)


def copy(data: bytearray, random: Random) -> None:
    """Write a piece of the file over another."""
    length = random.randrange(1, 64)
    source, target = (random.randrange(len(data) - length) for _ in range(2))
    data[target : target + length] = data[source : source + length]


def cut(data: bytearray, random: Random) -> None:
    """Leave out a piece, now and then all that follows."""
    start = random.randrange(len(data))
    length = len(data) if random.random() < 0.2 else random.randrange(1, 64)
    del data[start : start + length]


def digit(data: bytearray, random: Random) -> None:
    """Change a digit of the header."""
    end = min(_start(data), len(data))
    for place in (random.randrange(8, end) for _ in range(20)):
        if 48 <= data[place] < 58:
            data[place] = random.randrange(48, 58)
            return


def grow(data: bytearray, random: Random) -> None:
    """Add bytes at the end, or say that the header is longer."""
    if random.random() < 0.5:
        data += bytes(random.randrange(1, 64))
    else:
        data[:8] = (random.getrandbits(63) >> random.randrange(63)).to_bytes(
            8, "little"
        )


# Damage that knows where things are.


def entry(data: bytearray, random: Random) -> None:
    """Write a number that hurts where an array has one."""
    entries = _read(bytes(data[8 : _start(data)]))
    names = [name for name in entries if name not in (METADATA, "sha256")]
    place = entries[random.choice(names)]
    dtype = DTYPES[place["dtype"]]
    first, last = map(int, place["data_offsets"])
    if last - first < dtype.itemsize:
        return
    line = random.randrange((last - first) // dtype.itemsize)
    at = _start(data) + first + dtype.itemsize * line
    data[at : at + dtype.itemsize] = _number(dtype, random)


def exchange(data: bytearray, random: Random) -> None:
    """Let two numbers of an array change places, or one stand in the other's."""
    first, width, lines = _array(data, random)
    one, other = (first + width * random.randrange(lines) for _ in range(2))
    numbers = data[one : one + width], data[other : other + width]
    data[other : other + width] = numbers[0]
    if random.random() < 0.5:
        data[one : one + width] = numbers[1]


def scale(data: bytearray, random: Random) -> None:
    """Multiply a number of an array, or all of them, by one that is large or small."""
    first, width, lines = _array(data, random, kind="f")
    line = random.randrange(lines)
    some = slice(line, line + 1) if random.random() < 0.5 else slice(0, lines)
    dtype = np.dtype(f"<f{width}")
    numbers = np.frombuffer(bytes(data[first : first + width * lines]), dtype).copy()
    with np.errstate(all="ignore"):
        numbers[some] *= 10.0 ** random.choice((-300, -20, -3, 3, 20, 100, 200))
    data[first : first + width * lines] = numbers.tobytes()


def _array(data: bytearray, random: Random, kind: str = "fiu") -> tuple[int, int, int]:
    """Return where an array begins, how wide its numbers are, and how many."""
    entries = _read(bytes(data[8 : _start(data)]))
    places = [place for name, place in entries.items() if name != METADATA]
    places = [place for place in places if DTYPES[place["dtype"]].kind in kind]
    place = random.choice(places)
    first, last = map(int, place["data_offsets"])
    width = DTYPES[place["dtype"]].itemsize
    return _start(data) + first, width, (last - first) // width


def _number(dtype: "np.dtype[Any]", random: Random) -> bytes:
    if dtype.kind != "f":
        return np.array(random.choice(WHOLE), np.int64).astype(dtype).tobytes()
    with np.errstate(over="ignore"):
        return np.array(random.choice(REAL)).astype(dtype).tobytes()


def header(data: bytearray, random: Random) -> None:
    """Change what the header says of an array, or two of them in each other's place."""
    entries = _entries(data)
    names = [name for name in entries if name != METADATA]
    one, other = random.choice(names), random.choice(names)
    deed = random.randrange(4)
    if deed == 0:
        entries[one], entries[other] = entries[other], entries[one]
    elif deed == 1:
        entries[one]["shape"] = random.choices(WHOLE, k=random.randrange(4))
    elif deed == 2:
        entries[one]["dtype"] = random.choice(sorted(DTYPES))
    else:
        entries = json.loads(json.dumps(entries))
        _change(entries, random)
    _write(data, entries)


def model(data: bytearray, random: Random) -> None:
    """Change the JSON of the model, its packed arrays or a version."""
    entries = _entries(data)
    texts = entries[METADATA]
    name = "model" if random.random() < 0.8 else random.choice(sorted(texts))
    if name in ("model", "packed"):
        content = json.loads(texts[name])
        _change(content, random)
        texts[name] = json.dumps(content)
    else:
        texts[name] = str(random.choice(PLAIN))
    _write(data, entries)


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
    held, key = random.choice(spots)
    deed = random.random()
    if deed < 0.15:
        del held[key]
    elif deed < 0.3 and isinstance(held, list):
        held.insert(random.randrange(len(held) + 1), held[key])
    elif deed < 0.5:
        other, place = random.choice(spots)
        held[key] = json.loads(json.dumps(other[place]))
    else:
        held[key] = deepcopy(random.choice(PLAIN))  # what is in it may be changed next


Deed = Callable[[bytearray, Random], None]
INSIDE: Sequence[Deed] = (
    *(entry, entry, exchange, scale),
    *(model, model, header),
)
OUTSIDE: Sequence[Deed] = (flip, byte, copy, cut, digit, grow)


def mutated(sound: bytes, random: Random) -> bytes:
    """Return a sound file, damaged one to three times."""
    data = bytearray(sound)
    for _ in range(random.randrange(1, 4)):
        deeds = INSIDE if random.random() < 0.75 else OUTSIDE
        try:
            random.choice(deeds)(data, random)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            break  # damaged before, so that this deed finds no header
    if random.random() < 0.9 and len(data) > 32:
        data[-32:] = sha256(data[:-32]).digest()
    return bytes(data)


def mutated_text(sound: bytes, random: Random) -> bytes:
    """Return JSON, damaged."""
    return _damaged_text(sound, random, _change)


def mutated_json(sound: bytes, random: Random) -> bytes:
    """Return a model as JSON, damaged; as often its arrays as what is said of them."""
    return _damaged_text(sound, random, _change_model)


def _damaged_text(
    sound: bytes, random: Random, change: Callable[[Any, Random], None]
) -> bytes:
    if random.random() < 0.2:
        data = bytearray(sound)
        random.choice(OUTSIDE[:4])(data, random)
        return bytes(data)
    content = json.loads(sound)
    for _ in range(random.randrange(1, 4)):
        change(content, random)
    return json.dumps(content).encode("utf-8")


def _change_model(content: Any, random: Random) -> None:
    """Change a number of an array, what is said of one, or anything but arrays."""
    arrays, deed = content.get("arrays"), random.random()
    if not isinstance(arrays, dict) or not arrays or deed < 0.4:
        said = {name: part for name, part in content.items() if name != "arrays"}
        _change(said, random)
        content |= said
        return
    array = random.choice(list(arrays.values()))
    if isinstance(array, dict) and array.get("data") and deed < 0.8:
        cells, numbers = array["data"], (*WHOLE, *REAL, None, "inf", "-inf")
        if isinstance(cells, list):
            cells[random.randrange(len(cells))] = random.choice(numbers)
    else:
        _change(arrays, random)
