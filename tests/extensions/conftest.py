"""A PostgreSQL server for all tests of sources, where the machine has the programs."""

from collections.abc import Iterator

import pytest
from tests.helpers.postgres import programs, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    pytest.importorskip("psycopg")
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with server() as address:
        yield address
