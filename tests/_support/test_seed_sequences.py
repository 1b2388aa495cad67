"""Seeds made side by side are those that NumPy makes one by one."""

import numpy as np
import pytest

from spinney._support.seed_sequences import (
    generator_states,
    generator_words,
    seed_words,
    to_words,
)


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**100 + 3, 2**200 + 9])
def test_words_are_those_of_seed_sequences(seed):
    numbers = np.array([0, 1, 99, 2**32 - 1], np.uint32)
    entropy = [np.full_like(numbers, word) for word in to_words(seed)]
    made = seed_words([*entropy, numbers], 3)
    for words, number in zip(made, numbers.tolist(), strict=True):
        sequence = np.random.SeedSequence((seed, number))
        assert words.tolist() == sequence.generate_state(3, np.uint64).tolist()


def test_states_are_those_of_generators():
    seeds = np.array([0, 1, 2**32 - 1, 2**32, 2**63 + 5, 2**64 - 1], np.uint64)
    states = generator_states(generator_words(seeds))
    for seed, state in zip(seeds.tolist(), states, strict=True):
        assert state == np.random.PCG64(seed).state
