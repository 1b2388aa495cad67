"""The command ``explore``: what it writes, and what it refuses."""

import pytest

import spinney
from spinney.cli import run


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
    spinney.grow(shop, "sold", recipe="c4.5").save(tmp_path / "shop.spinney")
    lines = (f"{n},{sold}" for n, sold in zip(shop["size"], shop["sold"], strict=True))
    (tmp_path / "shop.csv").write_text("size,sold\n" + "\n".join(lines) + "\n")
    return tmp_path / "shop.spinney"


def test_the_page_is_named_after_the_model(model, capsys):
    assert run(["explore", "shop.spinney"]) == 0
    assert capsys.readouterr().err == (
        "spinney: written to shop.html (counts only, no rows)\n"
    )
    page = model.with_suffix(".html").read_text("utf-8")
    assert page == spinney.load(model).explore().html
    assert run(["explore", "shop.spinney"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(["explore", "shop.spinney", "--overwrite"]) == 0


def test_rows_and_a_second_model(model, capsys):
    output = ["-o", "both.html", "--rows", "shop.csv"]
    assert run(["explore", "shop.spinney", "shop.spinney", *output]) == 0
    assert "with the rows of shop.csv" in capsys.readouterr().err
    page = model.with_name("both.html").read_text("utf-8")
    assert page.count('"of_rows":6') == 2


def test_histograms_of_a_table_and_no_row_of_it(model, capsys):
    assert run(["explore", "shop.spinney", "--data", "shop.csv"]) == 0
    assert "(counts of shop.csv, no rows)" in capsys.readouterr().err
    page = model.with_suffix(".html").read_text("utf-8")
    assert page == spinney.load(model).explore(data="shop.csv").html
    assert '"counted":6' in page
    assert '"of_rows"' not in page.split("spinney-data", 1)[1]


def test_it_goes_to_standard_output(model, capsys):
    assert run(["explore", "shop.spinney", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_it_is_opened_from_a_temporary_file(model, capsys, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(["explore", "shop.spinney", "--open"]) == 0
    assert opened[0].startswith("file://")
    assert opened[0].endswith("/shop.html")
    assert "open it yourself" in capsys.readouterr().err.replace(
        opened[0].removeprefix("file://"), "it"
    )


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["-o", "page.png"], "does not end in .html"),
        (["-o", "-", "--open"], "exclude each other"),
        (["--decimal", ","], "--decimal , has no effect without --rows"),
        (["--rows", "nothing.csv"], "nothing.csv"),
        (["--rows", "shop.csv", "--data", "shop.csv"], "exclude each other"),
        (["nowhere.spinney"], "nowhere.spinney"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, said, model, capsys):
    assert run(["explore", "shop.spinney", *arguments]) in (1, 2, 3, 4)
    assert said in capsys.readouterr().err
    assert not model.with_suffix(".html").exists()
