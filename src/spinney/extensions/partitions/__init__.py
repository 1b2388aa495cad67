"""Tables in partitions: workers count their partitions, and the counts are added."""

from spinney.extensions.partitions.executors import local_cluster
from spinney.extensions.partitions.open_partitions import opened_rows
