"""Named tuples by reference.

Numba hands a tuple of arrays on by value: each array is nine words, a call of a kernel
with a few dozen arrays is hundreds of arguments, and compiling these is most of the
work. An entry therefore puts its tuples on the stack once, and kernels are given where
they stand. To a kernel nothing else changes: it reads the same fields. A field that is
a named tuple itself comes back as a reference, too, so that one tuple may hold all
that a loop works on.
"""

from typing import Any

from spinney._support.jit.compile import OFF, PLAIN, kernel


def _same(named: Any) -> Any:
    """Return the tuple itself where loops are not compiled, or by plain Numba."""
    return named


if OFF or PLAIN:
    reference = kernel(_same)
else:
    from spinney._support.jit.pointers import refer

    reference = refer
