"""Rows that come to a model file and go from it, from the shell."""

import pytest

FIRST = "size,kind,sold\n1,a,no\n2,a,no\n3,b,yes\n4,a,yes\n"
MORE = "size,kind,sold\n5,c,late\n6,c,late\n"


@pytest.fixture
def files(folder):
    (folder / "first.csv").write_text(FIRST)
    (folder / "more.csv").write_text(MORE)
    (folder / "all.csv").write_text(FIRST + MORE.partition("\n")[2])


def test_an_updated_file_is_that_of_all_rows(files, works):
    growing = ("--target", "sold", "--recipe", "id3", "--quiet", "--keep-rows")
    works("grow", "first.csv", *growing, "-o", "m.spinney")
    tree = works("grow", "more.csv", "--update", "m.spinney", "-o", "n.spinney")
    assert tree == works("grow", "all.csv", "--target", "sold", "--recipe", "id3")
    back = works("grow", "--update", "n.spinney", "--remove", "more.csv")
    assert back == works("show", "m.spinney")
    works("grow", "all.csv", *growing, "--no-measure-quality", "-o", "all.spinney")
    with open("n.spinney", "rb") as one, open("all.spinney", "rb") as other:
        assert one.read() == other.read()


def test_what_an_update_refuses(files, tool):
    def refused(*arguments):
        outcome = tool("grow", *arguments)
        assert outcome.code != 0
        return outcome.err

    growing = ("--target", "sold", "--recipe", "id3", "--quiet")
    tool("grow", "first.csv", *growing, "-o", "m.spinney")
    assert "grow it with --keep-rows" in refused("more.csv", "--update", "m.spinney")
    tool("grow", "first.csv", *growing, "--keep-rows", "-o", "k.spinney")
    assert "no rows to add or remove" in refused("--update", "k.spinney")
    recipe = refused("more.csv", "--update", "k.spinney", "--recipe", "cart")
    assert "--recipe cart cannot be used with --update" in recipe
    absent = refused("--update", "k.spinney", "--remove", "more.csv")
    assert "row 1 is not among the 4 rows" in absent
    assert "--update" in refused("first.csv", *growing, "--remove", "more.csv")
    assert "missing option '--target'" in refused("first.csv")
    assert "missing argument 'DATA'" in refused("--target", "sold")


def test_the_default_is_grown_whole_and_says_why(files, tool):
    tool("grow", "first.csv", "--target", "sold", "--keep-rows", "-o", "m.spinney")
    outcome = tool("grow", "more.csv", "--update", "m.spinney")
    assert outcome.code == 0
    assert "m.spinney stored 4 rows; the new model has 6" in outcome.err
    assert "grown from scratch: cross-validation on all rows chooses" in outcome.err
