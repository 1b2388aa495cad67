"""Another people's engine: rows that a source counts, and what it was asked."""

from contextlib import contextmanager

from spinney.data.readers import read_table
from spinney.sources.rows import rows_in_memory
from spinney.sources.rows.memory import MemorySource
from spinney.sources.rows.sampleable_rows import RemoteData


class Ledger(MemorySource):
    """A source that notes how many tables it was asked for."""

    asked = 0

    def tables(self, requests):
        """Give the tables of all requests."""
        Ledger.asked += sum(len(request.attributes) for request in requests)
        return super().tables(requests)


@contextmanager
def opened_rows(data, roles, wanted, *, engine, connection=None):
    """Give the rows of a table, for as long as they are needed."""
    rows = rows_in_memory(
        read_table(data, **roles.reading),
        roles.target,
        roles.weight,
        roles.declared,
        from_zero=roles.from_zero,
        identifiers=roles.identifiers,
        complete=roles.complete,
    )
    source = Ledger(
        rows.schema, rows.columns, classes=rows.classes, weights=rows.weights
    )
    yield RemoteData(rows.fingerprint(), source)
