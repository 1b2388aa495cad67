"""What a person waits for: default settings, small tables. See docs/speed.md."""
