"""Rows in parts, each counted where it is kept: tables are added up."""

from spinney.sources.parts.coded_part import PartRoles
from spinney.sources.parts.dask_executor import local_cluster
from spinney.sources.parts.open_parts import source_in_parts

__all__ = ["PartRoles", "local_cluster", "source_in_parts"]
