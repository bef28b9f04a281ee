"""Other people's files into records: one module a source, each saying row by row what it could not take.

`cxmarena` reads the published CXMArena folder, `transcripts` conversations between people. An importer checks
everything before it stores anything.
"""
