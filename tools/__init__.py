"""Tools that measure, draw and check the source; no part of the library."""
