"""The default for many rows that are counted elsewhere."""

from spinney.recipes import Recipe, default_recipe, in_bins


def test_settings_by_hand_stay():
    recipe = default_recipe(in_memory=False).changed(max_depth=3, confidence=0.1)
    bounded = in_bins(recipe)
    assert (bounded.name, bounded.missing_policy) == ("cart", "branch")
    assert (bounded.max_depth, bounded.confidence) == (3, 0.1)
    policy = default_recipe(in_memory=False).changed(missing_policy="fractional")
    assert in_bins(policy).missing_policy == "fractional"


def test_what_cart_has_no_use_for_changes_nothing():
    recipe = Recipe.named("c4.5").changed(mdl_correction=True)
    assert in_bins(recipe) is recipe
