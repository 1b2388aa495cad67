"""Forests side by side over a folder of tables. See docs/forests.md."""
