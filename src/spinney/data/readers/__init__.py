"""One reader for each kind of file or object that holds a table."""
