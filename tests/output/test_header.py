"""Damaged texts of a model file: versions, schema, recipe and fingerprint."""

import pytest
from tests.helpers.models import (
    assert_same_model,
    good_file,
    mixed_model,
    refusal,
    with_model,
    with_texts,
)

from spinney.output.file.model_files import load_model

good = good_file  # the fixture, by the name that tests ask for


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"format": None}, "not a Spinney model"),
        ({"format": "other"}, "not a Spinney model"),
        ({"format_version": None}, "version numbers are invalid"),
        ({"format_version": "0"}, "version numbers are invalid"),
        ({"min_reader_version": "-1"}, "version numbers are invalid"),
        ({"min_reader_version": "²"}, "version numbers are invalid"),
        ({"library_version": None}, "has no 'library_version'"),
        ({"model": None}, "has no 'model'"),
        ({"model": "{"}, "no JSON"),
        ({"model": "[]"}, "must be an object"),
        ({"model": '{"target": NaN}'}, "holds NaN"),
        ({"other": "text"}, "unknown key 'other'"),
    ],
)
def test_texts(tmp_path, good, changes, why):
    assert why in refusal(with_texts(good, **changes), tmp_path)


def test_newer_version(tmp_path, good):
    newer = with_texts(
        good, format_version="9", min_reader_version="8", library_version="7.0"
    )
    message = refusal(newer, tmp_path)
    assert "written by a newer Spinney (7.0)" in message
    assert "upgrade" in message


def test_newer_version_that_old_readers_may_read(tmp_path, good):
    newer = with_texts(good, format_version="9", **{"optional.note": "new"})
    (tmp_path / "m").write_bytes(newer)
    assert_same_model(load_model(tmp_path / "m"), mixed_model())


def test_newer_version_with_something_unknown(tmp_path, good):
    newer = with_texts(good, format_version="9", note="new")
    assert "newer Spinney: upgrade" in refusal(newer, tmp_path)


SCHEMA_DAMAGE = {
    "no classes": (lambda m: m.update(classes=[]), "either classes or an origin"),
    "classes twice": (lambda m: m.update(classes=["a", "b", "a"]), "twice"),
    "1 and 1.0": (lambda m: m.update(classes=[1, 1.0, 2]), "twice"),
    "class null": (lambda m: m.update(classes=["a", "b", None]), "nothing"),
    "class a list": (lambda m: m.update(classes=["a", "b", []]), "a list"),
    "classes no list": (lambda m: m.update(classes="ab"), "must be a list"),
    "too few classes": (lambda m: m["classes"].pop(), "entries where"),
    "target no text": (lambda m: m.update(target=3), "must be text"),
    "names twice": (lambda m: m["attributes"][0].update(name="size"), "one name"),
    "name no text": (lambda m: m["attributes"][0].update(name=None), "must be text"),
    "kind": (lambda m: m["attributes"][0].update(kind="other"), "unknown kind"),
    "kind a list": (lambda m: m["attributes"][0].update(kind=[]), "unknown kind"),
    "numeric values": (lambda m: m["attributes"][2].update(values=["a"]), "numeric"),
    "values twice": (lambda m: m["attributes"][0].update(values=["a", "a"]), "twice"),
    "unit": (lambda m: m["attributes"][2].update(unit="x since y"), "unknown unit"),
    "unit of no date": (
        lambda m: m["attributes"][2].update(unit="days since then"),
        "unknown unit",
    ),
    "unit no text": (lambda m: m["attributes"][2].update(unit=3), "must be text"),
    "attribute key": (lambda m: m["attributes"][0].update(x=1), "unknown key 'x'"),
    "attribute lost": (lambda m: m["attributes"].pop(), "unknown attribute"),
    "attributes no list": (lambda m: m.update(attributes={}), "must be a list"),
    "marker": (lambda m: m.update(markers=[1]), "must be text"),
    "markers": (lambda m: m.update(markers="?"), "must be a list"),
    "surrogate": (lambda m: m.update(classes=["a", "b", "\udc00"]), "surrogate"),
    "unknown key": (lambda m: m.update(x=1), "unknown key 'x'"),
    "no recipe": (lambda m: m.pop("recipe"), "has no 'recipe'"),
    "criterion": (lambda m: m["recipe"].update(criterion="x"), "recipe is invalid"),
    "criterion a list": (
        lambda m: m["recipe"].update(criterion=[]),
        "recipe is invalid",
    ),
    "policy": (lambda m: m["recipe"].update(missing_policy=1), "recipe is invalid"),
    "grouping": (lambda m: m["recipe"].update(grouping={}), "recipe is invalid"),
    "max_depth": (lambda m: m["recipe"].update(max_depth="3"), "recipe is invalid"),
    "min_gain": (lambda m: m["recipe"].update(min_gain=-1), "recipe is invalid"),
    "recipe name": (lambda m: m["recipe"].update(name=1), "must be text"),
    "recipe key": (lambda m: m["recipe"].update(x=1), "unknown key 'x'"),
    "recipe names": (lambda m: m["recipe"].update(missing="mean"), "key 'missing'"),
    "recipe lacks": (lambda m: m["recipe"].pop("criterion"), "has no 'criterion'"),
    "recipe no object": (lambda m: m.update(recipe=[]), "must be an object"),
    "n_rows": (lambda m: m["fingerprint"].update(n_rows=-1), "at least 0"),
    "n_rows huge": (lambda m: m["fingerprint"].update(n_rows=2**63), "at least 0"),
    "weight": (lambda m: m["fingerprint"].update(weight=-1.0), "negative"),
    "weight text": (lambda m: m["fingerprint"].update(weight="1"), "must be a number"),
    "digest": (lambda m: m["fingerprint"].update(digest=1), "must be text"),
    "tried": (lambda m: m.update({"optional.tried": {}}), "must be a list"),
    "tried of nothing": (lambda m: m.update({"optional.tried": [{}]}), "has no 'name'"),
    "tried risk": (
        lambda m: m.update(
            {
                "optional.tried": [
                    {
                        "name": "cart",
                        "risk": "low",
                        "deviation": 0.1,
                        "leaves": 2,
                        "chosen": True,
                    }
                ]
            }
        ),
        "must be a number",
    ),
}


@pytest.mark.parametrize("change, why", SCHEMA_DAMAGE.values(), ids=SCHEMA_DAMAGE)
def test_damaged_schema(tmp_path, good, change, why):
    assert why in refusal(with_model(good, change), tmp_path)


def test_setting_that_older_files_lack(tmp_path, good):
    older = with_model(good, lambda m: m["recipe"].pop("min_gain"))
    (tmp_path / "m").write_bytes(older)
    assert_same_model(load_model(tmp_path / "m"), mixed_model())


def test_former_names_of_settings(tmp_path, good):
    def rename(model):
        recipe = model["recipe"]
        recipe["missing"] = recipe.pop("missing_policy")
        recipe.update(reuse=True, grace=200, tie_bound=0.05, counting_leaves=1000)

    (tmp_path / "m").write_bytes(with_model(good, rename))
    assert_same_model(load_model(tmp_path / "m"), mixed_model())
