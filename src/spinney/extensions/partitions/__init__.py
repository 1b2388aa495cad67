"""Rows in parts, each counted where it is kept: tables are added up."""

from spinney.extensions.partitions.coded_part import PartRoles
from spinney.extensions.partitions.dask_executor import local_cluster
from spinney.extensions.partitions.open_parts import source_in_parts

__all__ = ["PartRoles", "local_cluster", "source_in_parts"]
