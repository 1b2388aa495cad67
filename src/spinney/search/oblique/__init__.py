"""Questions about several numbers at once."""
