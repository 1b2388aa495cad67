"""Trees that Spark counts, beside those of memory."""

import pytest
from tests.helpers.spark_session import in_spark, spark_session

from spinney.testing import check_source

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session():
    with spark_session() as running:
        yield running


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid", "m5"])
def test_trees_are_those_of_memory(session, recipe):
    # The seventh table has missing cells and weights; nothing is left behind.
    check_source(in_spark(session), recipes=[recipe], n_tables=1, n_rows=20, seed=7)
