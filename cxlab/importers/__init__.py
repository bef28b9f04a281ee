"""Other people's files into records: one module a source, each saying row by row what it could not take.

`transcripts` reads conversations between people, which belong to no benchmark; each benchmark declares its own
importers, and `sources` lists all of them. An importer checks everything before it stores anything.
"""
