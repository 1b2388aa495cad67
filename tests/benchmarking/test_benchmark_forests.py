"""The study of forests, on a small folder of tables."""

import json
import sys

import numpy as np
import pytest
from benchmarks.forests import __main__ as study
from benchmarks.forests import programs
from benchmarks.forests.programs import Shared, run_sklearn, run_spinney
from benchmarks.forests.tables import folded

pytest.importorskip("pandas")


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(0)
    lines = ["size,shade,grade,name,kind"]
    for row in range(80):
        size, shade = round(float(draw.normal()), 2), "abc"[draw.integers(3)]
        kind = "yes" if size > 0 else "no"
        cells = [str(size), "?" if row % 9 == 0 else shade, "NA", f"n{row}", kind]
        lines.append(",".join(cells))
    (tmp_path / "small.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    facts = {
        "file": "small.csv",
        "rows": 80,
        "header": ["size", "shade", "grade", "name", "kind"],
        "target": "kind",
        "task": "classification",
        "ignore": ["name"],
        "types": {
            "size": "numeric",
            "shade": "nominal",
            "grade": "ordinal",
            "name": "nominal",
            "kind": "nominal",
        },
        "levels": {"grade": ["NA", "high"]},
        "missing_marker": "?",
    }
    (tmp_path / "schema.json").write_text(json.dumps({"small": facts}))
    return tmp_path


def read(folder, **changes):
    facts = json.loads((folder / "schema.json").read_text())["small"]
    told = {"n_folds": 4, "most_rows": 5000, "seed": 1, **changes}
    return folded(folder, "small", facts, **told)


def test_a_table_in_folds(folder):
    table = read(folder)
    assert list(table.frame) == ["size", "shade", "grade"]
    assert table.frame["shade"].isna().sum() == 9
    assert not table.frame["grade"].isna().any()  # NA is a level of it
    assert table.frame["grade"].cat.ordered
    assert sorted(np.bincount(table.fold)) == [20, 20, 20, 20]
    for inside, held_out in table.folds:
        assert (inside ^ held_out).all()


def test_some_rows_are_drawn_by_class(folder):
    whole, some = read(folder), read(folder, most_rows=40)
    assert len(some.frame) == pytest.approx(40, abs=1)
    assert some.drawn_from == 80
    assert some.target.mean() == pytest.approx(whole.target.mean(), abs=0.02)


@pytest.mark.parametrize("run", [run_spinney, run_sklearn])
def test_programs_guess(folder, run):
    table = read(folder)
    assert study.score(table, run(table, Shared(10, 0, 1))) > 85


def test_the_command(folder, monkeypatch, capsys):
    monkeypatch.setattr(study, "ranger_version", lambda: None)
    arguments = ["forests", "--data", str(folder), "--folds", "3", "--trees", "5"]
    chosen = ["--programs", "spinney;unshrunk;ranger", "--most-rows", "60"]
    monkeypatch.setattr(sys, "argv", [*arguments, *chosen])
    study.main()
    printed = capsys.readouterr().out
    assert "ranger is left out" in printed
    assert "small               60*" in printed
    assert "| unshrunk |" in printed
    assert "| ranger |" not in printed


def test_without_tables(tmp_path, monkeypatch, capsys):
    absent = str(tmp_path / "nowhere")
    monkeypatch.setattr(sys, "argv", ["forests", "--data", absent])
    study.main()
    assert "skipped: there is no folder" in capsys.readouterr().out


def test_no_r_no_ranger(monkeypatch):
    monkeypatch.setenv("PATH", "")
    programs.ranger_version.cache_clear()
    assert programs.ranger_version() is None
    programs.ranger_version.cache_clear()
