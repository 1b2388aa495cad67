"""What tells a training table from another."""

from dataclasses import dataclass

from spinney._version import __version__


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a model was grown on: enough to tell whether a table is the same one.

    Parameters
    ----------
    n_rows : int
        Rows of weight greater than 0 with a known class.
    weight : float
        Their weight.
    digest : str
        SHA-256 of the schema and the coded rows, in their order. Empty where the
        rows stayed in a database.
    version : str
        The version of Spinney that grew the tree.
    """

    n_rows: int
    weight: float
    digest: str = ""
    version: str = __version__
