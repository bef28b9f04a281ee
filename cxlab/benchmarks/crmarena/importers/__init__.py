"""The published task files and the SQLite copies of the original organisation."""
