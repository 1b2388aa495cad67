"""A hundred thousand damaged files: refused, or trees all the same."""

import time

import numpy as np
import pytest
from tests.helpers.models import mixed_model, signed, textbook_model

from spinney.errors import ModelFormatError
from spinney.growth.model import Model
from spinney.output.export.tree_json import to_json
from spinney.output.file.model_files import load_model, save_model
from spinney.recipes import RECIPES

MUTATIONS = 100_000
WORDS = [0, 1, 2, 3, -1, -2, 2**31, 2**62, -(2**63), 2**63 - 1]
NUMBERS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 0.5]


def flip(data: bytearray, random: np.random.Generator) -> None:
    place = int(random.integers(len(data) * 8))
    data[place // 8] ^= 1 << place % 8


def byte(data: bytearray, random: np.random.Generator) -> None:
    data[int(random.integers(len(data)))] = int(random.integers(256))


def word(data: bytearray, random: np.random.Generator) -> None:
    """Overwrite a number of the arrays by one that is likely to hurt."""
    start = min(8 + int.from_bytes(data[:8], "little"), len(data) - 8)
    place = start + 8 * int(random.integers((len(data) - start) // 8))
    if random.random() < 0.5:
        value = np.int64(WORDS[int(random.integers(len(WORDS)))]).tobytes()
    else:
        value = np.float64(NUMBERS[int(random.integers(len(NUMBERS)))]).tobytes()
    data[place : place + 8] = value


def swap(data: bytearray, random: np.random.Generator) -> None:
    """Copy a piece of the file elsewhere."""
    length = int(random.integers(1, 64))
    source, target = random.integers(0, len(data) - length, 2).tolist()
    data[target : target + length] = data[source : source + length]


def cut(data: bytearray, random: np.random.Generator) -> None:
    place = int(random.integers(len(data)))
    del data[place : place + int(random.integers(1, 64))]


def digit(data: bytearray, random: np.random.Generator) -> None:
    """Change a digit of the header."""
    length = int.from_bytes(data[:8], "little")
    digits = [p for p in range(8, min(8 + length, len(data))) if 48 <= data[p] < 58]
    if digits:
        data[digits[int(random.integers(len(digits)))]] = int(random.integers(48, 58))


ACTS = [flip, byte, word, word, word, swap, cut, digit]


def samples() -> list[Model]:
    return [
        mixed_model(),
        mixed_model("own-category"),
        textbook_model("watermelon_2.0a", RECIPES["cart"]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("sample", range(3))
def test_damaged_files_are_refused_or_trees(tmp_path, sample):
    path = tmp_path / "m"
    save_model(samples()[sample], path)
    good = path.read_bytes()
    random = np.random.default_rng(sample)
    loaded, longest = 0, 0.0
    for _ in range(MUTATIONS // 3 + 1):
        data = bytearray(good)
        for _ in range(int(random.integers(1, 4))):
            ACTS[int(random.integers(len(ACTS)))](data, random)
        path.write_bytes(signed(bytes(data)))
        start = time.perf_counter()
        try:
            model = load_model(path)
        except ModelFormatError:
            continue
        finally:
            longest = max(longest, time.perf_counter() - start)
        loaded += 1
        if loaded % 20 == 0:
            to_json(model)
            save_model(model, tmp_path / "again")
    assert 0 < loaded < MUTATIONS // 6
    assert longest < 2
