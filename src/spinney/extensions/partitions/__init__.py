"""Rows in partitions, each counted where it is kept: tables are added up."""

from spinney.extensions.partitions.executors import local_cluster
from spinney.extensions.partitions.open_partitions import opened_rows
