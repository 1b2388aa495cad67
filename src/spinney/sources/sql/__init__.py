"""Rows that stay in a SQL engine: count tables by GROUP BY."""
