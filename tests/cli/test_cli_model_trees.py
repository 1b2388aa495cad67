"""Model trees in the shell."""


def test_grow_shows_the_models(works, folder):
    (folder / "step.csv").write_text("x,y\n1,0.5\n2,0\n3,10\n4,10\n", "utf-8")
    text = works("grow", "step.csv", "--target", "y", "--recipe", "m5", "--ascii")
    assert "LM1: y = " in text
    assert text.isascii()
