"""SQL engines, one per file: dialect, execution, parameters and limits."""
