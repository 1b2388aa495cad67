"""The compiled loops: few, pure, arrays in and arrays out.

Nothing here knows a schema, a recipe or a tree. The plain learner, in plain NumPy, is
the twin that every kernel is tested against.
"""
