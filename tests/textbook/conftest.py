import pytest
from tests.textbook.tables_and_gains import path_of

import spinney


@pytest.fixture(scope="session")
def melons():
    """The ID3 tree of watermelon 2.0."""
    return spinney.grow(path_of("watermelon_2.0"), "ripe", ignore=["id"], recipe="id3")
