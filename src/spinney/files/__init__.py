"""Model files, on their way to output."""
