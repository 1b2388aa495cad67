"""Arrays in JSON: a letter and a size, a colon, and the bytes in base64.

A page of 50,000 nodes holds a few dozen numbers per node. Decimal numbers would be
several times as long and as slow to read; bytes keep thresholds exact.
"""

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGER_TYPES = ("u1", "i1", "u2", "i2", "u4", "i4")


def packed(array: "NDArray[Any] | list[Any]") -> str:
    """Return numbers in the narrowest type that holds them exactly.

    >>> packed(np.array([0.0, 1.0, 255.0])), packed(np.array([-1, 7]))
    ('u1:AAH/', 'i1:/wc=')
    >>> packed(np.array([0.5])), packed(np.array([0.1]))
    ('f4:AAAAPw==', 'f8:mpmZmZmZuT8=')
    """
    numbers = np.ascontiguousarray(array).ravel()
    if not len(numbers):
        return "u1:"
    kind = _narrowest_type(numbers)
    return f"{kind}:{b64encode(numbers.astype(f'<{kind}').tobytes()).decode()}"


def packed_fields(source: Any, *names: str) -> dict[str, str]:
    """Return the named arrays of an object, packed."""
    return {name: packed(getattr(source, name)) for name in names}


def _narrowest_type(numbers: NDArray[Any]) -> str:
    if numbers.dtype.kind == "b":
        return "u1"
    if numbers.dtype.kind == "f":
        whole = np.isfinite(numbers).all() and (numbers == np.trunc(numbers)).all()
        if not whole or np.signbit(numbers[numbers == 0]).any():  # or a minus zero
            with np.errstate(over="ignore"):
                single = numbers.astype(np.float32).astype(np.float64)
            return "f4" if np.array_equal(single, numbers, equal_nan=True) else "f8"
    low, high = numbers.min(), numbers.max()
    for kind in INTEGER_TYPES:
        bounds = np.iinfo(kind)
        if bounds.min <= low and high <= bounds.max:
            return kind
    return "f8"
