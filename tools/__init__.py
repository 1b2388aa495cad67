"""What measures, draws and checks the source; no part of the library."""
