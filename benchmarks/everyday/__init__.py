"""Times that users wait: default settings, small tables. See docs/speed.md."""
