"""How legible the source is, in figures: ``python -m tools.house``.

``source`` counts what a reader of the files meets, ``trace`` what a reader who follows
a call crosses, ``runs`` says which calls are followed, ``loaded`` which modules a
command loads, and ``table`` sets the figures beside those measured before.
"""
