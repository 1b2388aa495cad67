"""A session of Spark inside this machine, where pyspark and Java are."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def spark_session() -> Iterator[Any]:
    """Give a session, or skip the test by the name of what the machine lacks."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt-get install default-jre-headless")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = sql.SparkSession.builder.master("local[1]").appName("spinney")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def in_spark(session: Any) -> Callable[[dict[str, list[Any]]], Any]:
    """Return what makes a data frame of columns."""
    from pyspark.sql import types

    kinds = {
        str: types.StringType(),
        float: types.DoubleType(),
        bool: types.BooleanType(),
    }

    @contextmanager
    def opened(columns: dict[str, list[Any]]) -> Iterator[tuple[Any, dict[str, Any]]]:
        fields = [
            types.StructField(
                name, kinds[next(type(c) for c in cells if c is not None)]
            )
            for name, cells in columns.items()
        ]
        lines = list(zip(*columns.values(), strict=True))
        yield session.createDataFrame(lines, types.StructType(fields)), {}
        left = [table.name for table in session.catalog.listTables()]
        assert not [name for name in left if name.startswith("spinney")]

    return opened
