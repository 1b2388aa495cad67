"""Products around the core: each folder is one, and the core imports none of them.

:mod:`spinney.registry` says what each offers, and loads it when it is asked for.
"""
