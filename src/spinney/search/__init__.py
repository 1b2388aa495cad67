"""From count tables to the best split of a node; no row is seen here."""
