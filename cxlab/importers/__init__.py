"""Other people's files into records: one module a source, each saying row by row what it could not take.

`cxmarena` reads the published CXMArena folder, `transcripts` conversations between people, `tau2` the
tasks and databases of tau2-bench, `tau2_results` its result files. An importer checks
everything before it stores anything.
"""
