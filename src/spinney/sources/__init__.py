"""Where rows live: in memory, or in a database."""
