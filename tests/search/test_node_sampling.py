"""What is drawn at nodes: known values, and what they must be."""

from collections import Counter

import pytest

from spinney._support.keyed_random import (
    GOLDEN,
    branch_key,
    coin,
    mix,
    root_key,
    uniform,
)
from spinney.search.node_sampling import sampled_attributes


def test_mix_is_the_finaliser_of_splitmix64():
    # The first outputs of splitmix64 with the seed 1234567, as the test vectors of
    # its public implementations have them: state += GOLDEN, then mix.
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    found = [mix(1234567 + turn * GOLDEN) for turn in range(1, 6)]
    assert found == expected


def test_keys_by_place():
    assert root_key(0) == 0
    assert root_key(1) == 0x5692161D100B05E5
    assert branch_key(root_key(1), 0) == 0xBFEF8030DDC2D772
    assert branch_key(root_key(1), 1) == 0x5F552CE482F2AA47


@pytest.mark.parametrize("key", [0, 1, root_key(1), 2**64 - 1])
def test_all_attributes_are_drawn_once(key):
    assert sorted(sampled_attributes(key, 7, 7, lambda _: True)) == list(range(7))
    assert sorted(sampled_attributes(key, 7, 3, lambda _: False)) == list(range(7))
    assert len(sampled_attributes(key, 7, 3, lambda _: True)) == 3
    assert sampled_attributes(key, 0, 3, lambda _: True) == []


def test_attributes_that_do_not_vary_are_drawn_and_not_counted():
    order = sampled_attributes(root_key(5), 6, 6, lambda _: True)
    still = set(order[:2])
    assert (
        sampled_attributes(root_key(5), 6, 1, lambda place: place not in still)
        == order[:3]
    )


def test_every_attribute_has_its_chance():
    seen = Counter(
        place
        for seed in range(6000)
        for place in sampled_attributes(mix(seed), 4, 2, lambda _: True)
    )
    # 3000 each, with a standard deviation of 39.
    assert all(abs(number - 3000) < 200 for number in seen.values())
    firsts = [
        sampled_attributes(mix(seed), 4, 1, lambda _: True)[0] for seed in range(6000)
    ]
    assert all(abs(number - 1500) < 170 for number in Counter(firsts).values())


def test_cuts_and_coins_are_even():
    numbers = [uniform(mix(seed), 3) for seed in range(2000)]
    assert all(0 <= number < 1 for number in numbers)
    assert abs(sum(numbers) / 2000 - 0.5) < 0.03
    heads = sum(coin(mix(seed), 3, code, 0) for seed in range(500) for code in range(4))
    assert abs(heads - 1000) < 120
