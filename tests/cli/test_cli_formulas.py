"""The shell over attributes with formulas."""

OUT = ("-o", "m.spinney")


def boundary(folder):
    """Write a table whose class is whether x − y > 0."""
    cells = [(7 * n % 40, 11 * n % 41) for n in range(200)]
    lines = [f"{x},{y},{'yes' if x > y else 'no'}" for x, y in cells]
    table = folder / "rows.csv"
    table.write_text("\n".join(["x,y,over", *lines]) + "\n", encoding="utf-8")


def test_combinations_from_growing_to_predicting(folder, works, tool):
    boundary(folder)
    grow = ("grow", "rows.csv", "--target", "over", "--ascii")
    text = works(*grow, "--set", "linear_terms=2", "--recipe", "cart", *OUT)
    assert "*y <= " in text or "x - y <= " in text
    assert works("predict", "m.spinney", "rows.csv").split()[:4] == [
        "over",
        "no",
        "no",
        "no",
    ]
    assert " - " in works("rules", "m.spinney", "--ascii")
    (folder / "less.csv").write_text("x\n1\n", encoding="utf-8")
    outcome = tool("predict", "m.spinney", "less.csv")
    assert outcome.code != 0
    assert "'y'" in outcome.err


def test_constructed_attributes(folder, works):
    boundary(folder)
    grow = ("grow", "rows.csv", "--target", "over", "--set", "construct=2")
    assert "x − y > " in works(*grow, "--recipe", "c4.5", "-o", "m.spinney")
    info = works("info", "m.spinney")
    assert "x − y" in info
    assert "construct" in info
    assert "splitting attribute: x − y" in works("explain", "m.spinney", "--node", "0")


def test_settings_that_mean_nothing_are_named_as_options(folder, tool):
    boundary(folder)
    for options in (
        ("--set", "linear_terms=-1"),
        ("--set", "construct=-1"),
        ("--set", "linear_penalty=-1"),
    ):
        outcome = tool("grow", "rows.csv", "--target", "over", *options)
        assert outcome.code == 2
        assert " ".join(options) in outcome.err
