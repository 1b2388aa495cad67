"""The shell over a target that is a number."""


def test_numbers_from_growing_to_predicting(folder, works, tool):
    table = folder / "sizes.csv"
    table.write_text("x,y\n1,0.5\n2,0.5\n3,9.5\n", encoding="utf-8")
    works("grow", "sizes.csv", "--target", "y", "--recipe", "cart", "-o", "m.spinney")
    assert works("predict", "m.spinney", "sizes.csv").split() == [
        "y",
        "0.5",
        "0.5",
        "9.5",
    ]
    outcome = tool("predict", "m.spinney", "sizes.csv", "--probabilities")
    assert outcome.code == 2
    assert "is numeric" in outcome.err
    assert "mean 3.5" in works("show", "m.spinney")
    assert "y = 9.5  (support 1, sd 0)" in works("rules", "m.spinney")
    assert "squared error" in works("explain", "m.spinney", "--node", "0")
    assert "target" in works("info", "m.spinney")
