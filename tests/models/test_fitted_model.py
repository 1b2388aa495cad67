"""One type of fitted model: trees, forests, clusters and rule sets."""

import numpy as np
import pytest

import spinney
from spinney import ParameterError, RuleSet
from spinney.extensions.clustering.models import FittedClusters
from spinney.models import FittedModel, load_model
from spinney.output.export_formats import FORMATS

ROWS = {
    "size": [1, 2, 3, 4, 5, 6] * 3,
    "sky": ["grey", "blue", "blue"] * 6,
    "sold": (["no"] * 3 + ["yes"] * 3) * 3,
}
KINDS = ("tree", "forest", "clusters", "rules")


@pytest.fixture(scope="module")
def models():
    tree = spinney.grow(ROWS, "sold", recipe="c4.5")
    numbers = {"size": ROWS["size"]}
    clusters = spinney.KMeans(2, random_state=0).fit(np.array([ROWS["size"]]).T)
    return {
        "tree": tree,
        "forest": spinney.grow_forest(ROWS, "sold", n_estimators=3),
        "clusters": FittedClusters(clusters.clusters_),
        "rules": tree.ruleset(ROWS),
        "numbers": numbers,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_is_a_fitted_model(models, kind):
    model = models[kind]
    assert isinstance(model, FittedModel)
    assert model.kind == kind
    table = {"x0": [1, 6], "size": [1, 6], "sky": ["grey", "blue"]}
    assert model.read(table).n_rows == 2
    assert len(model.outputs(model.read(table))) == 2
    assert model.facts()
    assert len(model.schema.attributes) >= 1


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_file_is_loaded_by_what_it_holds(models, kind, tmp_path):
    models[kind].save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.kind == kind
    assert loaded.facts() == models[kind].facts()
    with pytest.raises(ParameterError, match="exists"):
        loaded.save(tmp_path / "m", overwrite=False)


def test_a_rule_set_is_saved_as_json(models, tmp_path):
    models["rules"].save(tmp_path / "rules.json")
    text = (tmp_path / "rules.json").read_text("utf-8")
    assert RuleSet.from_json(text) == models["rules"]
    assert text == models["rules"].export("json")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_a_format_says_a_kind_or_refuses_it_by_name(models, kind, format, tmp_path):
    if kind in (FORMATS[format].kinds or KINDS):
        content = models[kind].export(format, path=tmp_path / "out")
        written = content if isinstance(content, bytes) else content.encode()
        assert (tmp_path / "out").read_bytes() == written
        return
    with pytest.raises(
        ParameterError, match=f"format='{format}' cannot express .*{kind}"
    ):
        models[kind].export(format, path=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nobody_asks_for_attributes_of_one_kind():
    from pathlib import Path

    for path in Path(spinney.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        assert 'hasattr(model, "forest_")' not in text, path
        assert '"clusters_")' not in text, path
